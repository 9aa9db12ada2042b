// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { PlatformError } from '../../kernel/errors.ts';
import { isSecretName } from '../../kernel/redact.ts';
import type { Reference } from '../../secrets/reference-text.ts';
import type { References } from '../../secrets/references.ts';

/** How texts of a definition are looked at before it is taken. */
export type TextChecks = Pick<References, 'compile'>;

/** Says what is wrong with an option, as a phrase after its name. */
type Say = (option: string, problem: string) => void;

/**
 * Looks at a text that may hold references. `seen` is one that others of the machine can read, as an argument of a program: a secret does
 * not belong there (attack 49).
 */
export function checkText(
  text: string,
  option: string,
  kind: 'seen' | 'hidden',
  texts: TextChecks,
  say: Say,
): void {
  const references = referencesIn(text, option, texts, say);
  if (references.some(({ kind: of }) => of === 'caller')) {
    say(
      option,
      'asks for the identity of the caller, which only the apiKey of an mcpcalls document may, as ${caller:token} alone; give the server a credential of its own, such as ${vault:name}',
    );
  }
  if (kind === 'seen' && references.some(isSecret)) {
    say(option, 'holds a secret, which every program of the machine can read there; put it into `env`');
  }
}

/** Looks at a text that is the token of the caller: it may be that none is given to anybody. */
export function checkCaller(text: string, option: string, texts: TextChecks, say: Say): void {
  referencesIn(text, option, texts, say);
}

/** Variables of the environment hold secrets where their names say so. */
function isSecret(reference: Reference): boolean {
  return reference.kind === 'vault' || (reference.kind === 'environment' && isSecretName(reference.name));
}

/**
 * Looks at the address of a server. References may stand in it; where its host comes out of one, the address is looked at when a
 * connection is wanted.
 */
export function checkAddress(text: string, option: string, texts: TextChecks, say: Say): void {
  checkText(text, option, 'hidden', texts, say);
  if (/^\$\{/.test(text)) return;
  const url = URL.parse(text.replaceAll(/\$\{[^}]*\}/g, 'x'));
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') {
    say(option, 'must be an http or https address, such as https://mcp.example.com/mcp');
  } else if (url.username !== '' || url.password !== '') {
    say(option, 'must have no user name or password in it; put the credential into `headers`');
  } else if (/\s/.test(text)) say(option, 'must have no spaces');
}

function referencesIn(text: string, option: string, texts: TextChecks, say: Say) {
  try {
    return texts.compile(text).references;
  } catch (thrown) {
    if (!(thrown instanceof PlatformError)) throw thrown;
    say(option, `has a reference that cannot be: ${thrown.message.replace(/\.$/, '')}`);
    return [];
  }
}
