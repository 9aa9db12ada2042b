import ipaddr from 'ipaddr.js';

/**
 * What may be done with an address: anyone may be sent there; only where an operator allows it; nobody, whatever the policy
 * (link-local, cloud metadata, multicast, unspecified, reserved and tunnel addresses: no MCP server or issuer lives there).
 */
export type AddressClass = 'public' | 'private' | 'never';

/** Cloud metadata and platform endpoints that live inside otherwise usable ranges. */
const NEVER_ADDRESSES = ['100.100.100.200/32', '168.63.129.16/32', 'fd00:ec2::254/128', 'fd20:ce::254/128'];
/** Reserved for benchmarks, in practice the range of fake-IP DNS proxies: an operator may need it. */
const BENCHMARK = ipaddr.parseCIDR('198.18.0.0/15');
/** All of IPv6 that is handed out to the public. What lies outside is refused instead of guessed at. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');
/** Documentation (RFC 9637), not yet known to ipaddr.js. */
const DOCUMENTATION_IPV6 = ipaddr.parseCIDR('3fff::/20');
/** NAT64's well-known prefix (RFC 6052): such an address is the IPv4 address in its last four bytes. */
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96');

const NEVER_NETWORKS = NEVER_ADDRESSES.map(cidr => ipaddr.parseCIDR(cidr));

const NEVER_NAMES = new Set([
  'metadata',
  'metadata.goog',
  'metadata.google.internal',
  'metadata.azure.internal',
  'instance-data',
  'instance-data.ec2.internal',
]);
const PRIVATE_NAMES = new Set(['localhost', 'localhost6', 'ip6-localhost', 'ip6-loopback', 'broadcasthost']);
const PRIVATE_SUFFIXES = [
  '.localhost',
  '.localdomain',
  '.localdomain6',
  '.local',
  '.internal',
  '.intranet',
  '.corp',
  '.home',
  '.home.arpa',
  '.lan',
  '.private',
];

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

function within(address: ipaddr.IPv4 | ipaddr.IPv6, network: Network): boolean {
  return address.kind() === network[0].kind() && address.match(network);
}

function classify(address: ipaddr.IPv4 | ipaddr.IPv6): AddressClass {
  if (NEVER_NETWORKS.some(network => within(address, network))) return 'never';
  const range = address.range();
  if (address.kind() === 'ipv4') {
    if (range === 'unicast') return 'public';
    if (range === 'loopback' || range === 'private' || range === 'carrierGradeNat') return 'private';
    return within(address, BENCHMARK) ? 'private' : 'never';
  }
  const ipv6 = address as ipaddr.IPv6;
  if (ipv6.isIPv4MappedAddress()) return classify(ipv6.toIPv4Address());
  if (within(ipv6, NAT64)) {
    const inner = classify(new ipaddr.IPv4(ipv6.toByteArray().slice(12)));
    return inner === 'public' ? 'public' : 'never';
  }
  if (range === 'loopback' || range === 'uniqueLocal') return 'private';
  if (within(ipv6, DOCUMENTATION_IPV6)) return 'never';
  return range === 'unicast' && within(ipv6, GLOBAL_IPV6) ? 'public' : 'never';
}

/** The class of a literal IP address in any spelling ipaddr.js reads; text that is no address is `never`. */
export function classifyAddress(text: string): AddressClass {
  return ipaddr.isValid(text) ? classify(ipaddr.parse(text)) : 'never';
}

/** A host as it stands in a URL, in one spelling: lower case, no brackets, no trailing dot. */
export function normalizeHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.+$/, '');
}

/** True when the host is an IP literal, so no name has to be resolved. */
export function isAddress(host: string): boolean {
  return ipaddr.isValid(normalizeHost(host));
}

/**
 * The class of a host by its spelling alone. `public` for a name only says that nothing speaks against it yet: what it
 * resolves to is classified when the connection is made.
 */
export function classifyHost(hostname: string): AddressClass {
  const host = normalizeHost(hostname);
  if (ipaddr.isValid(host)) return classify(ipaddr.parse(host));
  if (host === '' || NEVER_NAMES.has(host) || host.endsWith('.metadata.google.internal')) return 'never';
  if (PRIVATE_NAMES.has(host) || PRIVATE_SUFFIXES.some(suffix => host.endsWith(suffix))) return 'private';
  return 'public';
}

/** What the listener is called, in small letters and as an address spells it: by the loopback names, and by the host it is bound to. */
export function hostsOfListener(boundHost: string): readonly string[] {
  const bound = boundHost.includes(':') ? `[${boundHost}]` : boundHost;
  return ['localhost', '127.0.0.1', '[::1]', bound.toLowerCase()];
}

/** True when listening on this host reaches this machine only. A name other than localhost is taken as a network. */
export function isLoopbackHost(hostname: string): boolean {
  const host = normalizeHost(hostname);
  if (!ipaddr.isValid(host)) return host === 'localhost' || host.endsWith('.localhost');
  const address = ipaddr.process(host);
  return address.range() === 'loopback';
}
