import { closestName } from '../kernel/closest-name.ts';
import { PlatformError } from '../kernel/errors.ts';
import { isObject } from '../kernel/json.ts';

/** What a configuration file says of MCP servers. Which options a server has is not looked at here. */
export type ServerSections = Readonly<Record<string, InstanceSection>>;

export interface InstanceSection {
  /** Options by name of the server. */
  readonly servers: Readonly<Record<string, unknown>>;
  readonly check: ((url: string) => unknown) | undefined;
  readonly source: 'code' | 'data';
}

/** Members of the file that are no settings. `check` stands beside `servers`, and both mean the default instance. */
export const SERVER_SECTIONS: ReadonlySet<string> = new Set(['servers', 'instances', 'check']);

const DEFAULT = 'default';
const MEMBERS = ['servers', 'check'];

/** Throws a `PlatformError` of kind `invalid` that names the member of the file and what is wrong with it. */
export function readServerSections(
  file: Readonly<Record<string, unknown>>,
  { shown, source }: { readonly shown: string; readonly source: 'code' | 'data' },
): ServerSections {
  const problems: string[] = [];
  const say = (place: string, problem: string) => problems.push(`${place} in ${shown} ${problem}.`);
  const read = (place: string, section: Readonly<Record<string, unknown>>): InstanceSection => {
    const { servers = {}, check } = section;
    const prefix = place === '' ? '' : `${place}.`;
    if (!isObject(servers)) say(`${prefix}servers`, 'must be an object: options by name of the server');
    if (check !== undefined && typeof check !== 'function') {
      say(
        `${prefix}check`,
        source === 'code' ? 'must be a function' : 'must be a function, which patchbay.config.ts can have',
      );
    }
    return { servers: isObject(servers) ? servers : {}, check: isCheck(check) ? check : undefined, source };
  };
  const { servers, check, instances = {} } = file;
  const sections: Record<string, InstanceSection> = {};
  if (servers !== undefined || check !== undefined) sections[DEFAULT] = read('', { servers, check });
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
        near === undefined ? 'is unknown; there are servers and check' : `is unknown; did you mean ${near}`,
      );
    }
    if (Object.hasOwn(sections, name))
      say(place, 'and servers or check beside it mean the same instance; keep one');
    else sections[name] = read(place, section);
  }
  if (problems.length > 0) throw new PlatformError('invalid', problems.join('\n'), { details: { problems } });
  return sections;
}

function isCheck(value: unknown): value is (url: string) => unknown {
  return typeof value === 'function';
}
