import { ProtocolError, ResourceNotFoundError } from '@modelcontextprotocol/server';
import { toPlatformError } from '../../kernel/errors.ts';
import type { Caller, DoorResources } from './door.ts';
import { answerFailure } from './exchange.ts';

/** The resource methods of a door, with every refusal as the protocol error it is. */
export function resourceMethods<C extends Caller>(resources: DoorResources<C>, caller: C) {
  async function guarded<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (thrown) {
      const { code, message, data } = answerFailure(thrown, caller).error;
      const isForbidden = toPlatformError(thrown, '').kind === 'forbidden';
      throw new ProtocolError(isForbidden ? resources.forbiddenCode : code, message, data);
    }
  }
  return {
    list: () => guarded(() => resources.list(caller)),
    templates: () => guarded(() => resources.templates(caller)),
    async read(uri: string) {
      const content = await guarded(() => resources.read(caller, uri));
      if (!content) throw new ResourceNotFoundError(uri);
      return { contents: [content] };
    },
  };
}
