import { isObject } from '../../kernel/json.ts';
import { isSecretName } from '../../kernel/redact.ts';

/**
 * The arguments of a call as JSON for whoever decides about it: exactly what is sent, besides texts under the name of a credential, of which it
 * says how long they are. What looks like a secret elsewhere stays: whoever wrote the arguments could hide anything in it. What no
 * eye sees is spelled out, as JSON spells it: marks that turn the direction of text, zero-width characters, tags.
 */
export function shownArguments(args: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(withoutCredentials(args, false)).replace(UNSEEN, spelled);
}

/** Spaces of all widths, too: two that look alike are two addresses. */
const UNSEEN = /(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}]/gu;

function spelled(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}

function withoutCredentials(value: unknown, isCredential: boolean): unknown {
  if (typeof value === 'string')
    return isCredential && value !== '' ? `[redacted: ${value.length} characters]` : value;
  if (Array.isArray(value)) return value.map(item => withoutCredentials(item, isCredential));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      withoutCredentials(member, isCredential || namesCredential(name)),
    ]),
  );
}

/** `key` alone is what most tools call the thing they act on, and a person must see that. */
function namesCredential(name: string): boolean {
  return isSecretName(name) && !/^keys?$/i.test(name);
}
