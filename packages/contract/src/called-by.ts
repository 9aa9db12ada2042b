/*
 * How a call that an agent makes is told from one that a person's program makes with the same key: whatever the value, it is there. Nobody decides
 * through such a call what waits for a person (attack 29).
 */

/** Of a `tools/call`, in its `_meta`. */
export const CALLED_BY_META = 'patchbay/calledBy';

/** Of a request over HTTP. */
export const CALLED_BY_HEADER = 'x-patchbay-called-by';

export const BY_AGENT = 'agent';
