// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { describe, expect, it } from 'vitest';
import { PlatformError } from '../kernel/errors.ts';
import type { Logger } from '../kernel/logger.ts';
import { createReferences, type ResolveFor } from './references.ts';

const SECRETS: Readonly<Record<string, { value: string; allowedAgents: string[] }>> = {
  open: { value: 'secret of all', allowedAgents: [] },
  clerks: { value: 'secret of clerk', allowedAgents: ['clerk'] },
  dollars: { value: '$& $1 ${vault:open}', allowedAgents: ['*'] },
};

function setUp(grantEnforcement: 'enforce' | 'warn' | 'off' = 'enforce') {
  const logged: unknown[] = [];
  const log = (_message: string, fields?: unknown) => logged.push(fields);
  const logger: Logger = { debug: log, info: log, warn: log, error: log, child: () => logger };
  const references = createReferences({
    vault: {
      open: async (name, agentId) => {
        const secret = SECRETS[name];
        if (!secret) return { kind: 'absent' };
        const { value, allowedAgents } = secret;
        const allowed =
          allowedAgents.length === 0 || allowedAgents.includes('*') || allowedAgents.includes(agentId);
        return allowed ? { kind: 'opened', value } : { kind: 'not-allowed' };
      },
      grants: async names =>
        new Map(names.flatMap(name => (SECRETS[name] ? [[name, SECRETS[name].allowedAgents] as const] : []))),
    },
    variables: { values: async () => new Map([['url', 'https://crm.example']]) },
    environment: new Map([
      ['PATCHBAY_REF_SHOP', 'shop'],
      ['PATCHBAY_REF_TOKEN', 'shop token'],
    ]),
    mayRead: name => name.startsWith('PATCHBAY_REF_'),
    callerIdentity: true,
    grantEnforcement,
    logger,
  });
  const resolve = (text: string, options: Partial<ResolveFor> = {}) =>
    references.resolve(references.compile(text), { agentId: 'clerk', ...options });
  return { references, resolve, logged };
}

describe('references', () => {
  it('become their values, and name those that are secret', async () => {
    const { resolve } = setUp();
    expect(
      await resolve(
        '${vars:url}/${PATCHBAY_REF_SHOP:x}/${PATCHBAY_REF_NONE:fallback}?a=${vault:clerks}&b=${vault:open}&c=${vault:open}&d=${PATCHBAY_REF_TOKEN:}&e=$${vault:open}',
      ),
    ).toEqual({
      text: 'https://crm.example/shop/fallback?a=secret of clerk&b=secret of all&c=secret of all&d=shop token&e=${vault:open}',
      secrets: ['secret of clerk', 'secret of all', 'shop token'],
    });
  });

  it('are not looked for in their values', async () => {
    expect((await setUp().resolve('${vault:dollars}')).text).toBe('$& $1 ${vault:open}');
  });

  it('stay what they are through a template, and nothing that a template puts in is one', async () => {
    const { references } = setUp();
    const compiled = references.compile('{% if a %}${vault:open}{% endif %} {{ input }}');
    const said = `${references.compile('${vault:open}').text} \${vault:open}`;
    const rendered = compiled.text.replace(/\{%.*?%\}/g, '').replace('{{ input }}', said);
    const { text } = await references.resolve(compiled, { agentId: 'clerk', rendered });
    expect(text).toBe(`secret of all ${said}`);
  });

  it('fail when a template has changed them', async () => {
    const { references } = setUp();
    const compiled = references.compile('a ${vault:open}');
    await expect(
      references.resolve(compiled, { agentId: 'clerk', rendered: compiled.text.replace('\uE001', '') }),
    ).rejects.toMatchObject({ kind: 'unavailable', message: expect.stringContaining('keep filters away') });
  });

  it.each([
    [
      '${vault:nothing}',
      'there is no secret of that name; store it with `npx patchbay secrets set nothing`.',
    ],
    ['${vars:nothing}', 'there is no variable of that name; set it with `npx patchbay vars set nothing`.'],
    ['${caller:token}', 'nobody is there whose identity'],
  ])('that cannot be resolved fail and say why: %s', async (text, reason) => {
    await expect(setUp().resolve(text)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining(`${text} cannot be resolved: ${reason}`),
    });
  });

  it('to a secret of other agents fail, whatever the deployment let pass', async () => {
    for (const grants of ['enforce', 'warn', 'off'] as const)
      await expect(setUp(grants).resolve('${vault:clerks}', { agentId: 'other' })).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining('the secret is for other agents'),
      });
  });

  it('to the caller are satisfied where the caller is known, and the token is a secret', async () => {
    const caller = { userId: 'user_x', token: 'token of x' };
    expect(await setUp().resolve('${caller:userId} ${caller:token}', { caller })).toEqual({
      text: 'user_x token of x',
      secrets: ['token of x'],
    });
    await expect(setUp().resolve('${caller:token}', { caller: { userId: 'user_x' } })).rejects.toThrow(
      PlatformError,
    );
  });
});

describe('a deployment', () => {
  const bodies = [
    { a: [{ b: 'Bearer ${vault:clerks} ${vars:url}' }], c: '${vault:default/open} $${vault:nobodys}' },
    '${vault:missing} ${vars:absent} ${eddivault:dollars}',
  ];
  const missing = [
    '${vault:missing}: there is no secret of that name yet; store it with `npx patchbay secrets set missing`.',
    '${vars:absent}: there is no variable of that name yet; set it with `npx patchbay vars set absent`.',
  ];

  it('hears of what is not there', async () => {
    const { references, logged } = setUp();
    expect(await references.checkDeployment('clerk', bodies)).toEqual(missing);
    expect(logged).toEqual([{ agentId: 'clerk', warnings: missing }]);
    expect(await references.checkDeployment('clerk', [{ a: 'plain' }, null, undefined, 7])).toEqual([]);
  });

  it('is refused with a secret that is for other agents, warned, or let pass', async () => {
    const sentence = expect.stringMatching(
      /^\$\{vault:clerks\}: the secret is not for agent other; .*--agents/,
    );
    await expect(setUp().references.checkDeployment('other', bodies)).rejects.toMatchObject({
      kind: 'forbidden',
      message: sentence,
    });
    expect(await setUp('warn').references.checkDeployment('other', bodies)).toEqual([...missing, sentence]);
    expect(await setUp('off').references.checkDeployment('other', bodies)).toEqual(missing);
  });
});
