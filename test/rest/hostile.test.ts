import { publishedInput, sendsBody } from '@patchbay/contract/operation';
import { OPERATIONS, type Operation } from '@patchbay/contract/operations';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { agentsKey, rest } from './rest-client.ts';

const BESIDE_AGENTS = (OPERATIONS as readonly Operation[]).filter(({ rest }) => rest.surface === 'agents');

/** What no argument should be, as JSON text. */
const HOSTILE = [
  'null',
  'true',
  '-1',
  '1e308',
  '9007199254740993',
  '""',
  '" "',
  '"\\u0000"',
  '"\\ud800"',
  '"\\u202e\\u0007"',
  JSON.stringify('x'.repeat(100_000)),
  '"../../../../etc/passwd"',
  '"%2e%2e%2f"',
  `"' or '1'='1"`,
  '[]',
  '[[[[[[[[[[]]]]]]]]]]',
  '{}',
  '{"__proto__": {"admin": true}}',
  '{"constructor": {"prototype": {}}}',
  `${'['.repeat(200)}${']'.repeat(200)}`,
  '{"a": 1, "a": 2}',
  'NaN',
  '{',
];

/** A value for everything that is needed, of the right kind. */
function plainArguments(definition: Operation): Record<string, unknown> {
  const { properties, required } = publishedInput(definition);
  return Object.fromEntries(
    required.map(name => [
      name,
      name === 'agentId' ? 'demo' : properties[name]!.type === 'integer' ? 1 : 'x',
    ]),
  );
}

/** The request with one argument as the text says. */
function requestWith(definition: Operation, hostileName: string, text: string) {
  const { method, path } = definition.rest;
  const args = { ...plainArguments(definition), [hostileName]: undefined };
  const written = (name: string, value: unknown) => (name === hostileName ? text : JSON.stringify(value));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: keyof typeof args) =>
    encodeURIComponent(name === hostileName ? text.replaceAll('"', '').slice(0, 4_000) : String(args[name])),
  );
  const others = Object.entries(args).filter(([name]) => !path.includes(`{${name}}`));
  if (sendsBody(method)) {
    const members = others.map(([name, value]) => `${JSON.stringify(name)}: ${written(name, value)}`);
    return { method, path: filled, raw: `{${members.join(', ')}}` };
  }
  const query = others.map(
    ([name, value]) => `${name}=${encodeURIComponent(written(name, value).slice(0, 4_000))}`,
  );
  return { method, path: query.length > 0 ? `${filled}?${query.join('&')}` : filled };
}

describe.each(platforms)('hostile arguments on REST of $kind', ({ start }) => {
  let platform: TestPlatform;
  let key: string;
  beforeAll(async () => {
    platform = await start({ env: { PATCHBAY_AGENT_DOOR_RATE: '0' } });
    key = await agentsKey(platform);
  });
  afterAll(() => platform?.close());

  it.each(BESIDE_AGENTS.map(definition => [definition.name, definition] as const))(
    'of %s are answered in the one envelope, never with a fault of ours',
    { timeout: 60_000 },
    async (_name, definition) => {
      for (const argument of [...Object.keys(publishedInput(definition).properties), 'unknown']) {
        for (const text of HOSTILE) {
          const { method, path, raw } = requestWith(definition, argument, text);
          const answer = await rest(platform.url, method, path, { key, ...(raw !== undefined && { raw }) });
          const what = `${method} ${path.slice(0, 100)} with ${argument}: ${text.slice(0, 40)}`;
          expect(answer.status, `${what}: ${JSON.stringify(answer.body).slice(0, 300)}`).toBeLessThan(500);
          if (answer.status < 400) continue;
          expect(answer.body, what).toMatchObject({ success: false, error: { code: expect.any(String) } });
          expect(JSON.stringify(answer.body), what).not.toMatch(
            /\bat (async )?\w+ \(|node_modules|SQLITE|syntax error at/,
          );
        }
      }
    },
  );
});
