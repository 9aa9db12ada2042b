/** Whether a part of a step that waits for these actions runs in a turn that has raised those; `*` is always. */
export function listensTo(actions: readonly string[]): (raised: readonly string[]) => boolean {
  if (actions.includes('*')) return () => true;
  const awaited = new Set(actions);
  return raised => raised.some(action => awaited.has(action));
}
