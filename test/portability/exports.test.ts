// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { randomBytes } from 'node:crypto';
import { createClient } from '@patchbay/contract/client';
import type { ExportedAgent } from '@patchbay/contract/operations/exports';
import type { TestPlatform } from '@patchbay/testing/platform';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCanary, placesWith } from '../canary.ts';
import { platforms } from '../doors/platforms.ts';
import { answeringAgent } from '../rest/rest-client.ts';
import { type RandomAgent, randomAgent } from './random-agent.ts';

type Client = ReturnType<typeof createClient>;

describe.each(platforms)('exports of $kind', ({ start }) => {
  let from: TestPlatform;
  let to: TestPlatform;
  let source: Client;
  let target: Client;
  beforeAll(async () => {
    const env = { PATCHBAY_VAULT_KEY: randomBytes(32).toString('hex') };
    [from, to] = [await start({ env }), await start({ env })];
    const clientOf = ({ url, operatorKey: token }: TestPlatform) =>
      createClient({ baseUrl: url, token, fetch });
    [source, target] = [clientOf(from), clientOf(to)];
  });
  afterAll(async () => {
    await from?.close();
    await to?.close();
  });

  const exportOf = (client: Client, agentId: string, version?: number) =>
    client.call('export_agent', { agentId, version });
  const carry = async (agentId: string) =>
    target.call('import_agent', { file: await exportOf(source, agentId) });

  let made = 0;
  /** Saves a random agent with ids of its own and answers the agent's. */
  async function build(agent: RandomAgent): Promise<string> {
    made += 1;
    const uris: string[] = [];
    for (const [index, { type, body, name, description, earlierVersions }] of agent.documents.entries()) {
      const id = `part-${made}-${index}`;
      let { uri } = await source.call('create_document', { type, id, name, description, body });
      for (let version = 1; version <= earlierVersions; version += 1)
        ({ uri } = await source.call('update_document', { type, id, version, body }));
      uris.push(uri);
    }
    const workflows: string[] = [];
    for (const [index, steps] of agent.workflows.entries()) {
      const workflowSteps = steps.map(at => stepOf(agent.documents[at]!.type, uris[at]!));
      const id = `flow-${made}-${index}`;
      workflows.push(
        (await source.call('create_document', { type: 'workflow', id, body: { workflowSteps } })).uri,
      );
    }
    const { name, description, mcpEnabled: mcp_enabled } = agent;
    const id = `agent-${made}`;
    await source.call('create_document', { type: 'agent', id, name, description, body: { workflows } });
    await source.call('change_own_agent', { agentId: id, mcp_enabled });
    return id;
  }

  it('come back byte for byte from a platform that had none of it, for any agent', async () => {
    await fc.assert(
      fc.asyncProperty(randomAgent, async agent => {
        const id = await build(agent);
        const exported = await exportOf(source, id);
        const { documents } = await target.call('import_agent', { file: exported });
        expect(documents.every(({ changed }) => changed)).toBe(true);
        expect(JSON.stringify(await exportOf(target, id))).toBe(JSON.stringify(exported));
        const again = await target.call('import_agent', { file: exported });
        expect(again.documents.filter(({ changed }) => changed)).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  it('hold exactly the version they are of, and what that version names', async () => {
    for (const text of ['One.', 'Two.', 'Three.'])
      await source.call('deploy_agent_file', { file: answeringAgent('versions', text) });
    const second = await exportOf(source, 'versions', 2);
    expect(second.version).toBe(2);
    expect(second.documents.map(({ type, version }) => `${type} ${version}`)).toEqual([
      'agent 2',
      'workflow 2',
      'rules 1',
      'output 2',
    ]);
    expect(JSON.stringify(second)).toContain('Two.');
    expect(JSON.stringify(second)).not.toContain('Three.');
    await target.call('import_agent', { file: second });
    expect(await target.call('deploy_agent', { agentId: 'versions', version: 2 })).toMatchObject({
      deployed: true,
    });
    const said = await target.call('chat_with_agent', { agentId: 'versions', message: 'hello' });
    expect(said.agentResponse).toContain('Two.');
    // A later one goes in beside it, an earlier one without becoming the current one.
    expect((await carry('versions')).agentVersion).toBe(3);
    await target.call('import_agent', { file: await exportOf(source, 'versions', 1) });
    expect(await target.call('get_agent', { agentId: 'versions' })).toMatchObject({ version: 3 });
  });

  it('hold a document in two versions where the workflows name both', async () => {
    const rules = { behaviorGroups: [] };
    const { uri } = await source.call('create_document', { type: 'rules', id: 'twice', body: rules });
    const later = await source.call('update_document', {
      type: 'rules',
      id: 'twice',
      version: 1,
      body: { ...rules, appendActions: false },
    });
    const steps = [uri, later.uri].map(each => stepOf('rules', each));
    await source.call('create_document', { type: 'workflow', id: 'twice', body: { workflowSteps: steps } });
    await source.call('create_document', {
      type: 'agent',
      id: 'twice',
      body: { workflows: ['patchbay://workflow/twice?version=1'] },
    });
    const exported = await exportOf(source, 'twice');
    await carry('twice');
    expect(await exportOf(target, 'twice')).toEqual(exported);
  });

  it('name secrets and variables, and say on arrival which are missing', async () => {
    const canary = newCanary();
    await source.call('put_secret', { name: 'crm-key', value: canary.value });
    await source.call('put_variable', {
      name: 'crm-url',
      value: 'https://crm.example.com',
      description: 'CRM',
    });
    await source.call('put_variable', { name: 'own', value: 'stays', exportable: false });
    const text = '${vars:crm-url} ${vars:own} ${vars:none} ${vault:crm-key}';
    await source.call('deploy_agent_file', { file: answeringAgent('caller', text) });

    const plain = await exportOf(source, 'caller');
    expect(plain).toMatchObject({
      secrets: ['crm-key'],
      variables: [{ name: 'crm-url' }, { name: 'none' }, { name: 'own' }],
    });
    const full = await source.call('export_agent', { agentId: 'caller', includeVariables: true });
    expect(full.variables).toEqual([
      { name: 'crm-url', value: 'https://crm.example.com', description: 'CRM' },
      { name: 'none' },
      { name: 'own' },
    ]);
    expect(placesWith(canary, { plain, full })).toEqual([]);
    const arrived = await target.call('import_agent', { file: full });
    expect(arrived).toMatchObject({
      missingSecrets: ['crm-key'],
      missingVariables: ['crm-url', 'none', 'own'],
    });
    await target.call('put_secret', { name: 'crm-key', value: 'another value' });
    expect(await target.call('import_agent', { file: full })).toMatchObject({ missingSecrets: [] });
  });

  it('are refused where something else is under the same version, and then save the next one', async () => {
    await source.call('deploy_agent_file', { file: answeringAgent('shared', 'Theirs.') });
    await target.call('deploy_agent_file', { file: answeringAgent('shared', 'Ours.') });
    await expect(carry('shared')).rejects.toThrow(
      /patchbay:\/\/output\/shared\?version=1 is here and holds something else. Import with nextVersions \(--next\)/,
    );
    expect(JSON.stringify(await exportOf(target, 'shared'))).toContain('Ours.');
    const file = await exportOf(source, 'shared');
    const imported = await target.call('import_agent', { file, nextVersions: true });
    expect(imported).toMatchObject({ agentVersion: 2 });
    expect(imported.documents).toEqual([
      { resource: 'patchbay://agent/shared?version=2', changed: true },
      { resource: 'patchbay://workflow/shared?version=2', changed: true },
      { resource: 'patchbay://rules/shared?version=1', changed: false },
      { resource: 'patchbay://output/shared?version=2', changed: true },
    ]);
    expect(JSON.stringify(await exportOf(target, 'shared'))).toContain('Theirs.');
    const again = await target.call('import_agent', { file, nextVersions: true });
    expect(again.documents.filter(({ changed }) => changed)).toEqual([]);
  });

  it('are refused where a document was deleted or belongs to somebody else', async () => {
    await source.call('deploy_agent_file', { file: answeringAgent('gone', 'Gone.') });
    const file = await exportOf(source, 'gone');
    await target.call('import_agent', { file });
    await target.call('delete_document', { type: 'output', id: 'gone', version: 1 });
    await expect(target.call('import_agent', { file })).rejects.toThrow(
      'The output document gone was deleted here; delete it permanently first.',
    );
    const editor = await to.addPerson(['patchbay-editor']);
    const theirs = createClient({ baseUrl: to.url, token: editor.key, fetch });
    await expect(theirs.call('import_agent', { file })).rejects.toThrow(
      'the agent gone belongs to somebody else here',
    );
    await expect(theirs.call('export_agent', { agentId: 'gone' })).rejects.toThrow('not found');
    // Nothing of what was refused is there.
    const moved = renamed(file, 'mine');
    await expect(
      theirs.call('import_agent', { file: { ...moved, documents: moved.documents.slice(0, -1) } }),
    ).rejects.toThrow('patchbay://output/mine?version=1 is named and not there');
    await expect(theirs.call('get_agent', { agentId: 'mine' })).rejects.toThrow('not found');
    expect(await theirs.call('import_agent', { file: moved })).toMatchObject({ agentId: 'mine' });
  });

  it.each<[string, (file: ExportedAgent) => unknown, string]>([
    [
      'of another form',
      file => ({ ...file, patchbay_export: 2 }),
      'Invalid argument file.patchbay_export: valid values are 1',
    ],
    ['without its agent', file => ({ ...file, documents: file.documents.slice(1) }), 'the first must be'],
    [
      'with a document twice',
      file => ({ ...file, documents: [...file.documents, file.documents[1]] }),
      'is there twice',
    ],
    [
      'with a document that nothing names',
      file => ({ ...file, documents: [...file.documents, { ...file.documents[2]!, id: 'idle' }] }),
      'nothing names patchbay://dictionary/idle?version=1',
    ],
    [
      'with a typing error',
      file => ({
        ...file,
        documents: file.documents.map(each =>
          each.type === 'output' ? { ...each, body: { outputSets: [] } } : each,
        ),
      }),
      'file.documents[4]: output document: field "outputSet"',
    ],
  ])('%s are refused with a sentence', async (_what, spoil, sentence) => {
    const file = spoil(await exportOf(source, 'demo'));
    await expect(target.call('import_agent', { file: file as ExportedAgent })).rejects.toThrow(sentence);
  });

  it('take references in the forms of EDDI', async () => {
    await source.call('deploy_agent_file', { file: answeringAgent('eddi', 'Hello from there.') });
    const exported = await exportOf(source, 'eddi');
    const text = JSON.stringify(exported)
      .replaceAll('patchbay://workflow/', 'eddi://ai.labs.package/packagestore/packages/')
      .replaceAll('patchbay://rules/', 'eddi://ai.labs.behavior/behaviorstore/behaviorsets/')
      .replaceAll('patchbay://output/', 'eddi://ai.labs.output/outputstore/outputsets/');
    expect(text).not.toContain('patchbay://');
    await target.call('import_agent', { file: JSON.parse(text) });
    expect(await exportOf(target, 'eddi')).toEqual(exported);
  });
});

function stepOf(type: string, uri: string) {
  return type === 'dictionary'
    ? { type: 'parser', extensions: { dictionaries: [{ type: 'regular', config: { uri } }] } }
    : { type, config: { uri } };
}

/** The same agent under another id. */
function renamed(file: ExportedAgent, id: string): ExportedAgent {
  return JSON.parse(JSON.stringify(file).replaceAll(file.agent, id));
}
