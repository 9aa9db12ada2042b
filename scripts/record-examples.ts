import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createClient } from '@patchbay/contract/client';
import { OPERATIONS, type Operation, type OperationName } from '@patchbay/contract/operations';
import type { RecordedExample, RecordedExamples } from '@patchbay/contract/reference';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { systemClock } from '../packages/server/src/kernel/clock.ts';
import { insertGrant } from '../packages/server/src/store/tables/grants.ts';
import { type Generated, writeGenerated } from './generated-file.ts';

const FILE = 'packages/contract/src/examples.generated.json';

/** The recorded time starts here and moves on by a minute with each call. */
const FIRST_CALL = Date.UTC(2027, 0, 1, 9);
const MAX_TEXT = 160;

type Answers = (name: OperationName) => Readonly<Record<string, unknown>>;

/** Where the definition has no example: only earlier answers can give the ids. And where its example has another answer each time. */
const ARGUMENTS: Readonly<
  Partial<Record<OperationName, (answers: Answers, test: TestPlatform) => Record<string, unknown>>>
> = {
  chat_with_agent: () => ({ agentId: 'demo', message: 'How do I connect a client?' }),
  chat_managed: () => ({ intent: 'get-started', userId: 'anybody', message: 'How do I connect a client?' }),
  invoke_agent: () => ({ agentId: 'demo', message: 'How do I connect a client?' }),
  talk_to_agent: answers => ({
    agentId: 'demo',
    conversationId: answers('create_conversation').conversationId,
    message: 'How do I create a key?',
  }),
  read_conversation: answers => ({
    conversationId: answers('create_conversation').conversationId,
    returningFields: 'input,output',
  }),
  read_conversation_log: answers => ({
    conversationId: answers('create_conversation').conversationId,
    logSize: 1,
  }),
  undo_turn: answers => ({ conversationId: answers('create_conversation').conversationId }),
  redo_turn: answers => ({ conversationId: answers('create_conversation').conversationId }),
  read_audit_trail: answers => ({
    conversationId: answers('create_conversation').conversationId,
    limit: 1,
  }),
  deploy_agent_file: () => ({
    file: {
      agent: 'parrot',
      name: 'Parrot',
      description: 'Says what you said.',
      rules: { behaviorGroups: [{ name: 'always', rules: [{ name: 'repeat', actions: ['repeat'] }] }] },
      output: {
        outputSet: [
          { action: 'repeat', outputs: [{ valueAlternatives: [{ type: 'text', text: '{{ input }}' }] }] },
        ],
      },
    },
  }),
  trace_turn: answers => ({
    agentId: 'demo',
    conversationId: answers('create_conversation').conversationId,
    message: 'How do I connect a client?',
  }),
  export_agent: () => ({ agentId: 'parrot' }),
  import_agent: answers => ({ file: answers('export_agent') }),
  create_agent: () => ({
    name: 'Front desk',
    description: 'Answers visitors.',
    workflowUris: 'patchbay://workflow/demo?version=1',
  }),
  update_agent: answers => ({
    agentId: answers('create_agent').agentId,
    version: 1,
    description: 'Answers visitors in the hall.',
  }),
  apply_agent_changes: () => ({
    agentId: 'demo',
    agentVersion: 1,
    resourceMappings: JSON.stringify([
      { oldUri: 'patchbay://output/demo?version=7', newUri: 'patchbay://output/demo?version=1' },
    ]),
  }),
  delete_agent: answers => ({ agentId: answers('create_agent').agentId, version: 0 }),
  update_resource: answers => ({
    resourceType: 'dictionaries',
    resourceId: answers('create_resource').resourceId,
    version: 1,
    config: '{"words":[{"word":"tea","expressions":"drink(tea)"}]}',
  }),
  delete_resource: answers => ({
    resourceType: 'dictionaries',
    resourceId: answers('create_resource').resourceId,
    version: 2,
  }),
  update_document: () => ({
    type: 'workflow',
    id: 'front-desk',
    version: 1,
    body: {
      workflowSteps: [
        { type: 'rules', config: { uri: 'patchbay://rules/demo?version=1' } },
        { type: 'output', config: { uri: 'patchbay://output/demo?version=1' } },
      ],
    },
  }),
  delete_document: () => ({ type: 'workflow', id: 'front-desk', version: 2 }),
  revoke_grant: answers => ({ grantId: (answers('list_grants').grants as { id: string }[])[0]!.id }),
  revoke_key: answers => ({ keyId: answers('create_key').id }),
  set_user_roles: answers => ({
    userId: answers('create_user').userId,
    roles: ['patchbay-editor', 'patchbay-approver'],
  }),
  reset_user_password: answers => ({ userId: answers('create_user').userId }),
  disable_user: answers => ({ userId: answers('create_user').userId }),
  enable_user: answers => ({ userId: answers('create_user').userId }),
  read_task: answers => ({ task_id: answers('create_task').task_id }),
  list_task_messages: answers => ({ task_id: answers('create_task').task_id, limit: 2 }),
  watch_task: answers => ({ task_id: answers('create_task').task_id, since: 2 }),
  continue_task: answers => ({ task_id: answers('create_task').task_id, input: 'APPROVED' }),
  cancel_task: answers => ({ task_id: answers('create_task').task_id, reason: 'No longer needed' }),
  read_own_conversation: answers => inConversation(answers),
  post_message: answers => ({ ...inConversation(answers), message: 'How do I connect a client?' }),
  list_messages: answers => ({ ...inConversation(answers), since: 1 }),
  watch_conversation: answers => ({ ...inConversation(answers), since: 2 }),
  close_conversation: answers => inConversation(answers),
  read_file: answers => ({ file_id: answers('presign_upload').file_id }),
  delete_file: answers => ({ file_id: answers('presign_upload').file_id }),
  revoke_agent_key: answers => ({ agentId: 'demo', keyId: answers('create_agent_key').id }),
  delete_secret: answers => ({ name: answers('put_secret').name }),
  delete_credential: answers => ({ name: answers('put_credential').name }),
  delete_variable: answers => ({ name: answers('put_variable').name }),
  // The server that is always there: the platform itself.
  add_server: (_, test) => ({
    name: 'handbook',
    options: {
      url: test.operatorUrl,
      headers: { authorization: `Bearer ${test.ownerToken}` },
      only: ['list_docs', 'read_docs'],
    },
    wait: true,
  }),
  discover_mcp_tools: (_, test) => ({ url: test.operatorUrl, apiKey: test.ownerToken, limit: 1 }),
  read_server: () => ({ name: 'handbook' }),
  list_server_tools: () => ({ name: 'handbook', after: 'list_deployments', limit: 1 }),
  accept_server_tools: () => ({ name: 'handbook', tools: ['list_docs', 'read_docs'] }),
  call_server_tool: () => ({ name: 'handbook', tool: 'read_docs', arguments: { name: 'keys' } }),
  remove_server: () => ({ name: 'handbook' }),
};

/** What a platform needs for its own address to be one that it calls. */
export const SELF_CALLING = { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' };

/** Answered by a turn that waits: what the examples of approvals are about. */
export const WAITING_CALL = { agentId: 'demo', message: 'Ask a person first' };

/** Operations whose example is about a conversation that waits for an approval, with what they are told besides its id. */
export const ABOUT_WAITING: Readonly<Partial<Record<OperationName, Record<string, unknown>>>> = {
  get_approval_status: {},
  resume_conversation: { verdict: 'APPROVED', note: 'Go on.' },
  cancel_conversation: {},
};

/** What agents do in the background has come to rest: the next answer depends on it. */
export async function untilSettled({ platform: { store } }: TestPlatform): Promise<void> {
  for (;;) {
    const atWork = await store.db
      .selectFrom('deliveries')
      .leftJoin('conversations', 'conversations.id', 'deliveries.conversation_id')
      .select('deliveries.id')
      .where('deliveries.ended_at', 'is', null)
      .where(eb =>
        eb.or([eb('deliveries.state', '<>', 'waiting'), eb('conversations.state', '<>', 'AWAITING_HUMAN')]),
      )
      .executeTakeFirst();
    if (!atWork) return;
    await systemClock.sleep(10);
  }
}

function inConversation(answers: Answers) {
  return { agentId: 'demo', conversation_id: answers('open_conversation').conversation_id };
}

/** What a person allows on the page that asks, for the examples about it. */
export async function allowClient({ platform: { store, owner } }: TestPlatform, at: number): Promise<void> {
  await store.commit(db =>
    insertGrant(db, {
      ...{ id: 'grant_bcdefghijklmnopqrstuvwxyza', userId: owner.id, clientId: 'patchbay-mcp' },
      ...{ clientName: 'Patchbay MCP', door: 'agents', agentIds: ['demo'], scope: 'agents' },
      ...{ createdAt: at, expiresAt: at + 90 * 24 * 3_600_000, revokedAt: undefined },
    }),
  );
}

/** Calls every operation once, in the order of the reference, on a fresh platform, and notes what it answers. */
export async function recordExamples(): Promise<RecordedExamples> {
  let now = FIRST_CALL;
  const test = await startTestPlatform({
    env: SELF_CALLING,
    overrides: { clock: { ...systemClock, now: () => now } },
  });
  try {
    const { keys, owner } = test.platform;
    // Made for tests; a fresh installation has none.
    for (const { id } of await keys.list(owner.id)) await keys.revoke(owner.id, id);

    await allowClient(test, now);
    const client = createClient({ baseUrl: test.url, token: test.ownerToken, fetch });
    const answers = new Map<string, Record<string, unknown>>();
    const recorded: Record<string, RecordedExample> = {};
    for (const { name, examples } of OPERATIONS as readonly Operation[]) {
      now += 60_000;
      const about = ABOUT_WAITING[name];
      const args = about
        ? { conversationId: (await client.call('chat_with_agent', WAITING_CALL)).conversationId, ...about }
        : (ARGUMENTS[name]?.(earlier => answers.get(earlier)!, test) ?? examples[0]);
      if (!args) throw new Error(`${name} has no example: give its definition one, or ARGUMENTS.`);
      const answer: Record<string, unknown> = await client.call(name, args as never);
      await untilSettled(test);
      answers.set(name, answer);
      recorded[name] = { arguments: args, answer: JSON.parse(JSON.stringify(answer), cutText) };
    }
    return JSON.parse(withMadeUpIds(JSON.stringify(recorded).replaceAll(test.ownerToken, MADE_UP_KEY)));
  } finally {
    await test.close();
  }
}

/** Stands for a key that opens the operator door. */
export const MADE_UP_KEY = 'oag_01234567...';

/** Random ids and secrets, the same at every recording: they look like what they stand for and are nobody's. */
function withMadeUpIds(text: string): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz';
  const madeUp = new Map<string, string>();
  return text
    .replace(
      /\b(conv|user|key|file|task|msg|pause|agent|dictionary)_([a-z2-7]{20,26})\b/g,
      (id, kind: string, random: string) => {
        const count = [...madeUp.keys()].filter(other => other.startsWith(kind)).length;
        const turned = alphabet.slice(count) + alphabet.slice(0, count);
        if (!madeUp.has(id)) madeUp.set(id, `${kind}_${turned.slice(0, random.length)}`);
        return madeUp.get(id)!;
      },
    )
    .replace(/"checksum":"[0-9a-f]{16}"/g, '"checksum":"0123456789abcdef"')
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, 'http://127.0.0.1:7070')
    .replace(/(\/sign-in\/link\/)[\w-]{43}/g, '$1...')
    .replace(/signature=[\w-]+/g, 'signature=...')
    .replace(/\baudit_[a-z2-7]{26}_/g, 'audit_bcdefghijklmnopqrstuvwxyza_')
    .replace(/("hmac":")[\w-]{43}"/g, '$1nF3hYl0c9wQm1T6oZr8sVb2dKx5uEa7gJp4iLtCyWqA"')
    .replace(/\b(oag|bak)_[0-9a-f]{64}\b/g, '$1_01234567...')
    .replace(/\b(oag|bak)_[0-9a-f]{8}\b/g, '$1_01234567');
}

function cutText(_key: string, value: unknown): unknown {
  return typeof value === 'string' && value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}...` : value;
}

/** Records the examples again; with `check`, only compares. */
export async function generateExamples(options: { readonly check: boolean }): Promise<Generated> {
  return writeGenerated(FILE, `${JSON.stringify(await recordExamples(), null, 2)}\n`, options);
}

/** As they were recorded last. */
export async function readExamples(): Promise<RecordedExamples> {
  return JSON.parse(await readFile(path.resolve(import.meta.dirname, '..', FILE), 'utf8'));
}
