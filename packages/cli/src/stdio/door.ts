import { createClient } from '@patchbay/contract/client';
import { type Connection, type ConnectionOptions, findConnection } from '../connection.ts';
import type { Io } from '../io.ts';

/** Where a message goes, and the credential for it. */
export interface Entrance {
  readonly url: string;
  readonly token: string | undefined;
}

/** One MCP door of a platform that may be restarted while we run. */
export interface Door {
  /** Asked before every message: a restarted platform has another owner token, perhaps another port. */
  enter(): Promise<Entrance>;
  /** After a 401: may another try with `enter` end otherwise? */
  renew(refused: Entrance): Promise<boolean>;
  /** Gives back what was made for this bridge. */
  close(): Promise<void>;
}

/** The operator door: opens to the owner of this machine's platform as well as to a key. */
export function operatorDoor(io: Io, options: ConnectionOptions): Door {
  async function enter(): Promise<Entrance> {
    const { operatorUrl, token } = await findConnection(io, options);
    return { url: operatorUrl, token };
  }
  return {
    enter,
    renew: async refused => (await enter()).token !== refused.token,
    close: async () => {},
  };
}

/**
 * `/{agentId}/mcp`: opens to keys only. Without one given, the owner makes one for this bridge, which ends with it; should
 * we be killed, it ends within a day. It is an `oag_`: of `bak_` keys an agent has three at the most, which people give out, and
 * a host may start more bridges than that.
 */
export function agentDoor(io: Io, options: ConnectionOptions, agentId: string): Door {
  let made: Promise<{ id: string; key: string }> | undefined;

  const restClient = (connection: Connection) => createClient({ ...connection, fetch: io.fetch });

  async function keyFor(connection: Connection): Promise<string | undefined> {
    if (!connection.asLocalOwner) return connection.token;
    made ??= restClient(connection)
      .call('create_key', { name: `stdio ${agentId}`, scopes: ['agents'], expiresInDays: 1 })
      .catch(thrown => {
        made = undefined;
        throw thrown;
      });
    return (await made).key;
  }

  return {
    async enter() {
      const connection = await findConnection(io, options);
      return { url: `${connection.baseUrl}/${agentId}/mcp`, token: await keyFor(connection) };
    },

    async renew(refused) {
      const connection = await findConnection(io, options);
      if (!connection.asLocalOwner) return false;
      const current = made;
      const key = await current;
      // Another message was refused with it too, and has let go of it or made the next one.
      if (key?.key !== refused.token) return true;
      // A key that is still active was refused for another reason: the agent, not the key.
      const { keys } = await restClient(connection).call('list_keys', {});
      if (keys.some(active => active.id === key?.id)) return false;
      if (made === current) made = undefined;
      return true;
    },

    async close() {
      if (!made) return;
      const { id } = await made;
      await restClient(await findConnection(io, options)).call('revoke_key', { keyId: id });
    },
  };
}
