import { describe, expect, it } from 'vitest';
import { restoreMemory, snapshotMemory } from './checkpoint.ts';
import { testMemory } from './steps/test-turn.ts';

/** As the database has it. */
function stored(memory: Parameters<typeof snapshotMemory>[0]): ReturnType<typeof snapshotMemory> {
  return JSON.parse(JSON.stringify(snapshotMemory(memory))) as ReturnType<typeof snapshotMemory>;
}

describe('a checkpoint', () => {
  it('brings back every member of the memory', () => {
    const memory = testMemory({
      input: 'pay',
      properties: { name: 'Ann' },
      context: { lang: 'en', output: 'Injected.' },
      actions: ['pay', 'PAUSE_CONVERSATION'],
      expressions: ['pay'],
      output: [{ type: 'text', text: 'Wait.' }],
      attachments: [{ fileId: 'file_1', contentType: 'text/plain', size: 1 }],
    });
    memory.setProperty('kept', 1, 'conversation');
    memory.setProperty('now', 2, 'step');
    memory.setProperty('always', 3, 'longTerm', 'global');
    memory.calls.order = { id: 7 };
    memory.remember('said', memory.output[0]);
    memory.settled = { injected: true, output: [0], quickReplies: [] };
    memory.decision = { verdict: 'APPROVED', note: 'fine', decidedBy: 'mcp:ann', decidedAt: 1 };
    const restored = restoreMemory(stored(memory), () => 0);
    // Functions are the memory's own; everything else is data.
    const data = (from: object) => JSON.parse(JSON.stringify(from)) as unknown;
    expect(data(restored)).toEqual(data(memory));
    expect(restored.remembered[0]!.value).toBe(restored.output[0]);
  });

  it('holds no secret that was said, and knows that one was', () => {
    const memory = testMemory({ input: 'hunter2', context: { secretInput: 'true' } });
    expect(JSON.stringify(stored(memory))).not.toContain('hunter2');
    expect(restoreMemory(stored(memory), () => 0)).toMatchObject({
      secretInput: undefined,
      inputIsSecret: true,
    });
  });
});
