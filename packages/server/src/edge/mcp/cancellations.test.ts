import { describe, expect, it } from 'vitest';
import { Cancellations } from './cancellations.ts';

/** Cancels of one node, with tellings that last until the test lets them end. */
function node() {
  const tellings: { readonly calls: readonly string[]; readonly end: () => void }[] = [];
  const cancellations = new Cancellations(calls => {
    const { promise, resolve } = Promise.withResolvers<void>();
    tellings.push({ calls, end: resolve });
    return promise;
  });
  const endTelling = async () => {
    tellings.at(-1)!.end();
    await new Promise(resolve => setImmediate(resolve));
  };
  return { cancellations, tellings, endTelling };
}

describe('a cancelled call', () => {
  it('is told to the others when it does not run here, by a name that opens nothing', () => {
    const { cancellations, tellings } = node();
    cancellations.cancel('key', 'session', 1);
    expect(tellings).toHaveLength(1);
    expect(tellings[0]!.calls.join()).not.toContain('session');
    const other = new Cancellations();
    const running = other.register('session', 1);
    const sameIdAsText = other.register('session', '1');
    other.end(tellings[0]!.calls[0]!);
    expect([running.signal.aborted, sameIdAsText.signal.aborted]).toEqual([true, false]);
  });

  it('that runs here is ended and told to nobody', () => {
    const { cancellations, tellings } = node();
    const running = cancellations.register('session', 1);
    cancellations.cancel('key', 'session', 1);
    expect(running.signal.aborted).toBe(true);
    expect(tellings).toEqual([]);
  });

  it('is told with the next telling, however many another credential sends in however many sessions', async () => {
    const { cancellations, tellings, endTelling } = node();
    for (let count = 0; count < 30_000; count += 1)
      cancellations.cancel('flooder', `session ${count % 500}`, count);
    cancellations.cancel('key', 'session', 1);
    await endTelling();
    expect(tellings).toHaveLength(2);
    expect(tellings[1]!.calls).toHaveLength(64 + 1);
    const other = new Cancellations();
    const running = other.register('session', 1);
    for (const call of tellings[1]!.calls) other.end(call);
    expect(running.signal.aborted).toBe(true);
    await endTelling();
    expect(tellings).toHaveLength(2);
  });

  it('waits once, however often it is cancelled', async () => {
    const { cancellations, tellings, endTelling } = node();
    for (let count = 0; count < 1_000; count += 1) cancellations.cancel('key', 'session', 1);
    await endTelling();
    await endTelling();
    expect(tellings.map(({ calls }) => calls.length)).toEqual([1, 1]);
  });
});
