import { describe, expect, it } from 'vitest';
import type { ServerDefinition } from '../server/definition.ts';
import { gatedButMissing, whyGated } from './gate.ts';

const TOOLS = ['create_issue', 'delete_repo', 'search'];

/** The tools, all of which only read, that wait for a person. */
function waiting(gated: ServerDefinition['gated'], { prefix = 'github', cameLater = false } = {}) {
  return TOOLS.filter(
    name => whyGated({ gated, prefix }, { name, onlyReads: true, cameLater }) !== undefined,
  );
}

describe('the gate of a server', () => {
  it('is before every tool (W-35)', () => {
    expect(waiting('all')).toEqual(TOOLS);
  });
  it('is before none, whatever it says (W-36)', () => {
    const writes = { name: 'x', onlyReads: false, cameLater: true };
    expect(whyGated({ gated: 'none', prefix: '' }, writes)).toBeUndefined();
  });
  it('is before what does not say that it only reads (W-38)', () => {
    const why = (onlyReads: boolean) =>
      whyGated({ gated: 'not-read-only', prefix: '' }, { name: 'x', onlyReads, cameLater: false });
    expect([why(true), why(false)]).toEqual([undefined, expect.stringContaining('only reads')]);
  });
  it('is before the tools of a list, by their own names or as agents have them (W-37) (W-39)', () => {
    expect(waiting(['create_*'])).toEqual(['create_issue']);
    expect(waiting(['*'])).toEqual(TOOLS);
    expect(waiting(['delete_repo', 'github__search'])).toEqual(['delete_repo', 'search']);
    expect(waiting(['github__*'], { prefix: '' })).toEqual([]);
    expect(waiting(['Search', 'sear', 'create'])).toEqual([]);
  });
  it('is before what came later than the list, under whatever name (attack 37)', () => {
    expect(waiting(['delete_repo'], { cameLater: true })).toEqual(TOOLS);
  });
  it('tells of names that no tool has', () => {
    const tools = new Map(TOOLS.map(name => [name, {}]));
    const missing = (gated: ServerDefinition['gated']) => gatedButMissing({ gated, prefix: 'github' }, tools);
    expect(missing(['create_*', 'drop_*', 'search', 'github__search', 'delete_rpo'])).toEqual(['delete_rpo']);
    expect(missing('all')).toEqual([]);
  });
});
