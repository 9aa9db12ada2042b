import type { CallRequest, Connection } from '../../packages/server/src/connections/session/connection.ts';
import { SessionError } from '../../packages/server/src/connections/session/failure.ts';
import type {
  ConnectRequest,
  Pool,
  PoolOptions,
} from '../../packages/server/src/connections/session/pool.ts';
import type { FaultName, FaultServer } from './servers/fault-server.ts';
import { httpEndpoint, testPool } from './test-pool.ts';

/** What a call came to: the text of its answer, or how it failed. */
export type Heard =
  | { readonly text: string }
  | { readonly kind: string; readonly reached: string; readonly message: string };

export interface FaultRig extends AsyncDisposable {
  readonly pool: Pool;
  readonly connection: Connection;
  /** Calls the tool whose fault this is, with a mark of its own unless given. */
  call(fault?: FaultName, more?: Partial<CallRequest> & { readonly mark?: string }): Promise<Heard>;
}

let marks = 0;
export const newMark = (): string => `mark-${++marks}`;

/** A pool with a connection to a server. */
export function connectTo(
  { url }: Pick<FaultServer, 'url'>,
  options: Partial<PoolOptions> & Partial<Omit<ConnectRequest, 'endpoint'>> = {},
): FaultRig {
  const pool = testPool(options);
  const connection = pool.connection({
    endpoint: httpEndpoint(url),
    scope: options.scope ?? 'test',
    connectTimeoutMs: 5_000,
    ...options,
  });
  return {
    pool,
    connection,
    call: (fault, more) => call(connection, fault, more),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

export async function call(
  connection: Connection,
  fault: FaultName = 'none',
  { mark = newMark(), ...more }: Partial<CallRequest> & { readonly mark?: string } = {},
): Promise<Heard> {
  return heard(
    connection.request({
      method: 'tools/call',
      params: { name: 'call', arguments: { fault, mark } },
      timeoutMs: 20_000,
      ...more,
    }),
  );
}

export async function heard(answer: Promise<Readonly<Record<string, unknown>>>): Promise<Heard> {
  try {
    const [part] = (await answer).content as [{ text: string }];
    return { text: part.text };
  } catch (thrown) {
    if (!(thrown instanceof SessionError)) throw thrown;
    const { kind, reached, message } = thrown;
    return { kind, reached, message };
  }
}
