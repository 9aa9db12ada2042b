import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FakePlatform, startFakePlatform } from '../testing/fake-platform.ts';
import { createTestIo, type TestIo } from '../testing/test-io.ts';

let platform: FakePlatform;
let io: TestIo;

const at = Date.UTC(2026, 10, 30, 12);
const entry = (second: number, message: string, more = {}) => ({
  timestamp: at + second * 1000,
  level: 'WARN',
  loggerName: 'turns',
  message,
  instanceId: 'node_1',
  ...more,
});
const answerWith = (entries: readonly object[]) => {
  platform.handlers.read_agent_logs = ({ limit }) => ({
    count: entries.length,
    limit: Number(limit),
    entries,
  });
};

beforeAll(async () => {
  platform = await startFakePlatform();
});
afterAll(() => platform.stop());
beforeEach(() => {
  platform.calls.length = 0;
  io = createTestIo({ home: platform.home });
});

describe('logs', () => {
  it('shows the lines, oldest first, with what they are about', async () => {
    answerWith([
      entry(2, 'second', { agentId: 'demo', conversationId: 'conv_1', details: { step: 'rules' } }),
      entry(1, 'first\u001b[31m'),
    ]);
    expect(
      await io.run('logs', '--level', 'warn', '--agent', 'demo', '--conversation', 'conv_1', '--limit', '2'),
    ).toBe(0);
    expect(io.out().split('\n')).toEqual([
      '2026-11-30T12:00:01.000Z  WARN   turns        first[31m',
      '2026-11-30T12:00:02.000Z  WARN   turns        second  [demo conv_1]  {"step":"rules"}',
      '',
    ]);
    expect(platform.calls[0]).toMatchObject({
      name: 'read_agent_logs',
      args: { level: 'WARN', agentId: 'demo', conversationId: 'conv_1', limit: '2' },
    });
  });

  it('gives the answer as JSON with --json, and says when there is nothing', async () => {
    answerWith([]);
    await io.run('logs', '--json');
    expect(JSON.parse(io.out())).toEqual({ count: 0, limit: 50, entries: [] });
    const empty = createTestIo({ home: platform.home });
    expect(await empty.run('logs')).toBe(0);
    expect(empty.err()).toBe('No lines.\n');
  });

  it('follows until it is stopped, and shows each line once, also one that comes late', async () => {
    answerWith([entry(2, 'two')]);
    const ended = io.run('logs', '--follow');
    await vi.waitFor(() => expect(io.out()).toContain('two'));
    answerWith([entry(3, 'three'), entry(2, 'two'), entry(1, 'one, late')]);
    await vi.waitFor(() => expect(io.out()).toContain('three'), 5_000);
    const asked = platform.calls.length;
    await vi.waitFor(() => expect(platform.calls.length).toBeGreaterThan(asked), 5_000);
    io.signals.emit('SIGINT');
    expect(await ended).toBe(0);
    expect(io.out().match(/two|one, late|three/g)).toEqual(['two', 'one, late', 'three']);
    expect(io.signals.listenerCount('SIGINT')).toBe(0);
  });

  it.each([[['--level', 'loud']], [['--limit', '0']], [['--limit', 'many']]])(
    'calls nobody and exits 2 for %j',
    async words => {
      expect(await io.run('logs', ...words)).toBe(2);
      expect(platform.calls).toEqual([]);
    },
  );
});
