/** What requests of one customer are counted by: of IPv6 the first half, in which they have as many addresses as they like. */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const rest = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - groups.length - rest.length;
  return [...groups, ...Array<string>(Math.max(0, zeros)).fill('0'), ...rest].slice(0, 4).join(':');
}
