// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { describe, expect, it } from 'vitest';
import { PlatformError } from '../../../kernel/errors.ts';
import type { SafeFetchInit } from '../../../kernel/safe-fetch.ts';
import type { StepTools } from '../../step/step.ts';
import type { RunningMemory } from '../turn-memory.ts';
import { httpcallsStep } from './httpcalls.ts';
import { loadFrom, rememberedAs, testFetch, testMemory, testTools } from './test-turn.ts';

const step = { type: 'httpcalls', config: { uri: 'patchbay://httpcalls/mine?version=1' } };
const SERVER = 'https://api.example.org/v1/';

interface Sent {
  readonly url: string;
  readonly init: RequestInit & SafeFetchInit;
  readonly headers: Record<string, string>;
}

/** A server that answers in turn; what it was sent is kept. */
function serverOf(...answers: (Response | Error)[]) {
  const sent: Sent[] = [];
  const fetch = testFetch(async (url, init) => {
    sent.push({ url: url.href, init, headers: Object.fromEntries(new Headers(init.headers)) });
    const answer = answers.shift() ?? Response.json({ ok: true });
    if (answer instanceof Error) throw answer;
    return answer;
  });
  return { sent, fetch };
}

function compile(document: object) {
  return httpcallsStep.compile(
    step,
    loadFrom({ 'httpcalls/mine': { targetServerUrl: SERVER, ...document } }),
  );
}

const call = (more: object = {}, request: object = {}) => ({
  name: 'order',
  actions: ['go'],
  saveResponse: true,
  responseObjectName: 'order',
  ...more,
  request: { path: '/orders', ...request },
});

async function run(
  calls: object[],
  given: {
    memory?: RunningMemory;
    server?: ReturnType<typeof serverOf>;
    tools?: Partial<StepTools>;
    document?: object;
  } = {},
) {
  const { memory = testMemory({ actions: ['go'] }), server = serverOf() } = given;
  const compiled = await compile({ httpCalls: calls, ...given.document });
  const tools = testTools(undefined, { fetch: server.fetch, ...given.tools });
  const failure = await Promise.resolve(compiled.run(memory, tools)).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { memory, sent: server.sent, failure, calls: { ...memory.calls } as Record<string, unknown> };
}

const broke = (reason: string, sent: boolean) =>
  new PlatformError('unavailable', 'https://secret-host/ broke', { details: { reason, sent } });

describe('a request', () => {
  it('is sent when one of its actions is raised, and its answer is there for templates and remembered', async () => {
    const { sent, calls, memory } = await run([
      call(),
      call({ name: 'other', actions: ['stay'] }),
      call({ name: 'always', actions: ['*'], responseObjectName: 'always' }),
    ]);
    expect(sent.map(({ url, init }) => [init.method, url, init.hostFrom])).toEqual([
      ['GET', 'https://api.example.org/v1/orders', 'operator'],
      ['GET', 'https://api.example.org/v1/orders', 'operator'],
    ]);
    expect(calls).toEqual({ order: { ok: true }, always: { ok: true } });
    expect(rememberedAs(memory, 'httpCalls:order')).toEqual([{ ok: true }]);
    expect(rememberedAs(memory, 'httpCalls:order:request')).toEqual([
      { method: 'GET', url: 'https://api.example.org/v1/orders', headers: {} },
    ]);
  });

  it('has templates in path, query, headers and body, and what data holds stays in its place', async () => {
    const evil = 'a/b?c=d&e"},"admin":true #é\\';
    const { sent } = await run(
      [
        call(
          {},
          {
            method: 'POST',
            path: '/orders/{{ input }}/items?x={{ input }}',
            queryParams: { q: '{{ input }}' },
            headers: { 'X-City': '{{ properties.city }}' },
            body: '{"said": "{{ input }}", "list": {{ properties.list | json }}, "n": {{ properties.n }}, "none": {{ properties.none }}{% for x in properties.list %}, "{{ x }}": 1{% endfor %}}',
          },
        ),
      ],
      {
        memory: testMemory({
          actions: ['go'],
          input: evil,
          properties: { city: 'Bern', list: ['a"b', 'c'], n: 4 },
        }),
      },
    );
    const url = new URL(sent[0]!.url);
    expect(url.pathname).toBe(`/v1/orders/${encodeURIComponent(evil)}/items`);
    expect(url.searchParams.getAll('x')).toEqual([evil]);
    expect(url.searchParams.getAll('q')).toEqual([evil]);
    expect([...url.searchParams.keys()]).toEqual(['x', 'q']);
    expect(sent[0]!.headers).toEqual({
      'content-type': 'application/json',
      'x-city': 'Bern',
      'x-patchbay-called-by': 'agent',
    });
    expect(JSON.parse(String(sent[0]!.init.body))).toEqual({
      said: evil,
      list: ['a"b', 'c'],
      n: 4,
      none: null,
      'a"b': 1,
      c: 1,
    });
  });

  it.each([
    ['application/x-www-form-urlencoded', 'a={{ input }}&b=1', 'a=x%26b%3D2%3C%22&b=1'],
    [
      'application/xml',
      '<a b="{{ input }}">{{ input }}</a>',
      '<a b="x&#38;b=2&#60;&#34;">x&#38;b=2&#60;&#34;</a>',
    ],
    ['text/plain', 'said: {{ input }}', 'said: x&b=2<"'],
    ['', 'said: {{ input }}', 'said: x&b=2<"'],
  ])('writes values into %s as it needs them', async (contentType, body, expected) => {
    const { sent } = await run([call({}, { method: 'POST', contentType, body })], {
      memory: testMemory({ actions: ['go'], input: 'x&b=2<"' }),
    });
    expect(sent[0]!.init.body).toBe(expected);
  });

  it.each([
    ['a path that leads elsewhere', { path: '/orders/{{ input }}/x' }, '..', 'part "." or ".."'],
    ['a header of two lines', { headers: { 'X-A': '{{ input }}' } }, 'a\r\nX-B: c', 'no header may have'],
    ['a body that is no JSON', { method: 'POST', body: '{"a": {{ input }}' }, '', 'no JSON'],
  ])('is refused with %s, and nothing is sent', async (_what, request, input, problem) => {
    const { sent, failure, calls } = await run([call({}, request)], {
      memory: testMemory({ actions: ['go'], input, properties: {} }),
    });
    expect(sent).toEqual([]);
    expect(calls.orderError).toMatchObject({ code: 'BAD_REQUEST', sent: false });
    expect(failure).toMatchObject({ message: expect.stringContaining(problem) });
  });

  it('goes to a host from outside when the host is a template, and then carries no credential', async () => {
    const document = { targetServerUrl: 'https://{{ context.region }}.example.org' };
    const memory = testMemory({ actions: ['go'], context: { region: 'eu' } });
    const { sent } = await run([call()], { memory, document });
    expect(sent[0]).toMatchObject({ url: 'https://eu.example.org/orders', init: { hostFrom: 'outside' } });
    for (const headers of [
      { 'X-Key': '${vault:key}' },
      { 'X-Key': '${API_TOKEN:none}' },
      { Authorization: 'Bearer written-out' },
    ]) {
      await expect(compile({ ...document, httpCalls: [call({}, { headers })] })).rejects.toMatchObject({
        kind: 'invalid',
        message: expect.stringContaining('Write the host out'),
      });
    }
    const byCaller = { targetServerUrl: 'https://${caller:userId}.example.org' };
    await expect(compile({ ...byCaller, httpCalls: [call()] })).rejects.toMatchObject({ kind: 'invalid' });
  });

  it.each([
    'evil.test/',
    'evil.test#',
    'evil.test?',
    'evil.test\\',
    'evil.test:443/',
    'user@evil.test',
    'a:b@evil.test',
    'evil.test\uff0f',
    'evil.test\t/',
    'evil.test/\r\n',
    'evil.test:80',
    '%2f',
  ])('does not go to another host than the template has, whatever data puts into it: %j', async region => {
    for (const targetServerUrl of [
      'https://{{ context.region }}.example.org',
      'https://{{ context.region }}.example.org/{{ context.region }}',
    ]) {
      const memory = testMemory({ actions: ['go'], context: { region } });
      const { sent, calls } = await run([call()], { memory, document: { targetServerUrl } });
      expect(sent).toEqual([]);
      expect(calls.orderError).toMatchObject({ code: 'BAD_REQUEST' });
    }
  });

  it('stays below the path of the server, and may have its whole beginning from data', async () => {
    const send = (targetServerUrl: string, base: string) =>
      run([call({ continueOnError: true })], {
        memory: testMemory({ actions: ['go'], context: { base } }),
        document: { targetServerUrl },
      });
    expect((await send('https://x.example.org/{{ context.base }}/y', '..')).sent).toEqual([]);
    expect((await send('https://x.example.org/{{ context.base }}/y', 'a.b')).sent[0]!.url).toBe(
      'https://x.example.org/a.b/y/orders',
    );
    expect((await send('{{ context.base }}', 'https://shop.example.org:8443/v1')).sent[0]!.url).toBe(
      'https://shop.example.org:8443/v1/orders',
    );
  });
});

describe('references of a request', () => {
  it('are resolved where the configuration wrote them, and then no redirect is followed', async () => {
    const { sent } = await run([
      call(
        {},
        {
          method: 'POST',
          path: '/${vars:region}/orders',
          headers: {
            Authorization: 'Bearer ${vault:key}',
            'X-Open': '${OPEN:none}',
            'X-User': '${caller:userId}',
          },
          body: '{"secret": "${vault:a"b}"}'.replace('a"b', 'ab'),
        },
      ),
    ]);
    expect(sent[0]).toMatchObject({
      url: 'https://api.example.org/v1/eu/west/orders',
      headers: { authorization: 'Bearer value of key', 'x-open': 'none', 'x-user': 'user_one' },
      init: { body: '{"secret": "value of ab"}', redirect: 'error' },
    });
  });

  it('are refused where they arrive in data, but for a secret of the conversation itself', async () => {
    const memory = (input: string) => testMemory({ actions: ['go'], input });
    const headers = { headers: { 'X-Key': '{{ input }}' } };
    const refused = await run([call({}, headers)], { memory: memory('x ${vault:key}') });
    expect(refused.sent).toEqual([]);
    expect(refused.calls.orderError).toMatchObject({ code: 'REFERENCE_IN_DATA' });
    const own = `\${vault:${testTools().conversation.conversationId}.token}`;
    const { sent } = await run([call({}, headers)], { memory: memory(own) });
    expect(sent[0]!.headers['x-key']).toBe(`value of ${testTools().conversation.conversationId}.token`);
    // Nor does a secret of the conversation go to a host that data decides about.
    const document = { targetServerUrl: 'https://{{ context.host }}' };
    const away = testMemory({ actions: ['go'], input: own, context: { host: 'evil.test' } });
    const outside = await run([call({}, headers)], { memory: away, document });
    expect(outside.sent).toEqual([]);
    expect(outside.calls.orderError).toMatchObject({ code: 'REFERENCE_IN_DATA' });
  });

  it('fail the call when they cannot be resolved', async () => {
    const references = {
      ...testTools().references,
      resolve: async () => {
        throw new PlatformError(
          'unavailable',
          '${vault:gone} cannot be resolved: there is no secret of that name.',
        );
      },
    };
    const { sent, calls, failure } = await run([call({}, { headers: { 'X-Key': '${vault:gone}' } })], {
      tools: { references },
    });
    expect(sent).toEqual([]);
    expect(calls.orderError).toMatchObject({ code: 'REFERENCE_UNRESOLVED', sent: false });
    expect(failure).toMatchObject({ message: expect.stringContaining('no secret of that name') });
  });

  it('are kept nowhere: not in what is remembered, not in an answer that repeats them', async () => {
    const secret = 'value of key';
    const answer = Response.json(
      {
        echo: `got ${secret}`,
        [secret]: encodeURIComponent(secret),
        b64: Buffer.from(`x:${secret}`).toString('base64'),
      },
      { headers: { 'X-Api-Key': 'abc', 'Set-Cookie': 'a=b', 'X-Echo': secret } },
    );
    const { memory } = await run(
      [
        call(
          { responseHeaderObjectName: 'headers' },
          {
            method: 'POST',
            queryParams: { k: '${vault:key}' },
            headers: { Authorization: 'Basic ${vault:key}' },
            body: '{"k": "${vault:key}"}',
          },
        ),
      ],
      { server: serverOf(answer) },
    );
    const kept = JSON.stringify([memory.remembered, memory.calls]);
    for (const form of [
      secret,
      encodeURIComponent(secret),
      'value+of+key',
      Buffer.from(secret).toString('base64').slice(2, 12),
    ]) {
      expect(kept).not.toContain(form);
    }
    expect(memory.calls.headers).toEqual({ 'content-type': 'application/json', 'x-echo': '[redacted]' });
  });
});

describe('an answer', () => {
  it('is text where it says it is JSON and is not, with a note', async () => {
    const server = serverOf(new Response('<html>', { headers: { 'content-type': 'application/json' } }));
    const { calls } = await run([call()], { server });
    expect(calls).toEqual({ order: '<html>', orderNote: expect.stringContaining('read as text') });
  });

  it('is decoded by its charset, and what is no character is replaced', async () => {
    const latin = new Response(new Uint8Array([0xe9]), {
      headers: { 'content-type': 'text/plain; charset=iso-8859-1' },
    });
    expect((await run([call()], { server: serverOf(latin) })).calls.order).toBe('é');
    const broken = new Response(new Uint8Array([0x61, 0xff]), {
      headers: { 'content-type': 'text/plain; charset=nonsense' },
    });
    expect((await run([call()], { server: serverOf(broken) })).calls.order).toBe('a\ufffd');
  });

  it('that says no is an answer: the turn goes on, the error says the status', async () => {
    const { calls, failure } = await run([call()], {
      server: serverOf(Response.json({ why: 'full' }, { status: 503 })),
    });
    expect(failure).toBeUndefined();
    expect(calls).toEqual({
      order: { why: 'full' },
      orderError: { code: 'HTTP_STATUS', message: 'the server answered with 503', sent: true, status: 503 },
    });
  });

  it('runs the instructions for its status, and those for failures when there is none', async () => {
    const instruction = (name: string, more: object = {}) => ({
      name,
      valueString: '{{ httpCalls.order.n }}',
      ...more,
    });
    const calls = [
      call({
        saveResponse: false,
        continueOnError: true,
        postResponse: {
          propertyInstructions: [
            instruction('done'),
            instruction('on404', { httpCodeValidator: { runOnHttpCode: [404] } }),
            instruction('notOn200', { httpCodeValidator: { skipOnHttpCode: [200] } }),
            instruction('failed', {
              valueString: '{{ httpCalls.orderError.code }}',
              runOnValidationError: true,
            }),
          ],
        },
      }),
    ];
    const properties = async (answer: Response | Error) =>
      (await run(calls, { server: serverOf(answer) })).memory.properties;
    expect(await properties(Response.json({ n: 1 }))).toEqual({ done: '1', failed: '' });
    expect(await properties(Response.json({ n: 2 }, { status: 404 }))).toEqual({ on404: '2', notOn200: '2' });
    expect(await properties(broke('timeout', true))).toEqual({ failed: 'TIMEOUT' });
  });

  it('says bubbles and quick replies, and nothing in it is a template or an expression', async () => {
    const server = serverOf(
      Response.json({ items: [{ n: '{{ input }}', e: 'a),b(' }, { n: 'two' }, { n: 'skip' }] }),
    );
    const list = { pathToTargetArray: 'httpCalls.order.items', iterationObjectName: 'item' };
    const { memory } = await run(
      [
        call({
          postResponse: {
            outputBuildInstructions: [
              {
                ...list,
                templateFilterExpression: '{% if item.n != "skip" %}true{% endif %}',
                outputValue: 'Item {{ item.n }}',
              },
              { outputType: 'link', outputValue: 'https://example.org' },
            ],
            qrBuildInstructions: [
              { ...list, quickReplyValue: '{{ item.n }}', quickReplyExpressions: 'pick({{ item.e }}x)' },
            ],
          },
        }),
      ],
      { server },
    );
    expect(memory.output).toEqual([
      { type: 'text', text: 'Item {{ "{" }}{ input }}' },
      { type: 'text', text: 'Item two' },
      { type: 'link', value: 'https://example.org' },
    ]);
    expect(memory.quickReplies.map(({ expressions }) => expressions)).toEqual([
      'pick(a  b x)',
      'pick(x)',
      'pick(x)',
    ]);
  });
});

describe('a call that gets no answer', () => {
  it.each([
    ['connect', false, 'CONNECT_FAILED'],
    ['address', false, 'ADDRESS_REFUSED'],
    ['redirect', true, 'REDIRECT_REFUSED'],
    ['timeout', true, 'TIMEOUT'],
    ['too_large', true, 'TOO_LARGE'],
    ['broken', true, 'CONNECTION_BROKEN'],
  ])('because of %s fails the turn and says so in the data', async (reason, sent, code) => {
    const { failure, calls, memory } = await run([call(), call({ name: 'next' })], {
      server: serverOf(broke(reason, sent)),
    });
    expect(calls).toEqual({ orderError: { code, message: expect.any(String), sent } });
    expect(rememberedAs(memory, 'httpCalls:orderError')).toEqual([calls.orderError]);
    expect(failure).toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(/^the call "order" failed: /),
    });
    expect(String(failure)).not.toContain('secret-host');
  });

  it('lets the turn go on where it is declared', async () => {
    const server = serverOf(broke('connect', false));
    const { failure, sent } = await run([call({ continueOnError: true }), call({ name: 'next' })], {
      server,
    });
    expect(failure).toBeUndefined();
    expect(sent).toHaveLength(2);
  });

  it('of which nobody knows how it ended is not sent, and says so', async () => {
    const { failure, sent, calls } = await run([call({}, { method: 'POST' })], {
      tools: { effect: async () => ({ kind: 'unknown' }) },
    });
    expect(sent).toEqual([]);
    expect(calls.orderError).toMatchObject({ code: 'OUTCOME_UNKNOWN', sent: true });
    expect(failure).toMatchObject({ message: expect.stringContaining('may have been carried out or not') });
  });

  it('rejects with the reason of the turn when that is over', async () => {
    const over = new AbortController();
    const fetch = testFetch(async () => {
      over.abort(new Error('time is up'));
      throw broke('broken', true);
    });
    const { failure } = await run([call()], { tools: { fetch, signal: over.signal } });
    expect(failure).toMatchObject({ message: 'time is up' });
  });
});

describe('a call with an effect', () => {
  const recorder = () => {
    const whats: string[] = [];
    const effect: StepTools['effect'] = async (what, work) => {
      whats.push(what);
      return { kind: 'done', value: JSON.parse(JSON.stringify(await work())) };
    };
    return { whats, effect };
  };

  it('is journaled, and so is what was asked before it; what is asked after it is not', async () => {
    const { whats, effect } = recorder();
    const calls = [
      call({ name: 'ask' }),
      call({ name: 'do' }, { method: 'POST' }),
      call({ name: 'ask again' }),
    ];
    const { sent } = await run(calls, { tools: { effect } });
    expect(whats).toEqual(['GET of the call "ask"', 'POST of the call "do"']);
    expect(sent).toHaveLength(3);
    expect((await compile({ httpCalls: calls })).acts).toBe(true);
    expect((await compile({ httpCalls: [call()] })).acts).toBe(false);
  });

  it('asks again what was cut off, where asking changes nothing', async () => {
    const effect: StepTools['effect'] = async (what, work) =>
      what.startsWith('GET') ? { kind: 'unknown' } : { kind: 'done', value: await work() };
    const { calls, failure } = await run(
      [call(), call({ name: 'do', saveResponse: false }, { method: 'POST' })],
      { tools: { effect } },
    );
    expect(failure).toBeUndefined();
    expect(calls.order).toBeUndefined();
    expect(
      (
        await run([call(), call({ name: 'do', responseObjectName: 'done' }, { method: 'POST' })], {
          tools: { effect },
        })
      ).calls,
    ).toEqual({
      order: { ok: true },
      done: { ok: true },
    });
  });

  it('is sent again only as declared', async () => {
    const retrying = (retry: object, method = 'POST') =>
      call({ continueOnError: true, postResponse: { retryApiCallInstruction: retry } }, { method });
    const times = async (calls: object[], answer: () => Response | Error) => {
      const server = serverOf(...Array.from({ length: 20 }, answer));
      return (await run(calls, { server })).sent.length;
    };
    const down = () => Response.json({ state: 'pending' }, { status: 503 });
    const pending = () => Response.json({ state: 'pending' });
    const done = () => Response.json({ state: 'done' });
    const unsent = () => broke('connect', false);
    const late = () => broke('timeout', true);
    expect(await times([call({}, { method: 'POST' })], down)).toBe(1);
    expect(await times([retrying({})], down)).toBe(1);
    expect(await times([retrying({ retryOnHttpCodes: [503] })], down)).toBe(4);
    expect(await times([retrying({ retryOnHttpCodes: [503], maxRetries: 1 })], down)).toBe(2);
    const matchers = [{ valuePath: 'httpCalls.order.state', equals: 'pending' }];
    expect(await times([retrying({ responseValuePathMatchers: matchers })], pending)).toBe(4);
    expect(await times([retrying({ responseValuePathMatchers: matchers })], done)).toBe(1);
    expect(await times([retrying({})], unsent)).toBe(4);
    expect(await times([retrying({ retryOnHttpCodes: [503] })], late)).toBe(1);
    expect(await times([retrying({}, 'GET')], late)).toBe(4);
    expect(await times([call({ continueOnError: true })], unsent)).toBe(1);
  });

  it('that nobody waits for is started, and the turn hears nothing of it', async () => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    const signals: unknown[] = [];
    const fetch = testFetch(async (_url, { signal }) => {
      signals.push(signal);
      return promise;
    });
    const quiet = {
      name: 'log',
      actions: ['go'],
      fireAndForget: true,
      request: { method: 'POST', body: '{}' },
    };
    const { failure, calls } = await run([quiet], { tools: { fetch } });
    expect(failure).toBeUndefined();
    expect(calls).toEqual({});
    expect(signals).toEqual([undefined]);
    resolve(Response.json({}));
  });
});

describe('calls that nobody waits for', () => {
  it('are a hundred at once at the most, and the next one is not made', async () => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    const ids = Array.from({ length: 101 }, (_, id) => id);
    const quiet = {
      name: 'log',
      actions: ['go'],
      fireAndForget: true,
      isBatchCalls: true,
      preRequest: { batchRequests: { pathToTargetArray: 'properties.ids', maxBatchSize: 1000 } },
      request: { path: '/{{ entry }}', method: 'POST' },
    };
    const { failure, calls } = await run([quiet], {
      memory: testMemory({ actions: ['go'], properties: { ids } }),
      tools: { fetch: testFetch(() => promise) },
    });
    expect(failure).toBeUndefined();
    expect(calls.logError).toEqual([expect.objectContaining({ index: 100, code: 'TOO_MANY', sent: false })]);
    resolve(Response.json({}));
  });
});

describe('a batch', () => {
  const batch = (more: object = {}, batchRequests: object = {}) =>
    call(
      {
        isBatchCalls: true,
        preRequest: {
          batchRequests: { pathToTargetArray: 'properties.ids', iterationObjectName: 'id', ...batchRequests },
        },
        ...more,
      },
      { method: 'POST', path: '/orders/{{ id }}' },
    );
  const memoryOf = (count: number) =>
    testMemory({ actions: ['go'], properties: { ids: Array.from({ length: count }, (_, index) => index) } });

  it('sends one request for each entry, in order', async () => {
    const { sent, calls } = await run([batch()], { memory: memoryOf(100) });
    expect(sent.map(({ url }) => url)).toEqual(
      Array.from({ length: 100 }, (_, index) => `https://api.example.org/v1/orders/${index}`),
    );
    expect(calls.order).toHaveLength(100);
  });

  it.each([
    [101, {}, 'maxBatchSize is 100'],
    [4, { maxBatchSize: 3 }, 'nothing was sent'],
  ])('of %i entries is refused whole when that is too many', async (count, options, problem) => {
    const { sent, failure, calls } = await run([batch({}, options)], { memory: memoryOf(count) });
    expect(sent).toEqual([]);
    expect(calls.orderError).toMatchObject({ code: 'BATCH_REFUSED', sent: false });
    expect(failure).toMatchObject({ message: expect.stringContaining(problem) });
  });

  it('of what is no list is refused', async () => {
    const { calls } = await run([batch()], { memory: testMemory({ actions: ['go'] }) });
    expect(calls.orderError).toMatchObject({ code: 'BATCH_REFUSED' });
  });

  it('stops at the first that gets no answer, or goes on where declared, and says which failed', async () => {
    const answers = () => [Response.json({ n: 0 }), broke('timeout', true), Response.json({ n: 2 })];
    const stopped = await run([batch()], { memory: memoryOf(3), server: serverOf(...answers()) });
    expect(stopped.sent).toHaveLength(2);
    expect(stopped.failure).toBeDefined();
    const gone = await run([batch({ continueOnError: true })], {
      memory: memoryOf(3),
      server: serverOf(...answers()),
    });
    expect(gone.failure).toBeUndefined();
    expect(gone.calls).toEqual({
      order: [{ n: 0 }, null, { n: 2 }],
      orderError: [{ index: 1, code: 'TIMEOUT', message: expect.any(String), sent: true }],
    });
  });
});
