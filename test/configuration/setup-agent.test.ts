// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { randomBytes } from 'node:crypto';
import { type Client, createClient } from '@patchbay/contract/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { type ScriptedModel, startScriptedModel } from '@patchbay/testing/scripted-model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dumpTables, newCanary, placesWith, recordingFetch } from '../canary.ts';
import { platforms } from '../doors/platforms.ts';
import { callTool, toolError } from '../doors/wire.ts';
import { startToolServer, type ToolServer } from '../mcpcalls/tool-server.ts';

const LOCAL = { provider: 'openai-compatible', model: 'any' };

describe.each(platforms)('setup_agent on $kind', ({ start, lacks }) => {
  let platform: TestPlatform;
  let model: ScriptedModel;
  let toolServer: ToolServer;
  let client: Client;
  let recorder: ReturnType<typeof recordingFetch>;
  beforeAll(async () => {
    [model, toolServer] = await Promise.all([startScriptedModel(), startToolServer('legacy')]);
    platform = await start({
      env: {
        PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1',
        PATCHBAY_VAULT_KEY: randomBytes(32).toString('hex'),
        PATCHBAY_LOG_LEVEL: 'debug',
      },
    });
    recorder = recordingFetch();
    client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch: recorder.fetch });
  });
  afterAll(async () => {
    await platform?.close();
    await Promise.all([model, toolServer].map(one => one?.[Symbol.asyncDispose]()));
  });

  const setUp = async (args: Record<string, unknown>) => {
    const answer = await callTool(platform.operatorUrl, 'setup_agent', args, { key: platform.operatorKey });
    return answer.body.result.structuredContent;
  };
  const refusalOf = async (args: Record<string, unknown>) =>
    toolError(await callTool(platform.operatorUrl, 'setup_agent', args, { key: platform.operatorKey }))!;
  const named = (agentName: string, more: object = {}) => ({
    ...{
      agentName,
      systemPrompt: `You are ${agentName}.`,
      ...LOCAL,
      baseUrl: model.baseUrl('chat-completions'),
    },
    ...more,
  });
  const say = (agentId: string, message: string) => client.call('chat_with_agent', { agentId, message });
  const countRows = async () =>
    Object.fromEntries(
      Object.entries(await dumpTables(platform.platform.store))
        .filter(([table]) => /document|descriptor|agents|deployments|secrets/.test(table))
        .map(([table, rows]) => [table, rows.length]),
    );
  const bodyOf = async (uri: string) => {
    const [, type, id] = /^patchbay:\/\/(\w+)\/(\S+)\?version=1$/.exec(uri)!;
    return (await client.call('read_document', { type: type as 'llm', id: id! })).body;
  };

  it('makes an agent that greets, has its model answer whatever is said and calls the tools of the servers (E-100)', async () => {
    const made = await setUp(
      named('Ada', { introMessage: 'Hello!', mcpServerUrls: `${toolServer.url}, ${toolServer.url}?second` }),
    );
    const { agentId, resources } = made;
    expect(made).toMatchObject({
      ...{ action: 'setup_complete', agentName: 'Ada', ...LOCAL },
      ...{ deployed: true, deploymentStatus: 'READY', apiKeyVaultReference: null },
    });
    expect(agentId).toMatch(/^agent_[a-z2-7]{20}$/);
    expect(resources).toEqual({
      parserLocation: `patchbay://workflow/${agentId}?version=1`,
      behaviorLocation: `patchbay://rules/${agentId}?version=1`,
      langchainLocation: `patchbay://llm/${agentId}?version=1`,
      outputLocation: `patchbay://output/${agentId}?version=1`,
      mcpCallsLocation_0: `patchbay://mcpcalls/${agentId}-1?version=1`,
      mcpCallsLocation_1: `patchbay://mcpcalls/${agentId}-2?version=1`,
      packageLocation: `patchbay://workflow/${agentId}?version=1`,
      agentLocation: `patchbay://agent/${agentId}?version=1`,
      environment: 'production',
    });
    const mcpcalls = { transport: 'http', timeoutMs: 30_000, exposeResources: false, mcpCalls: [] };
    expect(await bodyOf(resources.mcpCallsLocation_0)).toEqual({ mcpServerUrl: toolServer.url, ...mcpcalls });
    expect(await bodyOf(resources.langchainLocation)).toMatchObject({
      tasks: [
        {
          ...{ actions: ['send_message'], conversationHistoryLimit: 10 },
          parameters: { systemMessage: 'You are Ada.', timeout: 60_000, addToOutput: true },
        },
      ],
    });
    const { workflowSteps } = (await bodyOf(resources.packageLocation)) as {
      workflowSteps: { type: string }[];
    };
    expect(workflowSteps.map(({ type }) => type)).toEqual([
      'parser',
      'rules',
      'mcpcalls',
      'mcpcalls',
      'llm',
      'output',
      'templating',
    ]);
    for (const [type, count] of Object.entries({
      agent: 1,
      workflow: 1,
      rules: 1,
      mcpcalls: 2,
      llm: 1,
      output: 1,
    })) {
      const { documents } = await client.call('list_documents', { type: type as 'llm', filter: 'Ada' });
      expect(
        documents.map(({ name }) => name),
        type,
      ).toEqual(Array(count).fill('Ada'));
    }

    expect(await client.call('lint_agent', { agentId })).toMatchObject({ findings: [] });
    const { conversationId } = await client.call('create_conversation', { agentId });
    const greeting = await client.call('read_conversation', { conversationId: conversationId! });
    expect(JSON.stringify(greeting)).toContain('Hello!');
    for (const message of ['Echo tea.', '???', '茶']) {
      model.play([{ calls: [{ name: 'echo', input: { word: 'tea' } }] }, { text: 'Tea.' }]);
      const answer = await client.call('talk_to_agent', {
        agentId,
        conversationId: conversationId!,
        message,
      });
      expect(answer.agentResponse, message).toBe('Tea.');
    }
    expect(toolServer.calls.at(-1)).toMatchObject({ tool: 'echo', args: { word: 'tea' } });
    expect(model.requests[0]).toMatchObject({ system: 'You are Ada.', model: 'any' });
  });

  it('makes another agent each time it is called (E-04)', async () => {
    const [one, other] = [await setUp(named('Twin')), await setUp(named('Twin'))];
    expect(one.agentId).not.toBe(other.agentId);
    const { agents } = await client.call('list_agents', {});
    expect(agents.filter(({ descriptor }) => descriptor.name === 'Twin')).toHaveLength(2);
  });

  it('deploys nothing where that is not wanted, and elsewhere where it is', async () => {
    const idle = await setUp(named('Idle', { deploy: false }));
    expect(idle).toMatchObject({ deployed: false, deploymentStatus: 'NOT_FOUND' });
    await expect(say(idle.agentId, 'Hello')).rejects.toThrow(/not deployed/);
    const { agentId } = await setUp(named('Tester', { environment: 'test' }));
    model.play([{ text: 'Here.' }]);
    const answer = await client.call('chat_with_agent', { agentId, message: 'Hi', environment: 'test' });
    expect(answer.agentResponse).toBe('Here.');
  });

  it('keeps a key in the vault alone, once, and answers how it is referred to', async () => {
    const canary = newCanary();
    const first = await setUp(named('Keeper of Keys', { apiKey: canary.value }));
    expect(first.apiKeyVaultReference).toMatch(
      /^\$\{vault:setup\.Keeper-of-Keys\.\d+-[a-z2-7]{8}\.apiKey\}$/,
    );
    const second = await setUp(named('Second', { apiKey: ` ${canary.value} ` }));
    expect(second.apiKeyVaultReference).toBe(first.apiKeyVaultReference);
    model.play([{ text: 'It fits.' }]);
    expect((await say(second.agentId, 'Hi')).agentResponse).toBe('It fits.');
    expect(model.requests[0]!.key).toBe(canary.value);

    const refused = await refusalOf(named('Broken', { apiKey: canary.value, systemPrompt: '{{ broken' }));
    const exported = await client.call('export_agent', { agentId: first.agentId });
    const audit = await client.call('list_audit_events', { limit: 100 });
    expect(audit.events.some(({ operation }) => operation === 'setup_agent')).toBe(true);
    const rows = await dumpTables(platform.platform.store);
    const logs = platform.logLines();
    const places = { refused, exported, audit, first, second, answers: recorder.answers, logs, ...rows };
    expect(placesWith(canary, places)).toEqual([]);
    expect(
      placesWith(canary, {
        opened: await platform.platform.references.resolve(
          platform.platform.references.compile(first.apiKeyVaultReference),
          { agentId: first.agentId },
        ),
      }),
    ).toEqual(['opened']);
  });

  it('takes a key only from secrets that every agent may use, and refers to one as it is told to', async () => {
    await client.call('put_secret', { name: 'mine', value: 'sk-for-one-agent', allowedAgents: ['demo'] });
    await client.call('put_secret', { name: 'ours', value: 'sk-for-everybody' });
    const own = await setUp(named('Own', { apiKey: 'sk-for-one-agent' }));
    expect(own.apiKeyVaultReference).toContain('setup.Own.');
    expect((await setUp(named('Shared', { apiKey: 'sk-for-everybody' }))).apiKeyVaultReference).toBe(
      '${vault:ours}',
    );
    expect((await setUp(named('Told', { apiKey: '${vault:ours}' }))).apiKeyVaultReference).toBe(
      '${vault:ours}',
    );
    const later = await setUp(named('Later', { apiKey: '${vault:later}' }));
    expect(later.resources.vaultWarning).toBe(
      '${vault:later}: there is no secret of that name yet; store it with `npx patchbay secrets set later`.',
    );
    expect(await refusalOf(named('Thief', { apiKey: '${vault:mine}' }))).toMatchObject({
      errorCode: 'FORBIDDEN',
    });
  });

  it('leaves nothing behind when the agent could not run', async () => {
    const before = await countRows();
    for (const [args, sentence] of [
      [{ systemPrompt: 'You are {{ broken', apiKey: 'sk-a-new-one' }, /systemMessage/],
      [{ introMessage: '{% if %}', apiKey: 'sk-a-new-one' }, /output document/],
      [
        { mcpServerUrls: `${toolServer.url},ftp://files.example`, apiKey: 'sk-a-new-one' },
        /^mcpServerUrls, entry 2: .*http/,
      ],
      [
        { mcpServerUrls: 'patchbay:servers/no-such-one' },
        /^mcpServerUrls, entry 1: there is no server no-such-one; none is registered yet\.$/,
      ],
      [{ apiKey: '{vault:bare}' }, /^apiKey: \{vault:bare\}: a reference begins with a dollar/],
      [
        { provider: 'antropic' },
        /^provider: There is no provider "antropic"; did you mean "anthropic"\? Known are .*ollama/,
      ],
      [
        { provider: 'anthropic', baseUrl: '' },
        /^apiKey is missing: Anthropic wants a key\. .*secrets set anthropic/,
      ],
      [
        { baseUrl: '' },
        /^baseUrl is missing: give the address of the server of openai-compatible, such as http/,
      ],
      [{ model: ' ' }, /^model is missing/],
    ] as const) {
      const refused = await refusalOf(named('Nobody', args));
      expect(refused.errorCode, sentence.source).toBe('BAD_REQUEST');
      expect(refused.error).toMatch(sentence);
    }
    expect(await countRows()).toEqual(before);
  });

  it('gives its model the tools that come with the platform, all or those it is told', async () => {
    const toolsOf = async (more: object) => {
      const { agentId } = await setUp(named('Reckoner', more));
      model.play([{ text: 'Yes.' }]);
      await say(agentId, 'Hello');
      return model.requests[0]!.tools.map(({ name }) => name).toSorted();
    };
    const builtInToolsWhitelist = 'calculator, datetime';
    expect(await toolsOf({})).toEqual([]);
    expect(await toolsOf({ builtInToolsWhitelist })).toEqual([]);
    expect(await toolsOf({ enableBuiltInTools: true, builtInToolsWhitelist })).toEqual([
      'calculator',
      'datetime',
    ]);
    expect((await toolsOf({ enableBuiltInTools: true })).length).toBeGreaterThan(2);
    const refused = await refusalOf(
      named('Nobody', { enableBuiltInTools: true, builtInToolsWhitelist: 'calculator, websearch' }),
    );
    expect(refused.error).toMatch(
      /^builtInToolsWhitelist: there is no built-in tool "websearch"; there are calculator, /,
    );
  });

  it('has no argument that would set or open a gate (E-33)', async () => {
    for (const argument of ['hitlConfig', 'vaultKeyName', 'toolApprovals', 'gated', 'maxToolIterations']) {
      expect(await refusalOf(named('Gate', { [argument]: {} }))).toMatchObject({
        errorCode: 'BAD_REQUEST',
        error: expect.stringContaining(`Unknown argument: ${argument}`),
      });
    }
  });

  it('is for admins', async () => {
    const editor = await platform.addPerson(['patchbay-editor', 'patchbay-user']);
    const answer = await callTool(platform.operatorUrl, 'setup_agent', named('X'), { key: editor.key });
    expect(toolError(answer)).toMatchObject({
      errorCode: 'FORBIDDEN',
      error: 'setup_agent requires one of roles: patchbay-admin.',
    });
  });

  it('has the model offer answers and say how the person feels, where that is wanted', async () => {
    const made = await setUp(named('Feeler', { enableQuickReplies: true, enableSentimentAnalysis: true }));
    expect(made).toMatchObject({ quickRepliesEnabled: true, sentimentAnalysisEnabled: true });
    const sentiment = { score: 0.5, urgency: 'low' };
    const answer = {
      htmlResponseText: 'Which one? {{ input }}',
      quickReplies: [{ value: 'The red {{ input }}' }, 'The blue one', { value: 7 }, ''],
      sentiment,
    };
    model.play([{ text: JSON.stringify(answer) }]);
    const said = await say(made.agentId, 'A book, please');
    expect(said.agentResponse).toBe('Which one? {{ input }}');
    expect(said.quickReplies).toEqual(['The red {{ input }}', 'The blue one']);
    const [request] = model.requests;
    expect(request!.body.response_format).toMatchObject({ type: 'json_object' });
    expect(request!.system).toMatch(
      /^You are Feeler\.\n\nAnswer with one JSON object .*"htmlResponseText".*"quickReplies".*"urgency"/s,
    );
    const read = await client.call('read_conversation', {
      ...{ conversationId: said.conversationId!, returnDetailed: true },
    });
    expect(JSON.stringify(read)).toContain('"sentiment":{"score":0.5,"urgency":"low"}');
  });

  it.skipIf(lacks('one configuration'))(
    'stores each key once more where the setting says never',
    async () => {
      const own = await start({ env: { PATCHBAY_SETUP_VAULT_KEY_REUSE: 'never' } });
      try {
        const call = () =>
          callTool(own.operatorUrl, 'setup_agent', named('Never', { apiKey: 'sk-the-same' }), {
            key: own.operatorKey,
          });
        const references = [await call(), await call()].map(
          ({ body }) => body.result.structuredContent.apiKeyVaultReference,
        );
        expect(new Set(references).size).toBe(2);
      } finally {
        await own.close();
      }
      await expect(start({ env: { PATCHBAY_SETUP_VAULT_KEY_REUSE: 'sometimes' } })).rejects.toThrow(
        /PATCHBAY_SETUP_VAULT_KEY_REUSE.*must be checksum or never/s,
      );
    },
  );
});
