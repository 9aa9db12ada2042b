import { describe, expect, it } from 'vitest';
import { believedAnnotations, readAnnotations } from './annotations.ts';

const read = (annotations?: Record<string, unknown>) => readAnnotations(annotations ? { annotations } : {});

describe('what a server says of a tool', () => {
  it.each([
    [
      'that it reads, so that it may be repeated',
      { readOnlyHint: true },
      { readOnly: true, idempotent: true },
    ],
    ['that it destroys', { destructiveHint: true }, { destructive: true }],
    ['that it may be repeated', { idempotentHint: true }, { idempotent: true }],
    ['that it reaches out', { openWorldHint: true }, { openWorld: true }],
    ['nothing', {}, {}],
    [
      'no, four times',
      { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
      { readOnly: false, destructive: false, idempotent: false, openWorld: false },
    ],
    ['that it writes, which says nothing of repeating', { readOnlyHint: false }, { readOnly: false }],
    [
      'that it reads and may not be repeated',
      { readOnlyHint: true, idempotentHint: false },
      { readOnly: true, idempotent: true },
    ],
    [
      'in other words than yes and no',
      { readOnlyHint: 'true', destructiveHint: 0, idempotentHint: null, openWorldHint: {}, title: 'x' },
      {},
    ],
  ])('is %s (W-90, W-91, W-92, W-93, W-94, W-95, W-96)', (_, hints, annotations) => {
    expect(read(hints)).toEqual(annotations);
  });

  it('is nothing where there are no hints (W-94)', () => {
    expect(read()).toEqual({});
  });
});

describe('what is believed of a tool', () => {
  const believed = (now?: Record<string, unknown>, before?: Record<string, unknown>) =>
    believedAnnotations({ annotations: now ?? {} }, before && { annotations: before });
  const READS = { readOnlyHint: true };

  it('is that it reads where it said so before, too (attack 37)', () => {
    expect(believed(READS, READS)).toEqual({ readOnly: true, idempotent: true });
    for (const before of [undefined, {}, { readOnlyHint: false }])
      expect(believed(READS, before)).toEqual({ readOnly: false, idempotent: false });
    expect(believed({}, READS)).toEqual({});
  });
  it('is that it destroys where it has ever said so', () => {
    const harmless = { destructiveHint: false, openWorldHint: false };
    const harmful = { destructiveHint: true, openWorldHint: true };
    for (const [now, before] of [
      [harmless, harmful],
      [harmful, harmless],
      [harmful, undefined],
      [{}, harmful],
    ] as const)
      expect(believed(now, before)).toEqual({ destructive: true, openWorld: true });
    expect(believed(harmless, {})).toEqual({ destructive: false, openWorld: false });
  });
});
