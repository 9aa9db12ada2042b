import type { ServerDefinition, ServerRef } from '../../connections/server/definition.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { McpcallsDocument } from './mcpcalls.ts';

const PREFIX = 'patchbay:servers/';
const NAMED = /^(?:([A-Za-z0-9_-]{1,64})\/)?([A-Za-z0-9_-]{1,64})$/;

/** The server that `github` or `instance/github` names; `undefined` where the text is no such name. */
export function readServerName(text: string): ServerRef | undefined {
  const [, scope = 'default', name] = NAMED.exec(text) ?? [];
  return name === undefined ? undefined : { scope, name };
}

/** The server that `patchbay:servers/<name>` names; `undefined` where the address is no such name. */
export function registeredServerOf(address: string): ServerRef | undefined {
  return address.startsWith(PREFIX) ? readServerName(address.slice(PREFIX.length)) : undefined;
}

/** A registered server as an mcpcalls document uses it. */
export interface RegisteredServer {
  readonly ref: ServerRef;
  /** The definition with what the document narrows it by: the same object for the same definition. */
  narrow(definition: ServerDefinition): ServerDefinition;
}

/**
 * The registered server an mcpcalls document names: `patchbay:servers/<name>` of the default instance, or `patchbay:servers/<instance>/<name>`
 * (decisions.md 5). `undefined` where it names an address. Throws a `PlatformError` of kind `invalid`.
 */
export function registeredServer(document: McpcallsDocument): RegisteredServer | undefined {
  const { mcpServerUrl, toolsWhitelist = [], toolsBlacklist = [], timeoutMs, apiKey, transport } = document;
  if (!mcpServerUrl.startsWith('patchbay:')) return undefined;
  const ref = registeredServerOf(mcpServerUrl);
  if (!ref) {
    throw wrong(
      'mcpServerUrl',
      'names a registered server as patchbay:servers/<name> or patchbay:servers/<instance>/<name>',
    );
  }
  if (apiKey !== undefined && apiKey !== '')
    throw wrong('apiKey', 'belongs to the registered server; leave it out here');
  if (transport !== undefined)
    throw wrong('transport', 'belongs to the registered server; leave it out here');
  const narrowed = new WeakMap<ServerDefinition, ServerDefinition>();
  return {
    ref,
    narrow(definition) {
      let own = narrowed.get(definition);
      if (!own) {
        const { only, except } = definition;
        own = {
          ...definition,
          only:
            toolsWhitelist.length === 0 ? only : toolsWhitelist.filter(tool => only?.includes(tool) ?? true),
          except: [...except, ...toolsBlacklist],
          callTimeoutMs: timeoutMs ?? definition.callTimeoutMs,
          // Who limits a server to some of its tools has not opened its resources (E-86 speaks of a document's own lists).
          exposeResources:
            definition.exposeResources || (document.exposeResources && definition.only === undefined),
        };
        narrowed.set(definition, own);
      }
      return own;
    },
  };
}

function wrong(field: string, problem: string): PlatformError {
  return new PlatformError('invalid', `mcpcalls document: field "${field}" at $.${field} ${problem}.`, {
    details: { path: `$.${field}`, field },
  });
}
