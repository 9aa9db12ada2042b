import { describe, expect, it } from 'vitest';
import { interpretStep } from './interpret.ts';
import type { CallInProgress } from './outbound-call.ts';

/** What a result comes to when the credential is taken out of it, and how many texts were looked at for that. */
function interpret(structuredContent: unknown, credential: string) {
  let looks = 0;
  const state = {
    call: { server: { trusted: true } },
    raw: { content: [], structuredContent },
    scrub(text: string) {
      looks += 1;
      return text.replaceAll(credential, '[redacted]');
    },
  } as unknown as CallInProgress;
  void interpretStep.run(state);
  return { structured: state.result?.structured, looks };
}

describe('A credential in a structured result', () => {
  it('is taken out of names and texts in one look, however many there are', () => {
    const rows = Array.from({ length: 1_000 }, (_, id) => ({ id, text: `row "${id}"` }));
    const { structured, looks } = interpret({ rows, 'a canary': ['canary'], n: null }, 'canary');
    expect(structured).toEqual({ rows, 'a [redacted]': ['[redacted]'], n: null });
    expect(looks).toBeLessThan(10);
  });

  it('that is a number or a word of JSON is taken out of texts, and the rest stays what it is', () => {
    expect(interpret({ count: 12_345, said: '12345' }, '12345').structured).toEqual({
      count: 12_345,
      said: '[redacted]',
    });
    expect(interpret({ on: true, said: 'it is true' }, 'true').structured).toEqual({
      on: true,
      said: 'it is [redacted]',
    });
  });
});
