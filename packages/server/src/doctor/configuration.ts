import { networkInterfaces } from 'node:os';
import { importConfigScript } from '../config/config-script.ts';
import { type LoadedConfig, loadConfig } from '../config/load-config.ts';
import { problemsOfInstances } from '../connections/server/configured-instances.ts';
import { PlatformError } from '../kernel/errors.ts';
import { isAddress, isLoopbackHost } from '../kernel/network-address.ts';
import { mayReadVariable } from '../kernel/reference-environment.ts';
import type { Remark } from './finding.ts';

interface ConfigurationFound {
  readonly remarks: readonly Remark[];
  /** `undefined` when the platform would refuse it. */
  readonly loaded?: LoadedConfig;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Reads the configuration as a start would: refusals are problems, what a start warns about is a warning. */
export async function examineConfiguration(where: {
  readonly env: Env;
  readonly cwd: string;
  readonly home: string;
}): Promise<ConfigurationFound> {
  let loaded: LoadedConfig;
  try {
    loaded = loadConfig({ ...where, script: await importConfigScript(where) });
  } catch (thrown) {
    if (!(thrown instanceof PlatformError)) throw thrown;
    const sentences = (thrown.details?.problems as string[] | undefined) ?? [thrown.message];
    return {
      remarks: sentences.map(says => ({ verdict: 'problem', says, mend: unset(says, where.env) })),
    };
  }
  const remarks = loaded.warnings.map(
    (says): Remark => ({ verdict: 'warning', says, mend: unset(says, where.env, 'PATCHBAY_PUBLIC_URL') }),
  );
  const { host, references } = loaded.config;
  const mayRead = (variable: string) => mayReadVariable(variable, references.environment);
  for (const says of problemsOfInstances(loaded.servers, mayRead)) {
    remarks.push({ verdict: 'problem', says, mend: undefined });
  }
  if (isForeignAddress(host)) {
    const says = `host is ${host}, which is no address of this machine, so the platform cannot listen there.`;
    remarks.push({ verdict: 'problem', says, mend: unset('PATCHBAY_HOST', where.env) });
  }
  if (remarks.length === 0) remarks.push({ verdict: 'ok', says: 'Every setting is known and makes sense.' });
  return { remarks, loaded };
}

/**
 * The command that takes back the first variable a sentence names, for all of them have a default that works. `kept` is named
 * with another remedy. Nothing when the value stands in the file: the sentence says where.
 */
function unset(sentence: string, env: Env, kept?: string): string | undefined {
  const named = sentence.match(/\b(?:PATCHBAY|MCP)_[A-Z0-9_]+/g) ?? [];
  const variable = named.find(name => name !== kept && env[name]?.trim());
  return variable && `unset ${variable}`;
}

/** Only for IPv4, which has one spelling. */
function isForeignAddress(host: string): boolean {
  if (!isAddress(host) || host.includes(':') || host === '0.0.0.0' || isLoopbackHost(host)) return false;
  const own = Object.values(networkInterfaces()).flatMap(addresses => addresses ?? []);
  return !own.some(({ address }) => address === host);
}
