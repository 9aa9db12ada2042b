/** What a program gets of the platform's own environment, as far as it is set there (W-07). */
const INHERITED_VARIABLES = [
  'HOME',
  'LANG',
  'LC_ALL',
  'LOGNAME',
  'PATH',
  'SHELL',
  'TERM',
  'TMPDIR',
  'USER',
] as const;

/**
 * The whole environment of a program: the nine variables as they are in `inherited`, and its own, which win (W-07 to W-09). Whatever
 * else `inherited` has stays behind.
 */
export function programEnvironment(
  inherited: Readonly<Record<string, string | undefined>>,
  own: Readonly<Record<string, string>>,
): Record<string, string | undefined> {
  const environment: Record<string, string | undefined> = Object.create(null);
  // Node hands this one on by itself when it collects coverage, unless it is mentioned.
  environment.NODE_V8_COVERAGE = undefined;
  for (const name of INHERITED_VARIABLES) environment[name] = inherited[name];
  return Object.assign(environment, own);
}
