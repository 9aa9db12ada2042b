import { PlatformError } from '../../kernel/errors.ts';
import { compileText } from '../../secrets/reference-text.ts';
import type { ConfiguredCredentials } from '../credential/configured-credentials.ts';
import type { AddressCheck } from './address-check.ts';
import type { ServerDefinition } from './definition.ts';
import { nameProblem, readServerOptions } from './server-options.ts';
import type { TextChecks } from './transport-texts.ts';

/** The instance that is always there. */
export const DEFAULT_INSTANCE = 'default';

/** What the configuration says of an instance. */
export interface ConfiguredInstance {
  /** Options by name of the server. */
  readonly servers: Readonly<Record<string, unknown>>;
  readonly check: AddressCheck | undefined;
  /** Where people's own credentials come from; from the platform unless given. */
  readonly credentials?: ConfiguredCredentials | undefined;
  /** Only code can hold functions. */
  readonly source: 'code' | 'data';
}

export type ConfiguredInstances = Readonly<Record<string, ConfiguredInstance>>;

/** An instance of the configuration, read. */
export interface StaticInstance {
  readonly check: AddressCheck | undefined;
  readonly credentials: ConfiguredCredentials | undefined;
  readonly definitions: ReadonlyMap<string, ServerDefinition>;
}

/** The instances with their definitions. Throws a `PlatformError` of kind `invalid` that names every option that is wrong, in every server. */
export function readInstances(
  instances: ConfiguredInstances,
  texts: TextChecks,
): ReadonlyMap<string, StaticInstance> {
  const problems: string[] = [];
  const all = {
    [DEFAULT_INSTANCE]: { servers: {}, check: undefined, credentials: undefined, source: 'data' as const },
    ...instances,
  };
  const read = Object.entries(all).map(([scope, { servers, check, credentials, source }]) => {
    const problem = nameProblem(scope);
    if (problem !== undefined) problems.push(`The name of the instance ${JSON.stringify(scope)} ${problem}.`);
    const definitions = Object.entries(servers).flatMap(([name, options]) => {
      try {
        return [[name, readServerOptions(options, { ref: { scope, name }, source, texts })] as const];
      } catch (error) {
        if (!(error instanceof PlatformError)) throw error;
        problems.push(scope === DEFAULT_INSTANCE ? error.message : `Instance ${scope}: ${error.message}`);
        return [];
      }
    });
    return [scope, { check, credentials, definitions: new Map(definitions) }] as const;
  });
  if (problems.length > 0) throw new PlatformError('invalid', problems.join('\n'), { details: { problems } });
  return new Map(read);
}

/** What is wrong with the servers of a configuration, a sentence each; looks at nothing else. */
export function problemsOfInstances(
  instances: ConfiguredInstances,
  mayRead: (variable: string) => boolean,
): readonly string[] {
  try {
    readInstances(instances, { compile: text => compileText(text, mayRead) });
    return [];
  } catch (error) {
    if (error instanceof PlatformError) return error.message.split('\n');
    throw error;
  }
}
