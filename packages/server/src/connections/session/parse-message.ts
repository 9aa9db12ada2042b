import { closingQuote } from '../../kernel/json.ts';

/** Objects and arrays in one message. Twelve megabytes of records or coordinates have fewer. */
const MAX_CONTAINERS = 1_000_000;
const QUOTE = 0x22;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

/**
 * What a server wrote, as JSON. Throws when it is none, or has so many objects and arrays that reading it would hold everybody up: of nothing but
 * brackets, 32 MB take a gigabyte and seconds (attack 39).
 */
export function parseMessage(text: string): unknown {
  if (text.length > 2 * MAX_CONTAINERS && isTooDense(text))
    throw new Error(`the message has more than ${MAX_CONTAINERS} objects and lists`);
  return JSON.parse(text);
}

function isTooDense(text: string): boolean {
  let containers = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      at = closingQuote(text, at + 1);
      // Without an end it is no JSON.
      if (at < 0) return false;
    } else if ((char === OPEN_ARRAY || char === OPEN_OBJECT) && ++containers > MAX_CONTAINERS) return true;
  }
  return false;
}
