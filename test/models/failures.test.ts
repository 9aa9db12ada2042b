import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startScriptedModel } from '@patchbay/testing/scripted-model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createModels } from '../../packages/server/src/agents/model/call-model.ts';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { PlatformError } from '../../packages/server/src/kernel/errors.ts';
import { createSafeFetch } from '../../packages/server/src/kernel/safe-fetch.ts';
import { newCanary, placesWith } from '../canary.ts';
import { createJumpingClock } from '../jumping-clock.ts';
import { createManualClock } from '../manual-clock.ts';
import { type Rig, startRig, textOf, WAYS } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig[Symbol.asyncDispose]());

const OK = { text: 'There.' };

describe.each(WAYS)('A request to a model of $name', way => {
  it.each([408, 409, 429, 500, 502, 503, 529])('is sent again after status %i', async status => {
    rig.model.play([{ status }, { status }, OK]);
    const outcome = await rig.ask(way);
    expect(outcome).toMatchObject({ kind: 'answered', attempts: 3 });
    expect(rig.model.requests).toHaveLength(3);
  });

  it.each([
    [429, 'RATE_LIMITED'],
    [503, 'OVERLOADED'],
    [529, 'OVERLOADED'],
    [500, 'UNAVAILABLE'],
  ])('that fails with status %i each time is given up as %s', async (status, code) => {
    rig.model.play(() => ({ status, message: 'Come back tomorrow.' }));
    const outcome = await rig.ask(way);
    expect(outcome).toMatchObject({ kind: 'failed', code, attempts: 3 });
    expect(outcome).toMatchObject({ message: expect.stringContaining(`status ${status}`) });
    expect(outcome).toMatchObject({ message: expect.stringContaining('Come back tomorrow.') });
  });

  it.each([
    [400, 'Something is wrong with a tool.', 'BAD_REQUEST'],
    [401, 'Bad key.', 'AUTHENTICATION_FAILED'],
    [402, 'Pay first.', 'RATE_LIMITED'],
    [403, 'Not for you.', 'AUTHENTICATION_FAILED'],
    [404, 'No such model.', 'MODEL_NOT_FOUND'],
    [413, 'Too large.', 'CONTEXT_TOO_LONG'],
    [400, 'prompt is too long: 210000 tokens > 200000 maximum', 'CONTEXT_TOO_LONG'],
    [400, "This model's maximum context length is 128000 tokens.", 'CONTEXT_TOO_LONG'],
    [
      400,
      'The input token count (2000000) exceeds the maximum number of tokens allowed.',
      'CONTEXT_TOO_LONG',
    ],
    [400, 'API key not valid. Please pass a valid API key.', 'AUTHENTICATION_FAILED'],
    [429, 'You exceeded your current quota, please check your plan.', 'RATE_LIMITED'],
  ])('that is refused with status %i, "%s", is not sent again: %s', async (status, message, code) => {
    rig.model.play(() => ({ status, message }));
    expect(await rig.ask(way)).toMatchObject({ kind: 'failed', code, attempts: 1 });
    expect(rig.model.requests).toHaveLength(1);
  });

  it('whose answer is cut is sent again, and what was heard is not said twice', async () => {
    const text = ['One, ', 'two, ', 'three.'];
    rig.model.play([
      { text, breaks: { after: 2, how: 'cut' } },
      { text, breaks: { after: 1, how: 'end' } },
      { text: ['One, two', ', three.'] },
    ]);
    const heard: string[] = [];
    const outcome = await rig.ask(way, { onText: delta => heard.push(delta) });
    expect(outcome).toMatchObject({ kind: 'answered', attempts: 3 });
    expect(textOf(outcome)).toBe('One, two, three.');
    expect(heard.join('')).toBe('One, two, three.');
  });

  it('whose answer is cut and comes back as another one says no more of it', async () => {
    rig.model.play([
      { text: ['One, ', 'two'], breaks: { after: 1, how: 'cut' } },
      { text: ['Uno, ', 'due, ', 'tre.'] },
    ]);
    const heard: string[] = [];
    const outcome = await rig.ask(way, { onText: delta => heard.push(delta) });
    expect(textOf(outcome)).toBe('Uno, due, tre.');
    expect(heard).toEqual(['One, ']);
  });

  it.each(['cut', 'end'] as const)('whose answer breaks off each time (%s) is given up', async how => {
    rig.model.play(() => ({ text: 'One, ', calls: [{ name: 'look', input: {} }], breaks: { how } }));
    expect(await rig.ask(way)).toMatchObject({ kind: 'failed', code: 'CUT_OFF', attempts: 3 });
  });

  it('that fails in the middle of its answer is sent again', async () => {
    const broken = {
      text: ['One, ', 'two'],
      message: 'Overloaded.',
      breaks: { after: 1, how: 'fail' },
    } as const;
    rig.model.play([broken, { ...broken, breaks: { after: 0, how: 'fail' } }, OK]);
    expect(await rig.ask(way)).toMatchObject({ kind: 'answered', attempts: 3 });
    rig.model.play(() => broken);
    expect(await rig.ask(way)).toMatchObject({
      kind: 'failed',
      attempts: 3,
      message: expect.stringContaining('Overloaded.'),
    });
  });

  it.each([0, 1])(
    'that is silent after %i pieces runs out of time, and its connection is closed',
    async after => {
      const clock = createJumpingClock();
      await using other = await startRig(
        [{ text: ['One, ', 'two'], breaks: { after, how: 'stall' } }],
        clock,
      );
      const asked = other.ask(way, { timeoutMs: 600_000, totalMs: 900_000 });
      await expect.poll(() => other.model.requests.length).toBe(1);
      clock.jump(600_000);
      expect(await asked).toMatchObject({ kind: 'failed', code: 'TIMEOUT', attempts: 1 });
      await other.model.requests[0]?.gone;
    },
  );

  it('that takes too long altogether runs out of time', async () => {
    const clock = createJumpingClock();
    await using other = await startRig([{ breaks: { how: 'stall' } }], clock);
    const asked = other.ask(way, { timeoutMs: 900_000, totalMs: 600_000 });
    await expect.poll(() => other.model.requests.length).toBe(1);
    clock.jump(600_000);
    expect(await asked).toMatchObject({ code: 'TIMEOUT', message: expect.stringContaining('600000 ms') });
  });

  it('ends with its signal, and its connection with it', async () => {
    const never = new Promise(() => undefined);
    rig.model.play([{ until: never }]);
    const stop = new AbortController();
    const asked = rig.ask(way, { signal: stop.signal });
    await expect.poll(() => rig.model.requests.length).toBe(1);
    stop.abort(new Error('cancelled'));
    await expect(asked).rejects.toThrow('cancelled');
    await rig.model.requests[0]?.gone;
  });

  it('is not made with a signal that has gone off', async () => {
    rig.model.play([OK]);
    await expect(rig.ask(way, { signal: AbortSignal.abort(new Error('cancelled')) })).rejects.toThrow(
      'cancelled',
    );
    expect(rig.model.requests).toHaveLength(0);
  });

  it('shows its key in no message and no line of the log, also when the provider repeats it (attack 46)', async () => {
    const canary = newCanary();
    // No header takes the characters that a canary has besides.
    const apiKey = canary.core;
    await using other = await startRig([
      { status: 500, message: `I know you, ${apiKey}` },
      { text: 'x', message: `Your key ${apiKey}`, breaks: { after: 1, how: 'fail' } },
      { status: 400, message: `Your key was ${apiKey}, and ${Buffer.from(apiKey).toString('base64')}` },
    ]);
    const outcome = await other.ask(way, { apiKey });
    expect(outcome).toMatchObject({ kind: 'failed', code: 'BAD_REQUEST', attempts: 3 });
    expect(other.log).toContain('a request to a model failed');
    expect(placesWith(canary, { outcome, log: other.log })).toEqual([]);
    expect(placesWith(canary, { sent: other.model.requests.map(({ headers }) => headers) })).toEqual([
      'sent',
    ]);
  });

  it('shows nothing but a short message of what the provider says', async () => {
    rig.model.play([{ status: 400, message: `${'long '.repeat(1_000)}\u001b[31m` }]);
    const outcome = await rig.ask(way);
    expect(outcome.kind === 'failed' && outcome.message.length).toBeLessThan(600);
    expect(outcome.kind === 'failed' && outcome.message).not.toContain('\u001b');
  });
});

const [ANTHROPIC, OPENAI, , COMPATIBLE] = WAYS as [
  (typeof WAYS)[number],
  (typeof WAYS)[number],
  unknown,
  (typeof WAYS)[number],
];

describe('Between two attempts', () => {
  const retry = { maxAttempts: 3, backoffDelayMs: 1_000, backoffMultiplier: 2, maxBackoffDelayMs: 10_000 };

  it.each([
    ['1 s and then 2 s', {}, [1_000, 2_000]],
    ['as long as the provider asks', { 'retry-after': '7' }, [7_000, 7_000]],
    ['as long as it asks in milliseconds', { 'retry-after-ms': '2500' }, [2_500, 2_500]],
    [
      'until the moment it names',
      { 'retry-after': new Date(1_000_000 + 5_000).toUTCString() },
      [5_000, 2_000],
    ],
    ['no longer than the policy allows', { 'retry-after': '3600' }, [10_000, 10_000]],
    ['no shorter than the policy says', { 'retry-after': '0' }, [1_000, 2_000]],
    ['as the policy says where it asks nonsense', { 'retry-after': 'soon' }, [1_000, 2_000]],
  ])('it waits %s', async (_, headers, waits) => {
    const clock = createManualClock();
    const slept: number[] = [];
    const watched = {
      now: clock.now,
      sleep(ms: number, signal?: AbortSignal) {
        // The time limits of the attempts sleep longer.
        if (ms > 60_000) return clock.sleep(ms, signal);
        slept.push(ms);
        const sleep = clock.sleep(ms, signal);
        void clock.advance(ms);
        return sleep;
      },
    };
    await using other = await startRig([{ status: 429, headers }, { status: 429, headers }, OK], watched);
    const outcome = await other.ask(ANTHROPIC, { retry, timeoutMs: 600_000, totalMs: 900_000 });
    expect(outcome).toMatchObject({ kind: 'answered', attempts: 3 });
    expect(slept).toEqual(waits);
  });

  it('the signal ends the waiting', async () => {
    rig.model.play([{ status: 429, headers: { 'retry-after': '600' } }]);
    const stop = new AbortController();
    const asked = rig.ask(ANTHROPIC, {
      signal: stop.signal,
      retry: { ...retry, maxBackoffDelayMs: 600_000 },
    });
    await expect.poll(() => rig.log).toContain('"waitMs":600000');
    stop.abort(new Error('cancelled'));
    await expect(asked).rejects.toThrow('cancelled');
  });
});

describe('A request to a model', () => {
  it('that reaches nobody is sent again, and then says so', async () => {
    const gone = await startScriptedModel();
    await gone[Symbol.asyncDispose]();
    const outcome = await rig.ask(COMPATIBLE, { baseUrl: gone.baseUrl('chat-completions') });
    expect(outcome).toMatchObject({
      code: 'UNAVAILABLE',
      attempts: 3,
      message: expect.stringContaining(gone.url),
    });
  });
  it('to a private address that is not allowed says which setting allows it; the own address of Ollama needs none', async () => {
    const callModel = createModels({
      fetch: createSafeFetch({ allowPrivate: () => false }),
      fetchOwn: Object.assign(
        async (url: string | URL) => {
          throw new PlatformError('unavailable', `asked at ${url}`, {
            details: { reason: 'connect', sent: false },
          });
        },
        createSafeFetch({ allowPrivate: () => false }),
      ),
      clock: systemClock,
      logger: { debug() {}, info() {}, warn() {}, error() {}, child: () => expect.fail('not used') },
    });
    expect(await callModel(rig.request(COMPATIBLE))).toMatchObject({
      code: 'UNAVAILABLE',
      attempts: 1,
      message: expect.stringContaining('egress.privateHosts'),
    });
    const ollama = { ...rig.request(COMPATIBLE), provider: 'ollama', baseUrl: undefined } as const;
    expect(await callModel({ ...ollama, retry: { ...ollama.retry, maxAttempts: 1 } })).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('http://127.0.0.1:11434'),
    });
  });
  it('that is answered by a website is not sent again', async () => {
    rig.model.play([
      { ...OK, headers: { 'content-type': 'text/html; charset=utf-8' }, breaks: { after: 0, how: 'end' } },
    ]);
    expect(await rig.ask(COMPATIBLE)).toMatchObject({
      code: 'PROTOCOL_ERROR',
      attempts: 1,
      message: expect.stringContaining('text/html'),
    });
  });
  it('may take as long as it likes while something of its answer comes', async () => {
    const clock = createManualClock();
    await using other = await startRig([], clock);
    const pieces = ['One, ', 'two, ', 'three, ', 'four'];
    const next = pieces.map(() => Promise.withResolvers<void>());
    await using server = await startSlowServer(pieces, next);
    const heard: string[] = [];
    const asked = other.ask(COMPATIBLE, {
      ...{ baseUrl: server.url, timeoutMs: 10_000, totalMs: 100_000 },
      onText: delta => heard.push(delta),
    });
    for (const [index, { resolve }] of next.entries()) {
      resolve();
      await expect.poll(() => heard.length).toBe(index + 1);
      await clock.advance(8_000);
    }
    server.end();
    expect(await asked).toMatchObject({ kind: 'answered', attempts: 1 });
  });
  it('is not made without a key that is needed', async () => {
    rig.model.play([OK]);
    expect(await rig.ask(OPENAI, { apiKey: undefined })).toMatchObject({
      code: 'AUTHENTICATION_FAILED',
      attempts: 0,
    });
    expect(rig.model.requests).toHaveLength(0);
  });
  it('is made without a key where none is needed, and then sends none', async () => {
    rig.model.play([OK]);
    expect(await rig.ask(COMPATIBLE, { apiKey: undefined })).toMatchObject({ kind: 'answered' });
    expect(rig.model.requests[0]?.key).toBeUndefined();
  });
  it('is not made where nobody said where to', async () => {
    for (const baseUrl of [undefined, '', 'here', 'file:///etc/passwd'])
      expect(await rig.ask(COMPATIBLE, { baseUrl })).toMatchObject({ code: 'BAD_REQUEST', attempts: 0 });
  });
  it('finds the API also where its address is given without a path', async () => {
    rig.model.play([OK]);
    expect(await rig.ask({ ...ANTHROPIC, provider: 'ollama' }, { baseUrl: rig.model.url })).toMatchObject({
      kind: 'answered',
    });
    expect(rig.model.requests[0]?.path).toBe('/v1/chat/completions');
  });
});

/** A server of a model that says each piece when it may, and ends its answer when it is told. */
async function startSlowServer(
  pieces: readonly string[],
  may: readonly { readonly promise: Promise<void> }[],
) {
  const ending = Promise.withResolvers<void>();
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'one', created: 0, model: 'slow', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const server = createServer(async (request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [index, content] of pieces.entries()) {
      await may[index]!.promise;
      response.write(chunk({ content }));
    }
    await ending.promise;
    response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    end: ending.resolve,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
