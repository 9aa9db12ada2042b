import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createInputQueue } from './input-queue.ts';

/** A program that takes a line when the test says so. */
function slowProgram() {
  const taken: string[] = [];
  const waiting: ((error?: Error) => void)[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      taken.push(String(chunk));
      waiting.push(done);
    },
  });
  stream.on('error', () => undefined);
  return { stream, taken, goOn: (error?: Error) => waiting.shift()!(error) };
}

describe('what is sent to a program', () => {
  it('is handed over one line after the other', async () => {
    const { stream, taken, goOn } = slowProgram();
    const queue = createInputQueue(stream, 100);
    const sent = [queue.send('one\n'), queue.send('two\n')];
    expect(taken).toEqual(['one\n']);
    goOn();
    await sent[0];
    expect(taken).toEqual(['one\n', 'two\n']);
    goOn();
    await sent[1];
  });

  it('may wait up to a limit, in bytes', async () => {
    const { stream, goOn } = slowProgram();
    const queue = createInputQueue(stream, 8);
    const first = queue.send('größe\n');
    await expect(queue.send('x\n')).rejects.toMatchObject({ kind: 'not-reading', reached: 'no' });
    goOn();
    await first;
    void queue.send('again\n').catch(() => undefined);
  });

  it('has not reached it when it waited, and may have when it was under way, as the connection ended (A-67)', async () => {
    const { stream } = slowProgram();
    const queue = createInputQueue(stream, 100);
    const sent = [queue.send('one\n'), queue.send('two\n')];
    queue.close('it ended');
    await expect(sent[0]).rejects.toMatchObject({ reached: 'unknown', message: 'it ended' });
    await expect(sent[1]).rejects.toMatchObject({ reached: 'no', message: 'it ended' });
    await expect(queue.send('three\n')).rejects.toMatchObject({ reached: 'no' });
  });

  it.each([
    ['EPIPE', 'no'],
    ['ECONNRESET', 'no'],
    ['ERR_STREAM_DESTROYED', 'unknown'],
  ])('and ran into %s: reached is %s', async (code, reached) => {
    const { stream, goOn } = slowProgram();
    const sent = createInputQueue(stream, 100).send('one\n');
    goOn(Object.assign(new Error(code), { code }));
    await expect(sent).rejects.toMatchObject({ kind: 'closed', reached });
  });
});
