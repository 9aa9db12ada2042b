import { defaultDataDir } from './data-dir.ts';
import { entryName, hostEntry, stdioAccess } from './hosts/hosts.ts';
import type { Io, RunningPlatform } from './io.ts';
import { indent, shellWord } from './text.ts';

/** What a person needs first: both addresses, a key, an entry to paste, a line to try, and how to stop. */
export function readyScreen(io: Io, platform: RunningPlatform, agentId: string | undefined): string {
  // Nobody may be reading a log for keys: only a terminal shows one (decisions.md 2).
  const key = io.stdout.isTTY ? platform.firstKey : undefined;
  const link = io.stdout.isTTY ? platform.firstSignIn : undefined;
  const agentUrl = agentId === undefined ? undefined : platform.agentUrl(agentId);
  return [
    'Patchbay is running.',
    '',
    `  Operator MCP  ${platform.operatorUrl.padEnd(agentUrl?.length ?? 0)}    every tool of the platform`,
    agentUrl === undefined
      ? '  Agent MCP     no agent yet; deploy one with: npx patchbay agents deploy FILE'
      : `  Agent MCP     ${agentUrl}    one agent: message in, reply out`,
    ...(platform.authOff
      ? ['', '  Authentication is off: everybody who reaches the operator MCP may do everything there.']
      : []),
    '',
    ...keyLines(key),
    '',
    ...signInLines(link),
    '',
    key === undefined
      ? '  For an MCP host (it starts the bridge itself and needs no key):'
      : '  For an MCP host:',
    indent(JSON.stringify({ mcpServers: servers(io, platform, agentId, key) }, null, 2), '    '),
    '',
    '  Try it:',
    `    ${curlLine(platform, agentId, key)}`,
    '',
    ...(agentId === undefined ? [] : [`  Talk here:  npx patchbay chat ${agentId}`]),
    '  Connect:    npx patchbay connect claude-code      (or claude-desktop, cursor, vscode)',
    `  Data:       ${isUsualFolder(io, platform) ? '~/.patchbay' : platform.dataDir}`,
    '  Stop:       Ctrl-C',
  ].join('\n');
}

function isUsualFolder(io: Io, platform: RunningPlatform): boolean {
  return platform.dataDir === defaultDataDir(io);
}

function keyLines(key: string | undefined): string[] {
  if (key !== undefined) return ['  Your first key, shown this once:', `    ${key}`];
  return ['  Make a key:', '    npx patchbay keys create --scope agents --scope operator'];
}

function signInLines(link: string | undefined): string[] {
  if (link !== undefined) return ['  Sign in in a browser, once and within ten minutes:', `    ${link}`];
  return ['  Sign in in a browser:', '    npx patchbay sign-in'];
}

function servers(
  io: Io,
  platform: RunningPlatform,
  agentId: string | undefined,
  key: string | undefined,
): Record<string, unknown> {
  const doors = agentId === undefined ? [undefined] : [undefined, agentId];
  const env: Record<string, string> = isUsualFolder(io, platform)
    ? {}
    : { PATCHBAY_DATA_DIR: platform.dataDir };
  return Object.fromEntries(
    doors.map(door => {
      const url = door === undefined ? platform.operatorUrl : platform.agentUrl(door);
      const access = key === undefined ? stdioAccess(io, door, env) : ({ kind: 'http', url, key } as const);
      return [entryName(door), hostEntry(access)];
    }),
  );
}

/** One call that answers at once. Without a key at hand the line makes its own. */
function curlLine(platform: RunningPlatform, agentId: string | undefined, key: string | undefined): string {
  const [url, scope, params] =
    agentId === undefined
      ? [platform.operatorUrl, 'operator', { name: 'list_docs', arguments: {} }]
      : [platform.agentUrl(agentId), 'agents', { name: agentId, arguments: { message: 'hello' } }];
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const bearer = key ?? `$(npx patchbay keys create --scope ${scope} 2>/dev/null)`;
  return `curl -s ${shellWord(url)} -H "Authorization: Bearer ${bearer}" -H 'Content-Type: application/json' -d ${shellWord(body)}`;
}
