import { createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { expect } from 'vitest';
import type { GrantRecord } from '../../../packages/server/src/store/tables/grants.ts';
import { type Browser, createBrowser } from '../../authorization/browser.ts';
import { newClient, signedIn, type TestClient } from '../../authorization/rig.ts';
import { createTokenKit, type TokenKit } from '../../authorization/tokens.ts';
import { rpc, type WireAnswer, type WireOptions } from '../../doors/wire.ts';
import { createMinuteClock, createTrail, type Trail } from './trail.ts';

export const PASSWORD = 'seven brown lanterns';
/** Where the documents are that describe clients. */
export const DOCUMENTS = 'https://editor.example/';
/** Calls of one credential that an agent takes in a minute. */
export const CALLS_A_MINUTE = 3;

/** One platform that everything is tried on, as somebody finds it who knows all but its secrets. */
export interface World {
  readonly platform: TestPlatform;
  readonly trail: Trail;
  readonly kit: TokenKit;
  readonly owner: string;
  /** May see, and talk to agents that are shared with them. */
  readonly mallory: { readonly id: string; readonly key: string };
  /** The owner, signed in. */
  readonly browser: Browser;
  /** Registered, allowed nothing yet. */
  readonly client: TestClient;
  /** Of the owner, for `demo`, `second` and `hidden`, which is not MCP-enabled. */
  readonly grant: GrantRecord;
  readonly operatorGrant: GrantRecord;
  /** What is answered to who asks for the document of a client. */
  readonly documents: Map<string, () => Response>;
  /** The operator door as the owner. */
  readonly call: ReturnType<typeof createClient>['call'];
  agent(agentId: string, options?: WireOptions): Promise<WireAnswer>;
  operator(options?: WireOptions): Promise<WireAnswer>;
  rest(headers: Readonly<Record<string, string>>, path?: string): Promise<Response>;
  /** Everything that opens something, by table and id. */
  belongings(): Promise<Set<string>>;
  close(): Promise<void>;
}

/** One way to get at what is somebody else's. */
export interface Attack {
  /** With its number in attacks.md, or `(our own)`. */
  readonly name: string;
  /** `door: reason`, or `operation: reason`, as the audit trail names it. */
  readonly refused: string;
  /** Prepares it. What is answered carries it out, and expects that nothing comes of it. */
  readonly plan: (world: World) => Attempt | Promise<Attempt>;
}

type Attempt = () => Promise<unknown>;

export async function startWorld(): Promise<World> {
  const clock = createMinuteClock();
  const documents = new Map<string, () => Response>();
  const fetchClientDocument = async (url: string | URL) => documents.get(String(url))!();
  const platform = await startTestPlatform({
    env: { PATCHBAY_AGENT_DOOR_RATE: String(CALLS_A_MINUTE) },
    overrides: { clock, fetchClientDocument },
  });
  const kit = await createTokenKit(platform);
  const owner = platform.platform.owner.id;
  const { call } = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
  for (const agent of ['second', 'hidden', 'shared'])
    await call('deploy_agent_file', {
      file: {
        ...{ agent, name: agent, mcp_enabled: agent !== 'hidden' },
        ...{ rules: { behaviorGroups: [] }, output: { outputSet: [] } },
      },
    });
  const { userId, key } = await platform.addPerson(['patchbay-viewer']);
  return {
    ...{ platform, kit, owner, call, documents },
    trail: createTrail(platform, clock),
    mallory: { id: userId, key },
    browser: await signedIn(platform),
    client: await newClient(platform),
    grant: await kit.allow(owner, { agentIds: ['demo', 'hidden', 'nobody'] }),
    operatorGrant: await kit.allow(owner, { door: 'operator' }),
    agent: (agentId, options) => rpc(platform.agentUrl(agentId), 'tools/list', {}, options),
    operator: options => rpc(platform.operatorUrl, 'tools/list', {}, options),
    rest: (headers, path = '/api/v1/agents') => fetch(platform.url + path, { headers }),
    belongings: () => belongingsIn(platform),
    close: () => platform.close(),
  };
}

const OPENING = { keys: 'id', grants: 'id', page_sessions: 'id_hash', users: 'id', agents: 'id' } as const;

async function belongingsIn({ platform }: TestPlatform): Promise<Set<string>> {
  const { db } = platform.store;
  const found = new Set<string>();
  for (const [table, id] of Object.entries(OPENING) as [keyof typeof OPENING, 'id'][]) {
    for (const row of await db.selectFrom(table).select(id).execute()) found.add(`${table} ${row[id]}`);
  }
  const records = await db.selectFrom('authorization_records').selectAll().execute();
  const usable = Map.groupBy(
    // A sign-in under way opens nothing.
    records.filter(({ kind, used_at }) => !['Interaction', 'Session'].includes(kind) && used_at === null),
    ({ kind, id, grant_id }) => `${kind} of ${grant_id ?? id}`,
  );
  // One takes the place of another one: what counts is how many.
  for (const [name, { length }] of usable) for (let at = 0; at < length; at += 1) found.add(`${name} ${at}`);
  for (const share of await db.selectFrom('agent_shares').selectAll().execute())
    found.add(`share ${share.agent_id} ${share.grantee}`);
  for (const user of await db.selectFrom('users').selectAll().execute())
    found.add(`roles ${user.id} ${user.roles}`);
  for (const one of await db.selectFrom('personal_credentials').selectAll().execute())
    found.add(`credential ${one.user_id} ${one.name}`);
  return found;
}

export function nobody({ platform }: World): Browser {
  return createBrowser(platform.url);
}

/** Not let in, and told nothing but that. */
export async function expectShut(answer: Promise<{ readonly status: number }>): Promise<void> {
  expect((await answer).status).toBe(401);
}
