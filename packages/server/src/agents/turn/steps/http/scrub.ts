import { createScrubber, isSecretName } from '../../../../kernel/redact.ts';

/** Takes the secret values of a request out of what is kept of it and of its answer. */
export interface Scrub {
  text(text: string): string;
  /** A JSON value with every text in it scrubbed, names too. */
  value(value: unknown): unknown;
  /** Headers by their names in lower case, without those that look like credentials. */
  headers(headers: Iterable<[string, string]>): Record<string, string>;
}

export function createScrub(secrets: readonly string[]): Scrub {
  const text = createScrubber(secrets);
  const part = (_name: string, value: unknown): unknown => {
    if (typeof value === 'string') return text(value);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [text(name), member]));
  };
  return {
    text,
    value: value => (secrets.length === 0 ? value : (JSON.parse(JSON.stringify(value), part) as unknown)),
    headers: headers =>
      Object.fromEntries(
        [...headers]
          .filter(([name]) => !isSecretName(name))
          .map(([name, value]) => [name.toLowerCase(), text(value)]),
      ),
  };
}
