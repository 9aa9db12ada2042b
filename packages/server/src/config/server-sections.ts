import { closestName } from '../kernel/closest-name.ts';
import { PlatformError } from '../kernel/errors.ts';
import { isObject } from '../kernel/json.ts';

/** What a configuration file says of MCP servers. Which options a server has is not looked at here. */
export type ServerSections = Readonly<Record<string, InstanceSection>>;

export interface InstanceSection {
  /** Options by name of the server. */
  readonly servers: Readonly<Record<string, unknown>>;
  readonly check: ((url: string) => unknown) | undefined;
  /** Where people's own credentials come from, if not from the platform. */
  readonly credentials: CredentialsSection | undefined;
  readonly source: 'code' | 'data';
}

/** Code of the configuration; what it answers is not looked at here. */
export interface CredentialsSection {
  readonly find: (name: string, principalId: string) => unknown;
  readonly refused: ((who: object, what: object) => unknown) | undefined;
}

/** Members of the file that are no settings. `check` and `credentials` stand beside `servers`, and all mean the default instance. */
export const SERVER_SECTIONS: ReadonlySet<string> = new Set(['servers', 'instances', 'check', 'credentials']);

const DEFAULT = 'default';
const MEMBERS = ['servers', 'check', 'credentials'];

/** Throws a `PlatformError` of kind `invalid` that names the member of the file and what is wrong with it. */
export function readServerSections(
  file: Readonly<Record<string, unknown>>,
  { shown, source }: { readonly shown: string; readonly source: 'code' | 'data' },
): ServerSections {
  const problems: string[] = [];
  const say = (place: string, problem: string) => problems.push(`${place} in ${shown} ${problem}.`);
  const read = (place: string, section: Readonly<Record<string, unknown>>): InstanceSection => {
    const { servers = {}, check, credentials } = section;
    const prefix = place === '' ? '' : `${place}.`;
    if (!isObject(servers)) say(`${prefix}servers`, 'must be an object: options by name of the server');
    if (check !== undefined && typeof check !== 'function') {
      say(
        `${prefix}check`,
        source === 'code' ? 'must be a function' : 'must be a function, which patchbay.config.ts can have',
      );
    }
    if (credentials !== undefined) {
      const problem = credentialsProblem(credentials, source);
      if (problem !== undefined) say(`${prefix}credentials`, problem);
    }
    return {
      servers: isObject(servers) ? servers : {},
      check: isFunction(check) ? check : undefined,
      credentials: isObject(credentials) ? (credentials as unknown as CredentialsSection) : undefined,
      source,
    };
  };
  const { servers, check, credentials, instances = {} } = file;
  const sections: Record<string, InstanceSection> = {};
  if (servers !== undefined || check !== undefined || credentials !== undefined)
    sections[DEFAULT] = read('', { servers, check, credentials });
  if (!isObject(instances)) say('instances', 'must be an object: { "name": { "servers": { ... } } }');
  for (const [name, section] of isObject(instances) ? Object.entries(instances) : []) {
    const place = `instances.${name}`;
    if (!isObject(section)) {
      say(place, 'must be an object: { "servers": { ... } }');
      continue;
    }
    for (const key of Object.keys(section)) {
      if (MEMBERS.includes(key)) continue;
      const near = closestName(key, MEMBERS);
      say(
        `${place}.${key}`,
        near === undefined
          ? `is unknown; there are ${MEMBERS.join(', ')}`
          : `is unknown; did you mean ${near}`,
      );
    }
    if (Object.hasOwn(sections, name))
      say(place, 'and servers, check or credentials beside it mean the same instance; keep one');
    else sections[name] = read(place, section);
  }
  if (problems.length > 0) throw new PlatformError('invalid', problems.join('\n'), { details: { problems } });
  return sections;
}

const CREDENTIALS = ['find', 'refused'];

function credentialsProblem(value: unknown, source: 'code' | 'data'): string | undefined {
  if (source === 'data') return 'has functions, which patchbay.config.ts can have';
  if (!isObject(value)) return 'must be an object with the functions find and refused';
  const unknown = Object.keys(value).find(name => !CREDENTIALS.includes(name));
  if (unknown !== undefined) return `has a member ${JSON.stringify(unknown)}; there are find and refused`;
  if (typeof value.find !== 'function') return 'must have a function find(name, principalId)';
  return value.refused === undefined || typeof value.refused === 'function'
    ? undefined
    : 'must have as refused a function (who, what), or none';
}

function isFunction(value: unknown): value is (url: string) => unknown {
  return typeof value === 'function';
}
