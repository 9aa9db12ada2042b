import { agentMayUseSecret } from '../kernel/access.ts';
import { PlatformError } from '../kernel/errors.ts';
import type { Logger } from '../kernel/logger.ts';
import { isSecretName } from '../kernel/redact.ts';
import { type CompiledText, compileText, type Reference } from './reference-text.ts';
import type { Variables } from './variables.ts';
import type { Vault } from './vault.ts';

export type { CompiledText } from './reference-text.ts';

/** For whom references are resolved. */
export interface ResolveFor {
  readonly agentId: string;
  /** What a template has made of the text of the compiled one; left out where there is no template. */
  readonly rendered?: string | undefined;
  /** Of a turn that an authenticated request drives, where the caller's identity may go: the step knows. */
  readonly caller?: { readonly userId?: string; readonly token?: string } | undefined;
}

export interface ResolvedText {
  readonly text: string;
  /** Secret values in it, for `createScrubber`. */
  readonly secrets: readonly string[];
}

/**
 * References in texts of the configuration: `${vault:name}`, `${vars:name}`, `${NAME:default}`, `${caller:token}`. They are found
 * when the agent is deployed, and only there: what arrives in data is never one.
 */
export interface References {
  /** See `compileText`: throws a `PlatformError` of kind `invalid` that names the remedy. */
  compile(text: string): CompiledText;
  /**
   * The text with the values. Rejects with a `PlatformError` of kind `unavailable` when one of them is not there, not for this
   * agent, or cannot be satisfied in this turn, and with that of the vault when it cannot be used; no value is in any message.
   */
  resolve(compiled: CompiledText, options: ResolveFor): Promise<ResolvedText>;
  /**
   * Looks through the bodies of documents that are about to be deployed, all texts in them, at the secrets and variables they
   * refer to. Resolves with warnings for their author, which are logged too. Rejects with a `PlatformError` of kind `forbidden` when a secret is not for
   * this agent, unless the setting lets that pass.
   */
  checkDeployment(agentId: string, bodies: readonly unknown[]): Promise<readonly string[]>;
  /** The secrets and variables that texts in the bodies refer to, by name. */
  namesIn(bodies: readonly unknown[]): Promise<ReferredNames>;
}

export interface ReferredNames {
  readonly secrets: readonly ReferredName[];
  readonly variables: readonly ReferredName[];
}

export interface ReferredName {
  readonly name: string;
  /** Is there one of that name here? */
  readonly isThere: boolean;
}

export function createReferences(deps: {
  readonly vault: Pick<Vault, 'open' | 'grants'>;
  readonly variables: Pick<Variables, 'values'>;
  /** Variables of the environment that configuration may read, as they are set. */
  readonly environment: ReadonlyMap<string, string>;
  readonly mayRead: (variable: string) => boolean;
  /** May configuration ask for the identity of who talks to an agent (E-94)? */
  readonly callerIdentity: boolean;
  /** What a secret that is not for the agent means for its deployment. At run time it is never resolved. */
  readonly grantEnforcement: 'enforce' | 'warn' | 'off';
  readonly logger: Logger;
}): References {
  const { vault, variables, environment, mayRead, callerIdentity, grantEnforcement, logger } = deps;

  async function resolveOne(reference: Reference, options: ResolveFor): Promise<Value> {
    switch (reference.kind) {
      case 'literal':
        return { text: reference.text, secret: false };
      case 'environment': {
        const text = environment.get(reference.name) ?? reference.fallback;
        return { text, secret: isSecretName(reference.name) };
      }
      case 'vars': {
        const text = (await variables.values()).get(reference.name);
        if (text !== undefined) return { text, secret: false };
        throw unresolved(shown(reference), `there is no variable of that name; ${setIt(reference.name)}`);
      }
      case 'vault': {
        const opened = await vault.open(reference.name, options.agentId);
        if (opened.kind === 'opened') return { text: opened.value, secret: true };
        const reasons = {
          absent: `there is no secret of that name; ${storeIt(reference.name)}`,
          'not-allowed': 'the secret is for other agents',
        };
        throw unresolved(shown(reference), reasons[opened.kind]);
      }
      case 'caller': {
        const text = options.caller?.[reference.what];
        if (text !== undefined) return { text, secret: reference.what === 'token' };
        throw unresolved(
          shown(reference),
          'nobody is there whose identity it could be; the token goes to this platform’s own address only, in a turn that a request of whoever talks to the agent drives, for an agent of theirs or of an admin',
        );
      }
    }
  }

  return {
    compile(text) {
      const compiled = compileText(text, mayRead);
      const caller = compiled.references.find(({ kind }) => kind === 'caller');
      if (caller && !callerIdentity) throw noCallerIdentity(text);
      return compiled;
    },

    async resolve(compiled, options) {
      const rendered = options.rendered ?? compiled.text;
      const values: Value[] = [];
      // One after the other: the same secret twice is one look into the tables.
      for (const reference of compiled.references) values.push(await resolveOne(reference, options));
      const marks = new RegExp(`${compiled.mark}(\\d{1,3})\uE001`, 'g');
      const text = rendered.replace(marks, (_mark, index: string) => values[Number(index)]?.text ?? '');
      if (text.includes(compiled.mark)) {
        throw unresolved('A reference', 'the template changed it; keep filters away from it');
      }
      const secrets = values.filter(({ secret }) => secret).map(value => value.text);
      return { text, secrets: [...new Set(secrets)] };
    },

    async checkDeployment(agentId, bodies) {
      const used = referencesIn(bodies);
      if (used.caller !== undefined && !callerIdentity) throw noCallerIdentity(used.caller);
      const grants = await vault.grants(used.secrets);
      const known = await variables.values();
      const warnings = [
        ...used.secrets
          .filter(name => !grants.has(name))
          .map(name => `\${vault:${name}}: there is no secret of that name yet; ${storeIt(name)}.`),
        ...used.variables
          .filter(name => !known.has(name))
          .map(name => `\${vars:${name}}: there is no variable of that name yet; ${setIt(name)}.`),
      ];
      const ungranted = [...grants]
        .filter(([, allowedAgents]) => !agentMayUseSecret(agentId, { allowedAgents }))
        .map(
          ([name]) =>
            `\${vault:${name}}: the secret is not for agent ${agentId}; let an admin add it with \`npx patchbay secrets set ${name} --keep-value --agents ...\`.`,
        );
      if (grantEnforcement === 'enforce' && ungranted.length > 0) {
        throw new PlatformError('forbidden', ungranted.join('\n'), { details: { problems: ungranted } });
      }
      if (grantEnforcement === 'warn') warnings.push(...ungranted);
      if (warnings.length > 0) logger.warn('An agent refers to what is not there', { agentId, warnings });
      return warnings;
    },

    async namesIn(bodies) {
      const used = referencesIn(bodies);
      const grants = await vault.grants(used.secrets);
      const known = await variables.values();
      const named = (names: readonly string[], there: { has(name: string): boolean }) =>
        names.toSorted().map(name => ({ name, isThere: there.has(name) }));
      return { secrets: named(used.secrets, grants), variables: named(used.variables, known) };
    },
  };
}

interface Value {
  readonly text: string;
  readonly secret: boolean;
}

const CALLER = /(?<!\$)\$\{caller:(?:token|userId)\}/;
const NAMED = /(?<!\$)\$\{(vault|eddivault|vars):(?:default\/)?([a-zA-Z0-9._-]{1,128})\}/g;

/** Names in all texts of the values, in the order they are found. */
function referencesIn(values: readonly unknown[]): {
  readonly secrets: readonly string[];
  readonly variables: readonly string[];
  /** The first to the caller. */
  readonly caller: string | undefined;
} {
  const secrets = new Set<string>();
  const variables = new Set<string>();
  let caller: string | undefined;
  const left: unknown[] = [...values];
  // The list grows while it is walked.
  for (const value of left) {
    if (typeof value === 'object' && value !== null)
      for (const inner of Object.values(value)) left.push(inner);
    if (typeof value !== 'string') continue;
    caller ??= CALLER.exec(value)?.[0];
    for (const [, kind, name] of value.matchAll(NAMED)) (kind === 'vars' ? variables : secrets).add(name!);
  }
  return { secrets: [...secrets], variables: [...variables], caller };
}

function shown(reference: Reference & { readonly kind: 'vault' | 'vars' | 'caller' }): string {
  return `\${${reference.kind}:${reference.kind === 'caller' ? reference.what : reference.name}}`;
}

function storeIt(secret: string): string {
  return `store it with \`npx patchbay secrets set ${secret}\``;
}

function setIt(variable: string): string {
  return `set it with \`npx patchbay vars set ${variable}\``;
}

function noCallerIdentity(text: string): PlatformError {
  const said = CALLER.exec(text)?.[0] ?? text;
  return new PlatformError(
    'invalid',
    `${said}: this platform gives the identity of who talks to an agent to nobody (callerIdentity.enabled is false); give the server a credential of its own, such as \${vault:name}.`,
  );
}

function unresolved(what: string, why: string): PlatformError {
  return new PlatformError('unavailable', `${what} cannot be resolved: ${why}.`);
}
