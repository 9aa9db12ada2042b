import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fault, PlatformError } from './errors.ts';
import { createLogger, type LogFields, type LoggerOptions } from './logger.ts';
import { isSecretName, redactedJson, redactSecrets } from './redact.ts';

function capture(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const logger = createLogger({
    level: 'debug',
    format: 'json',
    destination: { write: line => lines.push(line) },
    clock: { now: () => Date.UTC(2026, 10, 30, 12, 34, 56, 789) },
    ...options,
  });
  return { logger, lines, text: () => lines.join('') };
}

const CANARY = 'CanaryCanary0123456789';

describe('a log line', () => {
  it('is one JSON object with level, time, message and fields', () => {
    const { logger, lines } = capture();
    logger.info('agent deployed', { agentId: 'demo', version: 3 });
    expect(lines).toEqual([
      '{"level":"info","time":"2026-11-30T12:34:56.789Z","agentId":"demo","version":3,"message":"agent deployed"}\n',
    ]);
  });

  it('carries the fields of every child above it, the nearest winning', () => {
    const { logger, lines } = capture();
    logger.child({ door: 'agent', a: 1 }).child({ a: 2 }).warn('slow', { ms: 9 });
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'warn', door: 'agent', a: 2, ms: 9 });
  });

  it('is not written below the level, and its fields are not even read', () => {
    const { logger, lines } = capture({ level: 'warn' });
    const fields = {
      get costly(): string {
        throw new Error('read');
      },
    };
    expect(() => logger.info('quiet', Object.create(fields))).not.toThrow();
    logger.debug('quiet');
    logger.error('loud');
    expect(lines).toHaveLength(1);
  });

  it('is short and readable on a terminal, JSON elsewhere', () => {
    const lines: string[] = [];
    const write = (line: string) => lines.push(line);
    capture({ format: 'auto', destination: { write, isTTY: true } }).logger.info('ready', {
      url: 'http://127.0.0.1:7070/mcp',
      note: 'two words',
    });
    capture({ format: 'auto', destination: { write } }).logger.info('ready');
    expect(lines[0]).toBe('12:34:56 INFO  ready  url=http://127.0.0.1:7070/mcp  note="two words"\n');
    expect(JSON.parse(lines[1]!)).toMatchObject({ message: 'ready' });
  });
});

describe('errors', () => {
  const thrown = new PlatformError('internal', 'The turn failed.', {
    cause: new Fault('JOURNAL_LOST', 'the journal entry is gone', {
      data: { step: 4 },
      cause: new TypeError('x is undefined'),
    }),
  });

  it('are written with their whole chain of causes, and where each was thrown', () => {
    const { logger, lines } = capture();
    logger.error('turn failed', { error: thrown });
    expect(JSON.parse(lines[0]!).error).toMatchObject({
      name: 'PlatformError',
      kind: 'internal',
      message: 'The turn failed.',
      stack: expect.arrayContaining([expect.stringContaining('logger.test.ts')]),
      cause: {
        name: 'Fault',
        code: 'JOURNAL_LOST',
        data: { step: 4 },
        cause: { name: 'TypeError', message: 'x is undefined' },
      },
    });
  });

  it('stay below their line on a terminal', () => {
    const { logger, text } = capture({ format: 'pretty' });
    logger.error('turn failed', { error: thrown });
    const [first, ...rest] = text().trimEnd().split('\n');
    expect(first).toBe('12:34:56 ERROR turn failed');
    expect(rest.every(line => line.startsWith('  '))).toBe(true);
    expect(text()).toContain('    Fault: the journal entry is gone  code=JOURNAL_LOST');
  });

  it('that are cyclic, aggregate, unreadable or no errors at all cost no line', () => {
    const { logger, lines } = capture();
    const cyclic = new Error('round');
    cyclic.cause = cyclic;
    const hostile = new Proxy(
      {},
      {
        ownKeys() {
          throw new Error('no');
        },
      },
    );
    const self: Record<string, unknown> = { n: 1n, f: () => 1, date: new Date(Number.NaN), nan: Number.NaN };
    self.self = self;
    logger.error('odd', {
      cyclic,
      hostile,
      self,
      all: new AggregateError([new Error('one'), 'two'], 'both'),
      text: 'thrown text',
      deep: JSON.parse(`${'{"a":'.repeat(50)}1${'}'.repeat(50)}`),
    });
    const line = JSON.parse(lines[0]!);
    expect(line.cyclic.cause).toBe('[circular]');
    expect(line.hostile).toBe('[unreadable]');
    expect(line.self).toMatchObject({ n: '1', f: '[function]', self: '[circular]', nan: 'NaN' });
    expect(line.all.errors).toMatchObject([{ message: 'one' }, 'two']);
    expect(lines[0]).toContain('[too deep]');
  });
});

describe('secrets', () => {
  it.each([
    'authorization',
    'Authorization',
    'proxy-authorization',
    'token',
    'accessToken',
    'refresh_token',
    'key',
    'apiKey',
    'api_key',
    'apikey',
    'X-Agent-API-Key',
    'APIKey',
    'secret',
    'clientSecret',
    'SECRET_VALUE',
    'password',
    'dbPassword',
    'passwordHash',
    'PGPASSWORD',
    'cookie',
    'set-cookie',
    'Set-Cookie',
    'codeVerifier',
    'tokenSecret2',
  ])('under the name %s are left out, at any depth', name => {
    const { logger, text } = capture();
    logger.info('x', { [name]: CANARY });
    logger.info('x', { a: [{ b: { [name]: CANARY } }] });
    logger.info('x', { a: new Map([[name, { inside: CANARY }]]) });
    logger.info('x', { rawHeaders: ['host', 'a', name, CANARY], pairs: [[name, CANARY]] });
    logger.child({ [name]: CANARY }).info('x');
    logger.info('x', { error: new Fault('X', 'y', { data: { [name]: [CANARY] } }) });
    expect(text()).not.toContain(CANARY);
  });

  it('are told from what only names or counts them', () => {
    for (const name of [
      'keyId',
      'key_id',
      'tokenType',
      'monkey',
      'keyboard',
      'keyName',
      'secretary',
      'author',
    ]) {
      expect(isSecretName(name), name).toBe(false);
    }
    const { logger, lines } = capture();
    logger.info('x', {
      keyId: 'key_1',
      maxTokens: 4096,
      tokens: CANARY,
      token: 123456,
      credential: 'key:key_1',
    });
    expect(JSON.parse(lines[0]!)).toMatchObject({
      keyId: 'key_1',
      maxTokens: 4096,
      tokens: '[redacted]',
      token: '[redacted]',
      credential: 'key:key_1',
    });
  });

  const shaped = [
    `oag_${CANARY}`,
    `bak_${CANARY}`,
    `Bearer ${CANARY}`,
    `bearer   ${CANARY}==`,
    `Authorization: Token ${CANARY}`,
    `authorization=${CANARY}`,
    `"authorization": "Basic ${CANARY}"`,
    `Basic ${CANARY}==`,
    `Cookie: session=${CANARY}; other=${CANARY}`,
    `eyJhbGciOiJub25lIn0.${CANARY}.`,
    `eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.${CANARY}`,
    `Bearer%20eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.${CANARY}`,
    `www.example.eyJhbGciOiJub25lIn0.${CANARY}.`,
    `postgres://patchbay:${CANARY}@db.internal:5432/patchbay`,
    `https://user:${CANARY}@example.com/path`,
    `https://user:${CANARY}@2@example.com/path`,
    `https://:${CANARY}@example.com`,
    `https://example.com/cb?code=${CANARY}&x=1`,
    `https://example.com/?access_token=${CANARY}#f`,
    `password=${CANARY}`,
    `client_secret=${CANARY}`,
    `{"apiKey":"${CANARY}"}`,
    `{\\"password\\": \\"${CANARY}\\"}`,
    `{'token': '${CANARY}'}`,
    `sk-ant-${CANARY}`,
    `ghp_${CANARY}`,
    `-----BEGIN PRIVATE KEY-----\n${CANARY}\n-----END PRIVATE KEY-----`,
    `-----BEGIN EC PRIVATE KEY-----\n${CANARY}`,
  ];

  it.each(shaped)('of the shape %j are left out wherever they stand', secret => {
    for (const format of ['json', 'pretty'] as const) {
      const { logger, text } = capture({ format });
      const inText = `before ${secret} after`;
      logger.info(inText, { field: inText, [inText]: 1, list: [[inText]], url: inText });
      const cause = new Error(inText, { cause: inText });
      logger.error('failed', { error: new PlatformError('internal', 'failed', { cause }) });
      logger.error('failed', { error: new AggregateError([new Error(inText)], inText) });
      logger.child({ field: inText }).warn(inText);
      expect(text()).not.toContain(CANARY);
      expect(text()).toContain('before');
    }
  });

  it('are not left over when a long text is cut', () => {
    const { logger, text } = capture();
    for (const before of [8_000, 8_180, 8_192, 32_740, 32_768]) {
      logger.info('x', { long: `${'.'.repeat(before)} oag_${CANARY}` });
    }
    expect(text()).not.toContain('Canary');
    expect(text()).toContain('(cut)');
  });

  it('of URL objects, headers and bytes are left out', () => {
    const { logger, text } = capture();
    logger.info('x', {
      url: new URL(`https://u:${CANARY}@example.com/`),
      headers: new Headers({ authorization: CANARY, 'x-agent-api-key': CANARY }),
      bytes: Buffer.from(CANARY),
    });
    expect(text()).not.toContain(CANARY);
    expect(text()).toContain('[22 bytes]');
  });

  it('leave ordinary text as it is', () => {
    const plain = [
      'listening on http://127.0.0.1:7070/mcp',
      'GET http://localhost:4873/@patchbay/server?page=2',
      'conversation conv_abcdefghijklmnopqrstuvwxyz of agent demo is busy',
      'postgres://patchbay@db.internal/patchbay',
      'Unknown key "greeting" in risk-assessment: basic information is missing',
    ];
    const { logger, lines } = capture();
    for (const text of plain) logger.info(text);
    expect(lines.map(line => JSON.parse(line).message)).toEqual(plain);
  });

  it('take linear time to look for, whatever the text', () => {
    const hostile = [
      '://a',
      'eyJ',
      'eyJ-',
      'eyJaaaaa.',
      'a.',
      'oag_',
      'sk-',
      'xoxa-',
      '"key":"',
      'token=',
      'key=',
      '-----BEGIN ',
      'Bearer ',
      'authorization:',
      'a:b@',
      '\\"',
      'basic a',
    ];
    for (const piece of hostile) {
      // With and without what each of the others needs to begin.
      for (const text of [piece.repeat(100_000), `eyJaaaaa.=${piece.repeat(100_000)}`]) {
        expect(typeof redactSecrets(text)).toBe('string');
        expect(typeof redactedJson({ token: 1, text })).toBe('string');
      }
    }
  }, 10_000);
});

describe('forged lines', () => {
  const forged =
    '\n{"level":"error","message":"forged"}\r\n12:34:56 ERROR forged\u2028\u0085\u001b[2K\u202e\u0000';

  it.each(['json', 'pretty'] as const)('cannot be made from what was said (%s)', format => {
    const { logger, text } = capture({ format });
    const error = new Error(`bad${forged}`, { cause: `why${forged}\n    at forged (evil.js:1:1)` });
    error.name = `Name${forged}`;
    logger.info(`hello${forged}`, { [`name${forged}`]: forged, nested: { list: [forged] } });
    logger.error('failed', { error });
    const starts = text()
      .split('\n')
      .slice(0, -1)
      .filter(line => !line.startsWith('  '));
    expect(starts).toHaveLength(2);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: nothing of this may come through
    expect(text()).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202e]/);
  });

  it('cannot overwrite what the line says of itself', () => {
    const { logger, lines } = capture();
    const own = JSON.parse(
      '{"level":"debug","time":"never","message":"other","__proto__":{"level":"x"}}',
    ) as LogFields;
    logger.child(own).warn('real', own);
    expect(lines[0]!.match(/"(level|time|message)":/g)).toHaveLength(4);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: 'warn',
      message: 'real',
      level_: 'debug',
      time_: 'never',
    });
  });

  it('do not appear for any text and any fields', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.object({ maxDepth: 3 }), (message, fields) => {
        const { logger, lines } = capture();
        logger.info(message, fields as LogFields);
        expect(lines).toHaveLength(1);
        expect(lines[0]!.indexOf('\n')).toBe(lines[0]!.length - 1);
        JSON.parse(lines[0]!);
      }),
    );
  });
});
