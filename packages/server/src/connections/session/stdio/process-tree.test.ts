import { describe, expect, it } from 'vitest';
import { membersOf, type ProcessEntry } from './process-tree.ts';

const TREE = { leader: 100, startedAt: 1_000, sockets: ['socket:[1]', 'socket:[2]'], sessions: [100] };

function entry(
  pid: number,
  parent: number,
  session: number,
  more: { startedAt?: number; stream?: string } = {},
) {
  const { startedAt = 1_000 + pid, stream = '/dev/null' } = more;
  return {
    pid,
    parent,
    group: session,
    session,
    startedAt,
    streams: async () => [stream],
  } satisfies ProcessEntry;
}

async function members(processes: readonly ProcessEntry[], options = { byStreams: true }, tree = TREE) {
  return [...(await membersOf(tree, processes, options)).keys()].toSorted((one, other) => one - other);
}

describe('what came from a program', () => {
  it('is its session, what its processes started, and what they started in sessions of their own', async () => {
    const processes = [
      entry(104, 103, 104),
      entry(103, 1, 102),
      entry(102, 101, 102),
      entry(101, 100, 100),
      entry(100, 50, 100),
    ];
    expect(await members([...processes, entry(50, 1, 50), entry(200, 50, 200)])).toEqual([
      100, 101, 102, 103, 104,
    ]);
  });

  it('is in a session that was seen, also when everybody between has gone', async () => {
    expect(await members([entry(103, 1, 102)])).toEqual([]);
    expect(await members([entry(103, 1, 102)], undefined, { ...TREE, sessions: [100, 102] })).toEqual([103]);
  });

  it('holds one of its streams, with what that one started, where this is asked for', async () => {
    const daemon = [
      entry(300, 1, 300, { stream: 'socket:[2]' }),
      entry(301, 300, 301),
      entry(302, 1, 302, { stream: 'socket:[3]' }),
    ];
    expect(await members(daemon)).toEqual([300, 301]);
    expect(await members(daemon, { byStreams: false })).toEqual([]);
  });

  it('is no process that ran before it, nor the platform, nor the first of all', async () => {
    const others = [
      entry(100, 50, 100, { startedAt: 999 }),
      entry(process.pid, 100, 100),
      entry(1, 0, 100),
      entry(101, 1, 101, { startedAt: 999, stream: 'socket:[1]' }),
    ];
    expect(await members(others)).toEqual([]);
  });
});
