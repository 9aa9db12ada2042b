import type { RemoteTool } from './remote-tool.ts';

/** What a tool does, as far as its server says. A member that is not there was not said: no default is filled in (W-94). */
export interface ToolAnnotations {
  readonly readOnly?: boolean;
  readonly idempotent?: boolean;
  readonly destructive?: boolean;
  readonly openWorld?: boolean;
}

/**
 * Reads the hints of a tool. A tool that only reads is idempotent, whatever else is said of it (W-90, W-96). What is neither `true` nor
 * `false` is not said. Hints are the server's word: they never decide whether a call is repeated.
 */
export function readAnnotations({
  annotations: hints = {},
}: Pick<RemoteTool, 'annotations'>): ToolAnnotations {
  const readOnly = said(hints.readOnlyHint);
  const idempotent = readOnly === true ? true : said(hints.idempotentHint);
  const destructive = said(hints.destructiveHint);
  const openWorld = said(hints.openWorldHint);
  return {
    ...(readOnly !== undefined && { readOnly }),
    ...(idempotent !== undefined && { idempotent }),
    ...(destructive !== undefined && { destructive }),
    ...(openWorld !== undefined && { openWorld }),
  };
}

function said(hint: unknown): boolean | undefined {
  return typeof hint === 'boolean' ? hint : undefined;
}

/**
 * What is believed of a tool whose server said something else when a person accepted it: that it only reads or may be repeated where it said so
 * both times, that it destroys or reaches out where it said so once. `before` is `undefined` where it was never accepted.
 */
export function believedAnnotations(
  now: Pick<RemoteTool, 'annotations'>,
  before: Pick<RemoteTool, 'annotations'> | undefined,
): ToolAnnotations {
  const said = readAnnotations(now);
  const accepted = before ? readAnnotations(before) : {};
  return {
    ...said,
    ...(said.readOnly && { readOnly: accepted.readOnly === true }),
    ...(said.idempotent && { idempotent: accepted.idempotent === true }),
    ...(accepted.destructive && { destructive: true }),
    ...(accepted.openWorld && { openWorld: true }),
  };
}
