import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import SwaggerParser from '@apidevtools/swagger-parser';
import { type Schema, Validator } from '@cfworker/json-schema';
import { OPERATIONS } from '@patchbay/contract/operations';
import type { Role } from '@patchbay/contract/roles';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { deleteDeploymentsOf } from '../../packages/server/src/store/tables/deployments.ts';
import {
  ABOUT_WAITING,
  allowClient,
  MADE_UP_KEY,
  SELF_CALLING,
  untilSettled,
  WAITING_CALL,
} from '../../scripts/record-examples.ts';
import { DISCOVERED, startScriptedServer } from '../connections/servers/scripted-server.ts';

// The OpenAPI document, measured against the platform that serves it.

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly operationId: string;
  readonly 'x-roles'?: readonly Role[];
  readonly security?: readonly unknown[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'path' | 'query';
    readonly required?: boolean;
    readonly schema: Schema;
    readonly example?: unknown;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly headers?: object; readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;

/** An operation and where it is. */
interface Route extends Operation {
  readonly method: string;
  readonly path: string;
}

const MIB = 1024 * 1024;

let platform: TestPlatform;
let served: Response;
let text: string;
/** Without references. */
let document: Document;
let routes: readonly Route[];

beforeAll(async () => {
  platform = await startTestPlatform({
    env: {
      ...SELF_CALLING,
      PATCHBAY_TURN_TIMEOUT_SECONDS: '1',
      PATCHBAY_HTTP_MAX_BODY_BYTES: '4096',
      PATCHBAY_CONVERSATION_MAX_INPUT_CHARS: '500',
      PATCHBAY_FILES_QUOTA_MIB: '1',
    },
  });
  served = await fetch(`${platform.url}/api/v1/openapi.json`);
  text = await served.text();
  document = (await SwaggerParser.dereference(JSON.parse(text), offline)) as unknown as Document;
  routes = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  );
});
afterAll(() => platform?.close());

const offline = { resolve: { external: false } };

const find = (operationId: string) => routes.find(route => route.operationId === operationId)!;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

type Arguments = Readonly<Record<string, unknown>>;

/** Sends the arguments where the document says they belong; what it does not know goes into the body, else the query. */
async function send(
  route: Route,
  args: Arguments,
  // The one that may do everything: keys cannot make keys.
  key: string | null = platform.ownerToken,
  bytes?: string,
): Promise<Answer> {
  const inPath = route.parameters?.filter(parameter => parameter.in === 'path').map(({ name }) => name) ?? [];
  const url = new URL(
    platform.url + route.path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(args[name]))),
  );
  const rest = Object.entries(args).filter(([name]) => !inPath.includes(name));
  if (!sendsJson(route)) for (const [name, value] of rest) url.searchParams.set(name, String(value));
  const response = await fetch(url, {
    method: route.method,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(sendsJson(route) && { 'content-type': 'application/json' }),
    },
    ...(sendsJson(route) && { body: JSON.stringify(Object.fromEntries(rest)) }),
    ...(bytes !== undefined && { body: bytes }),
  });
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? await response.json() : await response.text(),
  };
}

function sendsJson({ requestBody }: Operation): boolean {
  return requestBody?.content['application/json'] !== undefined;
}

/** The arguments of the example in the document. */
function exampleOf({ parameters = [], requestBody }: Operation): Arguments {
  const given = parameters.filter(({ example }) => example !== undefined);
  return {
    ...Object.fromEntries(given.map(({ name, example }) => [name, example])),
    ...(requestBody?.content['application/json']?.example as Arguments | undefined),
  };
}

function problems(schema: Schema, value: unknown): string[] {
  return new Validator(schema, '2020-12', false)
    .validate(value)
    .errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
}

/** The same schema, but a member it does not name is wrong. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, closed(value)]));
  return copy.type === 'object' && copy.properties ? { additionalProperties: false, ...copy } : copy;
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const valid = await SwaggerParser.validate(JSON.parse(text), offline);
    expect((valid as { openapi?: string }).openapi).toMatch(/^3\.1\./);
  });

  it('is served without a credential, as it lies in the repository', async () => {
    expect(served.status).toBe(200);
    expect(served.headers.get('content-type')).toBe('application/json');
    const file = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url));
    expect(JSON.parse(text)).toEqual(JSON.parse(await readFile(file, 'utf8')));
  });

  it('has every route of the platform and no other, but for the pages of people and what OAuth describes itself', () => {
    const isElsewhere = ({ path }: { readonly path: string }) =>
      /^\/(sign-in|sign-out|account|connect|mcp-login|oauth)(\/|$)|\/\.well-known\//.test(path);
    const running = platform.platform.app.routes
      .filter(route => !isElsewhere(route))
      .map(({ method, path }) => ({
        method,
        path: path.replaceAll(/:(\w+)/g, '{$1}'),
      }));
    const everyMethod = running.filter(({ method }) => method === 'ALL').map(({ path }) => path);
    const middleware = ['/*', '/api/v1/*', '/administration/*', '/mcpcallsstore/*'];
    expect(new Set(everyMethod.filter(path => !middleware.includes(path)))).toEqual(
      // The doors, where MCP describes itself.
      new Set(['/mcp', '/{agentId}/mcp']),
    );
    expect(
      running
        .filter(({ method }) => method !== 'ALL')
        .map(({ method, path }) => `${method} ${path}`)
        .toSorted(),
    ).toEqual(routes.map(({ method, path }) => `${method} ${path}`).toSorted());
  });

  it('says truly where a credential is needed', async () => {
    for (const route of routes) {
      const answer = await send(route, exampleOf(route), null);
      expect(answer.status === 401, route.operationId).toBe(needsCredential(route));
    }
  });

  it('says truly which roles are admitted', async () => {
    for (const role of [
      'patchbay-editor',
      'patchbay-user',
      'patchbay-approver',
      'patchbay-viewer',
    ] as const) {
      const { key } = await platform.addPerson([role]);
      for (const route of routes.filter(route => route['x-roles'])) {
        const { status, body } = await send(route, { ...exampleOf(route), unknown: 'x' }, key);
        const refused = status === 403 && JSON.stringify(body).includes('require');
        expect(!refused, `${route.operationId} as ${role}`).toBe(route['x-roles']!.includes(role));
      }
    }
  });
});

describe('the docs page operations', () => {
  it('has a section for every operation, with its route', async () => {
    const page = (await send(find('administration_read_docs'), { name: 'operations' })).body;
    const routesOnPage = [...String(page).matchAll(/^### (\w+)$.*?^- REST: `(\S+ \S+)`$/gms)];
    expect(routesOnPage.map(([, name, route]) => `${name} ${route}`).toSorted()).toEqual(
      routes
        .filter(route => route['x-roles'] && route.path.startsWith('/api/v1/'))
        .map(({ operationId, method, path }) => `${operationId} ${method} ${path}`)
        .toSorted(),
    );
  });
});

/** Where an example is about the platform that has recorded it: this one. */
function atHome(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return value.replace('http://127.0.0.1:7070', platform.url).replace(MADE_UP_KEY, platform.ownerToken);
}

describe('the examples', () => {
  it('run in their order, and are answered as the document says', async () => {
    /** Ids of the examples and what they are called here. */
    const called = new Map<string, string>();
    const learn = (example: unknown, here: unknown): void => {
      if (
        typeof example === 'string' &&
        /^(conv|user|key|file|task|msg|pause|agent|dictionary)_/.test(example)
      )
        called.set(example, String(here));
      if (typeof example !== 'object' || example === null) return;
      for (const [name, value] of Object.entries(example)) learn(value, (here as Arguments)?.[name]);
    };
    const translated = (args: Arguments): Arguments =>
      JSON.parse(JSON.stringify(args), (_, value) => called.get(value) ?? atHome(value));

    await allowClient(platform, Date.now());
    // One path may have the first and the last of a family.
    const order: readonly string[] = OPERATIONS.map(({ name }) => name);
    const placeOf = ({ operationId }: Route) => order.indexOf(operationId) + 1 || order.length + 1;
    for (const route of routes.filter(carriesJson).toSorted((a, b) => placeOf(a) - placeOf(b))) {
      const { operationId } = route;
      const [status, documented] = Object.entries(route.responses)[0]!;
      const [type, { schema, example }] = Object.entries(documented.content ?? {})[0] ?? ['', { schema: {} }];
      const strict = closed(schema) as Schema;
      if (Object.hasOwn(ABOUT_WAITING, operationId)) {
        const { body } = await send(find('chat_with_agent'), WAITING_CALL);
        learn(exampleOf(route).conversationId, (body as Arguments).conversationId);
      }
      const answer = await send(route, translated(exampleOf(route)));
      await untilSettled(platform);
      expect(answer, operationId).toMatchObject({ status: Number(status) });
      expect(answer.headers.get('content-type') ?? '', operationId).toMatch(type);
      expect(problems(schema, answer.body), operationId).toEqual([]);
      expect(problems(strict, answer.body), `${operationId}, what is not documented`).toEqual([]);
      if (example === undefined) continue;
      expect(problems(strict, example), `${operationId}, its example`).toEqual([]);
      learn(example, answer.body);
    }
  });

  it('keep to the schemas of their arguments', () => {
    for (const { operationId, parameters = [], requestBody } of routes.filter(carriesJson)) {
      for (const { name, required, schema, example } of parameters) {
        if (example === undefined) expect(required, `${operationId}: ${name}`).toBeUndefined();
        else expect(problems(schema, example), `${operationId}: ${name}`).toEqual([]);
      }
      const body = requestBody?.content['application/json'];
      if (body) expect(problems(body.schema, body.example), operationId).toEqual([]);
    }
  });
});

describe('the errors', () => {
  it('are those the document lists, in its envelope: each one is provoked, but for faults of ours', async () => {
    const listed = routes.flatMap(route =>
      Object.entries(route.responses)
        .filter(([status]) => Number(status) >= 400)
        .flatMap(([status, { content }]) =>
          codesOf(content!['application/json']!.schema).map(code => `${route.operationId} ${status} ${code}`),
        ),
    );
    const provoked = new Set<string>();
    for (const [route, answer] of await provocations()) {
      const { operationId, responses } = route;
      const { error } = answer.body as { error: { code: string } };
      const documented = responses[answer.status];
      expect(
        documented,
        `${operationId} answers ${answer.status} ${JSON.stringify(answer.body)}`,
      ).toBeDefined();
      expect(problems(documented!.content!['application/json']!.schema, answer.body), operationId).toEqual(
        [],
      );
      for (const header of Object.keys(documented!.headers ?? {}))
        expect(answer.headers.get(header)).not.toBe(null);
      provoked.add(`${operationId} ${answer.status} ${error.code}`);
    }
    expect([...provoked].toSorted()).toEqual(
      listed.filter(row => !row.endsWith(' internal_error')).toSorted(),
    );
  });
});

function needsCredential({ security }: Pick<Operation, 'security'>): boolean {
  return security?.length !== 0;
}

/** The bytes of files are no JSON; the tests of files look at them. */
function carriesJson({ operationId }: Operation): boolean {
  return operationId !== 'upload_file' && operationId !== 'download_file';
}

/** Codes of the error envelope; none for an answer of another form. */
function codesOf(schema: Schema): readonly string[] {
  const narrowed = schema.allOf?.[1] as
    | { properties: { error: { properties: { code: Schema } } } }
    | undefined;
  return (narrowed?.properties.error.properties.code.enum ?? []) as string[];
}

/** Everything that can go wrong, done once. */
async function provocations(): Promise<readonly (readonly [Route, Answer])[]> {
  const done: [Route, Answer][] = [];
  const provoke = async (operationId: string, args: Arguments, key?: string | null, bytes?: string) => {
    const route = find(operationId);
    const answer = await send(route, args, key, bytes);
    if (answer.status >= 400) done.push([route, answer]);
    return answer.body as Record<string, string>;
  };

  const provokeTasks = async () => {
    const begun = { agentId: 'demo', message: 'hello', idempotency_key: 'a task' };
    const task = await provoke('create_task', begun);
    await provoke('create_task', { ...begun, message: 'bye' });
    await provoke('create_task', { agentId: 'nobody', message: 'x' });
    await provoke('create_task', { agentId: 'demo', message: 'x', context_id: `conv_${'a'.repeat(26)}` });
    await provoke('list_agent_tasks', { agentId: 'nobody' });
    await untilSettled(platform);
    await provoke('continue_task', { task_id: task.task_id, input: 'APPROVED' });
    for (const operation of ['read_task', 'list_task_messages', 'watch_task', 'cancel_task'])
      await provoke(operation, { task_id: 'task_none' });
    await provoke('continue_task', { task_id: 'task_none', input: 'APPROVED' });
  };

  const provokeConversations = async () => {
    const at = { agentId: 'demo', conversation_id: `conv_${'a'.repeat(26)}` };
    for (const operation of ['read_own_conversation', 'list_messages', 'watch_conversation'])
      await provoke(operation, at);
    await provoke('close_conversation', at);
    await provoke('post_message', { ...at, message: 'x' });
    await provoke('open_conversation', { agentId: 'nobody' });
    await provoke('list_own_conversations', { agentId: 'nobody' });
    const { conversation_id } = await provoke('open_conversation', { agentId: 'demo' });
    const opened = { agentId: 'demo', conversation_id };
    const once = { ...opened, idempotency_key: 'a message' };
    await provoke('post_message', { ...once, message: 'Ask a person first' });
    await provoke('post_message', { ...once, message: 'bye' });
    await untilSettled(platform);
    await provoke('close_conversation', opened);
    await provoke('cancel_conversation', { conversationId: conversation_id });
    await provoke('post_message', { ...opened, message: 'x' });
  };

  /** Calls whose agent is undeployed while it answers, and calls whose conversation another node takes over meanwhile. */
  const provokeInterrupted = async () => {
    const { store } = platform.platform;
    const version = { agentId: 'busy', version: 1 };
    await provoke('deploy_agent_file', { file: agentFile('busy', 300) });
    const trigger = { intent: 'busy', agentDeployments: [{ agentId: 'busy' }] };
    await provoke('create_agent_trigger', { config: JSON.stringify(trigger) });
    const atWork = async (): Promise<string> => {
      const row = await store.db
        .selectFrom('conversations')
        .select('id')
        .where('agent_id', '=', 'busy')
        .where('lease_until', 'is not', null)
        .executeTakeFirst();
      if (row) return row.id;
      await systemClock.sleep(5);
      return atWork();
    };
    const undeployed = async (): Promise<void> => {
      await provoke('undeploy_agent', { ...version, endConversations: true });
      await provoke('deploy_agent', version);
    };
    const takenOver = async (id: string): Promise<void> => {
      await store.commit(db =>
        db
          .updateTable('conversations')
          .set(eb => ({ lease_holder: null, lease_until: null, lease_fence: eb('lease_fence', '+', 1) }))
          .where('id', '=', id)
          .execute(),
      );
    };
    const args = { agentId: 'busy', message: 'x' };
    for (const interrupt of [undeployed, takenOver]) {
      for (const operation of ['create_conversation', 'open_conversation'])
        await Promise.all([provoke(operation, { agentId: 'busy' }), atWork().then(interrupt)]);
      for (const operation of ['chat_with_agent', 'trace_turn', 'invoke_agent'])
        await Promise.all([provoke(operation, args), atWork().then(interrupt)]);
      const { conversationId } = await provoke('create_conversation', { agentId: 'busy' });
      await Promise.all([provoke('talk_to_agent', { ...args, conversationId }), atWork().then(interrupt)]);
      await Promise.all([
        provoke('chat_managed', { intent: 'busy', userId: 'me', message: 'x' }),
        atWork().then(interrupt),
      ]);
    }
  };

  /** The demo agent is shared as often as it may be. */
  const fillShares = () =>
    platform.platform.store.db
      .insertInto('agent_shares')
      .values(
        Array.from({ length: 200 }, (_, number) => ({
          ...{ agent_id: 'demo', grantee: `user:user_${number}`, created_at: 0 },
        })),
      )
      .execute();

  /** A person's calls of an agent, until there are no more within this minute. */
  const useUpCalls = async () => {
    const { key } = await platform.addPerson(['patchbay-user']);
    for (let count = 0; count <= 120; count += 1)
      await provoke('invoke_agent', { agentId: 'nobody', message: 'x' }, key);
    for (const operation of ['create_task', 'open_conversation', 'post_message'])
      await provoke(operation, { agentId: 'nobody', message: 'x', conversation_id: 'x' }, key);
  };

  const approver = await platform.addPerson(['patchbay-approver']);
  const editor = await platform.addPerson(['patchbay-editor']);
  for (const { operationId, responses, security } of routes) {
    const example = exampleOf(find(operationId));
    if (needsCredential({ security })) await provoke(operationId, example, null);
    if (responses[400] && !['administration_read_docs', 'upload_file'].includes(operationId))
      await provoke(operationId, { ...example, unknown: 'x' });
    if (sendsJson(find(operationId))) await provoke(operationId, { ...example, unknown: 'x'.repeat(5_000) });
    if (responses[403]) await provoke(operationId, example, approver.key);
  }

  await provoke('administration_read_docs', { name: 'no page' });
  await provoke('administration_read_docs', { name: 'nothing' });
  await provoke('read_docs', { name: 'nothing' });
  await provoke('get_agent', { agentId: 'nobody' });
  await provoke('get_agent', { agentId: 'demo', version: 99 });
  await provokeDocuments(provoke);
  await provoke('create_conversation', { agentId: 'nobody' });
  await provoke('create_conversation', { agentId: 'demo', environment: 'test' });
  await provoke('chat_with_agent', { agentId: 'nobody', message: 'x' });
  await provoke('chat_with_agent', { agentId: 'demo', message: 'x', environment: 'test' });

  const { conversationId } = await provoke('create_conversation', { agentId: 'demo' });
  for (const [operation, args] of [
    ['chat_with_agent', { agentId: 'demo', message: 'x' }],
    ['talk_to_agent', { agentId: 'demo', message: 'x' }],
    ['read_conversation', {}],
    ['read_conversation_log', {}],
    ['read_agent_logs', {}],
    ['read_audit_trail', {}],
  ] as const) {
    await provoke(operation, { ...args, conversationId: 'conv_none' });
    await provoke(operation, { ...args, conversationId }, editor.key);
  }

  const { conversationId: waiting } = await provoke('chat_with_agent', WAITING_CALL);
  for (const [operation, args] of [
    ['get_approval_status', {}],
    ['resume_conversation', { verdict: 'APPROVED' }],
    ['cancel_conversation', {}],
    ['undo_turn', {}],
    ['redo_turn', {}],
  ] as const) {
    await provoke(operation, { ...args, conversationId: 'conv_none' });
    await provoke(operation, { ...args, conversationId: waiting }, editor.key);
  }
  await provoke('undo_turn', { conversationId: waiting });
  await provoke('redo_turn', { conversationId: waiting });
  await provoke('resume_conversation', {
    conversationId: waiting,
    verdict: 'APPROVED',
    pauseId: 'pause_none',
  });
  await provoke('cancel_conversation', { conversationId: waiting });
  await provoke('cancel_conversation', { conversationId: waiting });
  await provoke('resume_conversation', { conversationId: waiting, verdict: 'REJECTED' });

  await provoke('deploy_agent_file', { file: agentFile('demo') }, editor.key);
  await provokeExports(provoke);
  for (let made = 0; made <= 3; made++) await provoke('create_agent_key', { agentId: 'demo' });
  await provoke('create_agent_key', { agentId: 'nobody' });
  await provoke('revoke_key', { keyId: 'key_none' });
  await provoke('revoke_grant', { grantId: 'grant_none' });
  await provokePeople(provoke);
  await provoke('list_agent_keys', { agentId: 'nobody' });
  await provoke('revoke_agent_key', { agentId: 'nobody', keyId: 'key_none' });
  await provoke('revoke_agent_key', { agentId: 'demo', keyId: 'key_none' });
  await provoke('invoke_agent', { agentId: 'nobody', message: 'x' });
  await provoke('invoke_agent', { agentId: 'demo', message: 'show progress', timeout_ms: 50 });
  const call = { agentId: 'demo', message: 'hello', idempotency_key: 'once' };
  await provoke('invoke_agent', call);
  await provoke('invoke_agent', { ...call, message: 'bye' });
  await provoke('invoke_agent', { ...call, context_id: `conv_${'a'.repeat(26)}` });
  await provokeInterrupted();
  await useUpCalls();
  await provokeTasks();
  await provokeConversations();
  await provoke('read_file', { file_id: 'nothing' });
  await provoke('delete_file', { file_id: 'nothing' });
  await provoke('presign_upload', { filename: 'a', content_type: 'text/plain', size: 1_100_000_000 });
  const presigned = await provoke('presign_upload', { filename: 'a', content_type: 'text/plain', size: 1 });
  const ticket = (address: string) => Object.fromEntries(new URL(address).searchParams);
  const upload = { file_id: presigned.file_id, ...ticket(presigned.upload_url!) };
  await provoke('download_file', { file_id: 'nothing' });
  await provoke('download_file', { file_id: presigned.file_id });
  await provoke('download_file', upload, null);
  await provoke('upload_file', { ...upload, expires: '1' });
  await provoke('upload_file', upload, null, 'two');
  await provoke('upload_file', upload, null, '1');
  await provoke('upload_file', upload, null, '2');
  await provoke('presign_upload', { filename: 'a', content_type: 'text/plain', size: 2 * MIB });
  await provoke('read_own_agent', { agentId: 'nobody' });
  await provoke('change_own_agent', { agentId: 'nobody', mcp_enabled: true });
  await provoke('list_keys', { userId: 'user_nobody' }, approver.key);
  await provoke('create_key', { userId: 'user_nobody' });
  await provoke('list_agent_shares', { agentId: 'nobody' });
  for (const operation of ['share_agent', 'unshare_agent'])
    await provoke(operation, { agentId: 'nobody', with: 'everyone' });
  await provoke('share_agent', { agentId: 'demo', with: 'user:nobody' });
  await fillShares();
  await provoke('share_agent', { agentId: 'demo', with: 'everyone' });

  await provoke('deploy_agent_file', { file: agentFile('slow', 3_000) });
  await provoke('create_conversation', { agentId: 'slow' });
  await provoke('open_conversation', { agentId: 'slow' });
  await provoke('chat_with_agent', { agentId: 'slow', message: 'x' });
  const slow = { intent: 'slow', agentDeployments: [{ agentId: 'slow' }] };
  await provoke('create_agent_trigger', { config: JSON.stringify(slow) });
  await provoke('chat_managed', { intent: 'slow', userId: 'me', message: 'x' });
  const begun = await provoke('create_conversation', { agentId: 'demo' });
  await provoke('talk_to_agent', {
    agentId: 'demo',
    conversationId: begun.conversationId,
    message: 'show progress',
  });

  await provokeServers(provoke);
  await provoke('delete_secret', { name: 'nothing' });
  await provoke('delete_variable', { name: 'nothing' });
  await provoke('delete_credential', { name: 'nothing' });
  await fillUp();
  await provoke('put_secret', { name: 'one-more', value: 'not a real key' });
  await provoke('put_variable', { name: 'one-more', value: 'x' });
  await provoke('put_credential', { name: 'one-more', token: 'x' });
  const withKey = { ...exampleOf(find('setup_agent')), apiKey: 'not a real key' };
  await provoke('setup_agent', withKey);
  await loseVaultKey();
  await provoke('setup_agent', withKey);
  await provoke('put_secret', { name: 'one-more', value: 'not a real key' });
  await provoke('rotate_secrets', {});
  await provoke('put_credential', { name: 'one-more', token: 'x' });
  await provoke('add_server', {
    name: 'locked',
    options: { ...DOWN, headers: { authorization: 'Bearer x' } },
  });

  // What no operation does yet: taking a role away, undeploying, deleting.
  const { store, users } = platform.platform;
  const admin = await platform.addPerson(['patchbay-admin']);
  const known = await provoke('create_conversation', { agentId: 'demo' }, admin.key);
  await users.setRoles(admin.userId, ['patchbay-user']);
  await provoke(
    'talk_to_agent',
    { agentId: 'demo', conversationId: known.conversationId, message: 'x' },
    admin.key,
  );

  await provoke('deploy_agent_file', { file: agentFile('lost') });
  const left = await provoke('create_conversation', { agentId: 'lost' });
  await store.commit(async db => {
    await deleteDeploymentsOf(db, 'lost');
    await db
      .updateTable('documents')
      .set({ deleted: 1 })
      .where('type', '=', 'rules')
      .where('id', '=', 'lost')
      .execute();
  });
  await provoke('talk_to_agent', { agentId: 'lost', conversationId: left.conversationId, message: 'x' });
  await provoke('invoke_agent', { agentId: 'lost', message: 'x' });
  await provoke('open_conversation', { agentId: 'lost' });
  await provoke('deploy_agent_file', { file: agentFile('lost') });
  return done;
}

/** What is not there, and versions that are not current. */
async function provokeDocuments(provoke: (operationId: string, args: Arguments) => Promise<unknown>) {
  const body = { workflows: [] };
  const config = '{}';
  const mapping = { oldUri: 'patchbay://rules/x1?version=1', newUri: 'patchbay://rules/nothing?version=1' };
  for (const [operation, args] of [
    ['list_agent_resources', {}],
    ['deploy_agent', { version: 99 }],
    ['get_deployment_status', { version: 1 }],
    ['undeploy_agent', { version: 1, environment: 'test' }],
    ['update_agent', { version: 99 }],
    ['delete_agent', { version: 99 }],
    ['apply_agent_changes', { agentVersion: 99, resourceMappings: '[]' }],
    ['apply_agent_changes', { agentVersion: 0, resourceMappings: JSON.stringify([mapping]) }],
  ] as const) {
    for (const agentId of ['nobody', 'demo']) await provoke(operation, { agentId, ...args });
  }
  await provoke('list_agent_resources', { agentId: 'demo', version: 99 });
  for (const [intent, agentId] of [
    ['one', 'demo'],
    ['one', 'demo'],
    ['two', 'nobody'],
  ]) {
    const trigger = { intent, agentDeployments: [{ agentId }] };
    await provoke('create_agent_trigger', { config: JSON.stringify(trigger) });
  }
  const inTest = { intent: 'three', agentDeployments: [{ agentId: 'demo', environment: 'test' }] };
  await provoke('create_agent_trigger', { config: JSON.stringify(inTest) });
  await provoke('chat_managed', { intent: 'three', userId: 'me', message: 'x' });
  for (const agentId of ['demo', 'nobody']) {
    const trigger = JSON.stringify({ agentDeployments: [{ agentId }] });
    await provoke('update_agent_trigger', {
      intent: agentId === 'demo' ? 'nothing' : 'one',
      config: trigger,
    });
  }
  await provoke('delete_agent_trigger', { intent: 'nothing' });
  await provoke('chat_managed', { intent: 'nothing', userId: 'me', message: 'x' });
  await provoke('read_workflow', { workflowId: 'nothing' });
  for (const resourceId of ['nothing', 'demo']) {
    const resource = { resourceType: 'dictionaries', resourceId, version: 99 };
    await provoke('read_resource', resource);
    await provoke('update_resource', { ...resource, config });
    await provoke('delete_resource', resource);
  }
  await provoke('create_document', { type: 'agent', id: 'demo', body });
  for (const [type, id] of [
    ['agent', 'nobody'],
    ['agent', 'demo'],
    ['workflow', 'nothing'],
  ] as const) {
    const document = { type, id, version: 99 };
    await provoke('read_document', document);
    await provoke('update_document', { ...document, body: type === 'agent' ? body : { workflowSteps: [] } });
    await provoke('delete_document', document);
  }
}

const DOWN = { url: 'http://127.0.0.1:9/mcp' };

/** Servers that are not there, that are there already, and one that is down. */
async function provokeServers(provoke: (operationId: string, args: Arguments) => Promise<unknown>) {
  for (const operation of ['read_server', 'list_server_tools', 'accept_server_tools'])
    await provoke(operation, { name: 'nobody' });
  await provoke('call_server_tool', { name: 'nobody', tool: 'x' });
  for (const operation of ['discover_mcp_tools', 'mcpcallsstore_discover_tools'])
    await provoke(operation, DOWN);
  for (const operation of ['list_servers', 'reconcile_servers'])
    await provoke(operation, { instance: 'nowhere' });
  await provoke('remove_server', { name: 'x', instance: 'nowhere' });
  await provoke('add_server', { name: 'x', options: DOWN, instance: 'nowhere' });
  await provoke('add_server', { name: 'down', options: DOWN, wait: true });
  await provoke('add_server', { name: 'down', options: DOWN });
  await provoke('accept_server_tools', { name: 'down' });
  await using up = await startScriptedServer(({ method }) => ({
    result:
      method === 'server/discover' ? DISCOVERED : { tools: [{ name: 'x', inputSchema: { type: 'object' } }] },
  }));
  await provoke('add_server', { name: 'up', options: { url: up.url }, wait: true });
  await provoke('accept_server_tools', { name: 'up', digests: { x: 'another' } });
  const configured = { servers: { fixed: DOWN }, check: undefined, source: 'data' } as const;
  platform.platform.registry.configure({ default: configured });
  await provoke('remove_server', { name: 'fixed' });
}

/** An agent that is not there, and one that is another here. */
async function provokeExports(provoke: (operationId: string, args: Arguments) => Promise<unknown>) {
  await provoke('export_agent', { agentId: 'nobody' });
  await provoke('export_agent', { agentId: 'demo', version: 99 });
  await provoke('trace_turn', { agentId: 'nobody', message: 'x' });
  await provoke('trace_turn', { agentId: 'demo', message: 'x', environment: 'test' });
  await provoke('trace_turn', { agentId: 'demo', message: 'x', conversationId: 'conv_none' });
  await provoke('trace_turn', { agentId: 'demo', message: 'show progress' });
  await provoke('lint_agent', { agentId: 'nobody' });
  await provoke('lint_agent', { agentId: 'demo', version: 99 });
  await provoke('deploy_agent_file', { file: agentFile('carried') });
  const exported = (await provoke('export_agent', { agentId: 'carried' })) as {
    documents: { type: string; body: unknown }[];
  };
  const documents = exported.documents.map(document =>
    document.type === 'output' ? { ...document, body: { outputSet: [] } } : document,
  );
  await provoke('import_agent', { file: { ...exported, documents } });
}

/** As many secrets and variables as there may be. */
async function fillUp() {
  const of = { description: '', created_by: 'x', created_at: 0, modified_by: 'x', modified_at: 0 };
  await platform.platform.store.commit(async db => {
    const { id } = await db.selectFrom('data_keys').select('id').executeTakeFirstOrThrow();
    const secret = {
      data_key_id: id,
      sealed: new Uint8Array(1),
      checksum: '',
      allowed_agents: '[]',
      conversation_id: null,
      ...of,
    };
    await db
      .insertInto('personal_credentials')
      .values(
        Array.from({ length: 200 }, (_, index) => ({
          ...{ user_id: platform.platform.owner.id, name: `c${index}`, data_key_id: id },
          ...{ sealed: new Uint8Array(1), revision: 1, given: 1 },
          ...{ renewing_until: null, created_at: 0, updated_at: 0 },
        })),
      )
      .execute();
    for (let part = 0; part < 100; part += 1) {
      const names = Array.from({ length: 100 }, (_, index) => `${part}.${index}`);
      await db
        .insertInto('secrets')
        .values(names.map(name => ({ name, ...secret })))
        .execute();
      if (part >= 10) continue;
      const variables = names.map(name => ({ name, value: '', exportable: 1, ...of }));
      await db.insertInto('variables').values(variables).execute();
    }
  });
}

/** The database as it is for a node with another key. */
async function loseVaultKey() {
  await platform.platform.store.commit(async db => {
    await db.deleteFrom('secrets').execute();
    await db.deleteFrom('personal_credentials').execute();
    await db.updateTable('data_keys').set({ id: 'dek_other', vault_key_id: 'other' }).execute();
  });
}

/** An agent that answers everything with one word, typing for so long. */
function agentFile(agent: string, delay = 0) {
  return {
    agent,
    name: agent,
    description: 'Made by a test.',
    rules: { behaviorGroups: [{ name: 'always', rules: [{ name: 'answer', actions: ['answer'] }] }] },
    output: {
      outputSet: [
        { action: 'answer', outputs: [{ valueAlternatives: [{ type: 'text', text: 'Yes.', delay }] }] },
      ],
    },
  };
}

/** Nobody of that id, and what would leave the platform without an owner. */
async function provokePeople(provoke: (operationId: string, args: Arguments) => Promise<unknown>) {
  const nobody = { userId: 'user_none' };
  const owner = { userId: platform.platform.owner.id };
  const roles = ['patchbay-viewer'];
  await provoke('create_user', { login: 'owner', roles });
  await provoke('set_user_roles', { ...nobody, roles });
  await provoke('set_user_roles', { ...owner, roles });
  for (const operation of ['reset_user_password', 'disable_user', 'enable_user'])
    await provoke(operation, nobody);
  await provoke('disable_user', owner);
  const { userId } = await platform.addPerson(['patchbay-viewer']);
  await provoke('reset_user_password', { userId });
}
