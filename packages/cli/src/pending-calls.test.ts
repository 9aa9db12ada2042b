import { describe, expect, it } from 'vitest';
import { laidOut, pendingCallText } from './pending-calls.ts';

describe('a call that waits', () => {
  it('is shown with its arguments, which cannot move the cursor or hide', () => {
    const text = pendingCallText({
      ...{ callId: '0.1', toolName: 'files__re\u001b[2Jmove', source: 'mcp', server: 'default/files' },
      ...{ argumentsRedacted: '{"path":"/tmp/\\u202egnp.exe"}', argsTruncated: false },
      gateReason: 'it may change something',
    });
    expect(text).toBe(
      'call 0.1: files__re[2Jmove of default/files\n  because it may change something\n  {"path":"/tmp/\\u202egnp.exe"}',
    );
  });

  it('has long arguments on several lines, character by character as they stand', () => {
    const json = JSON.stringify({
      to: ['a', 'b'],
      empty: {},
      none: [],
      text: `a "quoted", {tricky}: \\ ${'x'.repeat(80)}`,
    });
    expect(laidOut(json)).toBe(JSON.stringify(JSON.parse(json), null, 2));
    const cut = json.slice(0, 90);
    expect(laidOut(cut).replaceAll(/\n */g, '').replaceAll('": ', '":')).toBe(cut);
  });
});
