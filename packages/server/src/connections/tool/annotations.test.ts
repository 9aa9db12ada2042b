import { describe, expect, it } from 'vitest';
import { needsApproval, readAnnotations } from './annotations.ts';

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

describe('approval', () => {
  it('is needed for what is not marked as reading (W-38)', () => {
    const hints = [{ readOnlyHint: true }, { readOnlyHint: false }, { idempotentHint: true }, undefined];
    expect(hints.map(hint => needsApproval('not-read-only', read(hint)))).toEqual([false, true, true, true]);
  });
  it('is not needed where nothing is gated (W-36)', () => {
    expect(needsApproval('none', read({ destructiveHint: true }))).toBe(false);
  });
});
