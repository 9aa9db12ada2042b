// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileText, containsReference } from './reference-text.ts';

const mayRead = (name: string) => name.startsWith('PATCHBAY_REF_') || name === 'CRM_URL';
const compile = (text: string) => compileText(text, mayRead);
const why = (text: string): string => {
  try {
    compile(text);
    return 'compiles';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('a text of the configuration', () => {
  it.each([
    ['${vault:crm-key}', { kind: 'vault', name: 'crm-key' }],
    ['${vault:default/crm.key_1}', { kind: 'vault', name: 'crm.key_1' }],
    ['${eddivault:crm-key}', { kind: 'vault', name: 'crm-key' }],
    ['${vars:url}', { kind: 'vars', name: 'url' }],
    ['${vars:default/url}', { kind: 'vars', name: 'url' }],
    ['${caller:token}', { kind: 'caller', what: 'token' }],
    ['${caller:userId}', { kind: 'caller', what: 'userId' }],
    [
      '${CRM_URL:https://crm.example/a?b=c}',
      { kind: 'environment', name: 'CRM_URL', fallback: 'https://crm.example/a?b=c' },
    ],
    ['${PATCHBAY_REF_X:}', { kind: 'environment', name: 'PATCHBAY_REF_X', fallback: '' }],
    ['$${vault:crm-key}', { kind: 'literal', text: '${' }],
  ])('refers with %s', (text, reference) => {
    const { source, references, text: marked } = compile(`Bearer ${text}!`);
    expect(references).toEqual([reference]);
    expect(source).toBe(`Bearer ${text}!`);
    expect(containsReference(marked)).toBe(false);
  });

  it.each([
    'no reference',
    '${amount} and ${a.b} and ${ x } and ${}',
    '${AMOUNT}',
    '{{ vars.x }} {% if a %}b{% endif %}',
    '$vault:x',
    '{"vault": "x"}',
    'a $ { vault:x }',
  ])('refers to nothing with %s', text => {
    expect(compile(text)).toMatchObject({ text, references: [] });
  });

  it.each([
    ['${vault:crm-key', 'it has no closing brace'],
    ['${vault}', 'write ${vault:name}'],
    ['${vault:}', 'write ${vault:name}'],
    ['${vault: crm-key}', 'no spaces around it; write ${vault:name}'],
    ['${ vault:crm-key}', 'it is spelled ${vault:...}'],
    ['${VAULT:crm-key}', 'it is spelled ${vault:...}'],
    ['${Vars:url}', 'it is spelled ${vars:...}'],
    ['${vault.crm-key}', 'there is no such reference; write ${vault:name}'],
    ['${vaults:crm-key}', 'there is no such reference'],
    ['${vault:other/crm-key}', 'there is one tenant, default'],
    ['${vault:a/b/c}', 'there is one tenant, default'],
    [`\${vault:${'x'.repeat(129)}}`, '1 to 128 characters'],
    ['${vars:ключ}', '1 to 128 characters'],
    ['${caller:name}', 'there is ${caller:token} and ${caller:userId}'],
    ['${connection:crm}', 'a connection cannot be referred to here'],
    ['{caller:token}', 'write ${caller:token}'],
    ['Bearer {vault:crm-key}', 'write ${vault:crm-key}'],
    ['${vault:${vars:name}}', 'do not stand inside a reference'],
    ['${vault:{{ context.name }}}', 'do not stand inside a reference'],
    ['{{ "${vault:crm-key}" | upcase }}', 'does not stand inside {{ }}'],
    ['{% assign a = "${vault:crm-key}" %}', 'does not stand inside {% %}'],
    [
      '${HOME:/tmp}',
      'configuration may not read the variable HOME of the environment; name it PATCHBAY_REF_HOME',
    ],
    ['${PATCHBAY_VAULT_KEY:}', 'configuration may not read the variable PATCHBAY_VAULT_KEY'],
    ['${CRM_URL}', 'write ${CRM_URL:} or ${CRM_URL:default}'],
    ['${vars:a}'.repeat(101), 'at most 100 references'],
  ])('is refused with its remedy: %s', (text, remedy) => {
    expect(why(text)).toContain(remedy);
  });

  it('keeps everything around its references, and marks that cannot be guessed', () => {
    const around = fc.string().filter(text => !/[${}]/.test(text));
    fc.assert(
      fc.property(fc.array(around, { minLength: 1, maxLength: 5 }), texts => {
        const { text, mark, references } = compile(texts.join('${vars:a}'));
        expect(references).toHaveLength(texts.length - 1);
        expect(text.split(new RegExp(`${mark}\\d+\uE001`))).toEqual(texts);
      }),
    );
    expect(compile('${vars:a}').mark).not.toBe(compile('${vars:a}').mark);
    expect(compile('${vars:a}').mark.length).toBeGreaterThan(26);
  });

  it('compiles in linear time', () => {
    for (const text of [
      '${'.repeat(50_000),
      '{{'.repeat(50_000),
      '$'.repeat(100_000),
      '{vault:'.repeat(20_000),
      `\${${' '.repeat(100_000)}`,
    ])
      expect(why(text)).toBeTruthy();
  }, 2_000);
});

describe('what arrives in data', () => {
  it.each([
    '${vault:a}',
    'x ${eddivault:a',
    '${VAULT:a}',
    '${ vars:a}',
    '${caller:token}',
    '${connection:crm}',
    '${vault.a}',
  ])('is seen to be a reference: %s', text => expect(containsReference(text)).toBe(true));

  it.each(['${amount}', '${HOME:/tmp}', 'vault:a', '{vault:a}', '$vault', '${vaulted:a}'])(
    'is none: %s',
    text => expect(containsReference(text)).toBe(false),
  );
});
