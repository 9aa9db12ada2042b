import { publishedInput } from '@patchbay/contract/operation';
import { OPERATIONS, type Operation } from '@patchbay/contract/operations';
import { ROLES } from '@patchbay/contract/roles';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTokenKit, type TokenKit } from '../authorization/tokens.ts';
import { CATALOGUE, DOCUMENTED_TIERS, type DocumentedTier } from './catalogue.ts';
import { platforms } from './platforms.ts';
import { callTool, rpc, toolError } from './wire.ts';

// Measured by calling every operation as every role, never read from the code (platform.md 11.2).

const operations: readonly Operation[] = OPERATIONS;
const tools = operations.filter(({ tool }) => tool);
const callers = [...ROLES, 'no role'] as const;
type Caller = (typeof callers)[number];

/** What a call is about where a tier depends on it: the first half with the argument, the second without. */
interface Case {
  readonly operation: Operation;
  readonly args: Readonly<Record<string, unknown>>;
  readonly tier: DocumentedTier;
}

/** Tools have their tier in the catalogue, other operations in their definition alone. */
function casesOf(operation: Operation): Case[] {
  const { tier, tierWithout } = operation.tool ? CATALOGUE[operation.name]! : operation;
  if (!tierWithout) return [{ operation, args: {}, tier }];
  return [
    { operation, args: { [tierWithout.argument]: 'x' }, tier },
    { operation, args: {}, tier: tierWithout.tier },
  ];
}

const admits = (tier: DocumentedTier, caller: Caller) =>
  (DOCUMENTED_TIERS[tier] as readonly string[]).includes(caller);

const isRoleRefusal = (message: string | undefined) => message?.includes('requires one of roles') ?? false;

const shown = ({ operation, args }: Case) => `${operation.name} ${JSON.stringify(args)}`;

describe.each(platforms)('the roles at the doors of $kind', ({ start }) => {
  let platform: TestPlatform;
  let tokens: TokenKit;
  beforeAll(async () => {
    platform = await start();
    tokens = await createTokenKit(platform);
  });
  afterAll(() => platform?.close());

  async function throughTool({ operation, args }: Case, key: string): Promise<boolean> {
    const answer = await callTool(platform.operatorUrl, operation.name, { ...args }, { key });
    expect(answer.status).toBe(200);
    const error = toolError(answer);
    const refused = isRoleRefusal(error?.error);
    if (refused) expect(error?.errorCode).toBe('FORBIDDEN');
    return !refused;
  }

  async function throughRest({ operation, args }: Case, key: string): Promise<boolean> {
    const { method, path } = operation.rest;
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
    const url = new URL(`${platform.url}/api/v1${path.replaceAll(/\{\w+\}/g, 'x')}`);
    const rest = Object.entries(args).filter(([name]) => !inPath.includes(name));
    const hasBody = method !== 'GET' && method !== 'DELETE';
    if (!hasBody) for (const [name, value] of rest) url.searchParams.set(name, String(value));
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(hasBody && { 'content-type': 'application/json' }) },
      ...(hasBody && { body: JSON.stringify(Object.fromEntries(rest)) }),
    });
    const body = (await response.json()) as { error?: { message?: string } };
    const refused = isRoleRefusal(body.error?.message);
    if (refused) expect(response.status).toBe(403);
    return !refused;
  }

  it('are documented for every tool, once each (E-62)', () => {
    expect(tools.map(({ name }) => name).toSorted()).toEqual(Object.keys(CATALOGUE).toSorted());
  });

  /** What somebody with these roles comes in with. */
  const credentials = {
    key: async (caller: Caller) => (await personLike(caller)).key,
    token: async (caller: Caller) => {
      const { userId } = await personLike(caller);
      return tokens.operatorToken(await tokens.allow(userId, { door: 'operator' }));
    },
  };
  const personLike = (caller: Caller) => platform.addPerson(caller === 'no role' ? [] : [caller]);
  const each = callers.flatMap(caller => (['key', 'token'] as const).map(by => [caller, by] as const));

  it.each(each)(
    'admit %s with a %s to exactly the documented tools, in the list and in calls (attack 24) (E-27, E-52, E-54, E-55, E-56, E-58, E-59, E-60, E-61)',
    async (caller, by) => {
      const key = await credentials[by](caller);
      const cases = tools.flatMap(casesOf);
      const admitted: string[] = [];
      for (const each of cases) if (await throughTool(each, key)) admitted.push(shown(each));
      expect(admitted).toEqual(cases.filter(({ tier }) => admits(tier, caller)).map(shown));
      const { body } = await rpc(platform.operatorUrl, 'tools/list', {}, { key });
      expect(body.result.tools.map((tool: { name: string }) => tool.name)).toEqual(
        tools.filter(({ name }) => admits(CATALOGUE[name]!.tier, caller)).map(({ name }) => name),
      );
    },
  );

  it.each(each)('admit %s with a %s to the same operations on REST (E-27, E-64)', async (caller, by) => {
    const key = await credentials[by](caller);
    const cases = operations.flatMap(casesOf);
    const admitted: string[] = [];
    for (const each of cases) if (await throughRest(each, key)) admitted.push(shown(each));
    expect(admitted).toEqual(cases.filter(({ tier }) => admits(tier, caller)).map(shown));
  });

  it('are asked before the arguments: without any, a tool names the first it needs to those it admits', async () => {
    for (const operation of tools) {
      const [first] = publishedInput(operation).required;
      if (first === undefined) continue;
      const answer = await callTool(platform.operatorUrl, operation.name, {}, { key: platform.operatorKey });
      expect(toolError(answer), operation.name).toEqual({
        error: `Missing required argument: ${first}`,
        errorCode: 'BAD_REQUEST',
      });
    }
  });
});
