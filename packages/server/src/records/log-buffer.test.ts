import { describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.ts';
import { createLogger, type LogLevel } from '../kernel/logger.ts';
import { createLogBuffer } from './log-buffer.ts';

function rig(level: LogLevel = 'debug', capacity?: number) {
  const buffer = createLogBuffer(capacity);
  const written: string[] = [];
  const logger = createLogger({
    level,
    format: 'json',
    destination: { write: line => written.push(line) },
    clock: systemClock,
    onLine: buffer.add,
  });
  return { buffer, logger, written };
}

const all = () => true;

describe('the buffer of log lines', () => {
  it('has the fields of a line apart and keeps the rest of it', () => {
    const { buffer, logger } = rig();
    logger.child({ part: 'turns', agentId: 'demo' }).warn('Something happened', {
      agentVersion: 2,
      conversationId: 'conv_1',
      environment: 'test',
      userId: 'user_1',
      step: 'rules',
    });
    expect(buffer.latest(all, 10)).toEqual([
      {
        id: expect.stringMatching(/^log_[a-z2-7]{12}_000000000000$/),
        at: expect.any(Number),
        level: 'warn',
        loggerName: 'turns',
        message: 'Something happened',
        environment: 'test',
        agentId: 'demo',
        agentVersion: 2,
        conversationId: 'conv_1',
        userId: 'user_1',
        details: '{"step":"rules"}',
      },
    ]);
  });

  it('keeps the latest lines, newest first, and forgets older ones', () => {
    const { buffer, logger } = rig('debug', 3);
    for (let line = 1; line <= 5; line += 1) logger.info(`line ${line}`);
    expect(buffer.latest(all, 10).map(({ message }) => message)).toEqual(['line 5', 'line 4', 'line 3']);
    expect(buffer.latest(all, 1).map(({ message }) => message)).toEqual(['line 5']);
    expect(buffer.latest(({ message }) => message !== 'line 5', 1)[0]!.message).toBe('line 4');
  });

  it('tells a late listener what was there, in its order', () => {
    const { buffer, logger } = rig('debug', 2);
    for (let line = 1; line <= 3; line += 1) logger.info(`line ${line}`);
    const heard: string[] = [];
    buffer.listen(({ message }) => heard.push(message));
    logger.info('line 4');
    expect(heard).toEqual(['line 2', 'line 3', 'line 4']);
  });

  it('holds what was written and nothing else: no secret, no second line, nothing below the level', () => {
    const { buffer, logger, written } = rig('info');
    const asked: string[] = [];
    logger.debug('quiet', () => ({ asked: asked.push('debug') }));
    logger.info('a\nforged line', () => ({ key: 'hidden', said: `oag_${'1'.repeat(64)}` }));
    expect(asked).toEqual([]);
    expect(written).toHaveLength(1);
    const [line] = buffer.latest(all, 10);
    expect(line!.message).toBe('a\\nforged line');
    expect(line!.details).toBe('{"key":"[redacted]","said":"oag_[redacted]"}');
  });

  it('keeps a long line short: first the stack goes, then the details', () => {
    const { buffer, logger } = rig();
    const error = new Error('why');
    error.stack = `Error: why\n${Array.from({ length: 20 }, (_, frame) => `    at f${frame} (${'x'.repeat(200)})`).join('\n')}`;
    logger.error('with a stack', { error });
    logger.error('with much', { text: 'y'.repeat(5_000) });
    logger.error('z'.repeat(5_000));
    const [longest, much, stack] = buffer.latest(all, 10);
    expect(JSON.parse(stack!.details!)).toEqual({ error: { name: 'Error', message: 'why' } });
    expect(JSON.parse(much!.details!)).toEqual({ cut: expect.stringMatching(/^5\d\d\d characters$/) });
    expect(longest!.message.length).toBeLessThan(1_100);
  });
});
