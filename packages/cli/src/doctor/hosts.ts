import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { isAgentId } from '@patchbay/contract/ids';
import type { Remark } from '@patchbay/server/doctor';
import { CliError } from '../cli-error.ts';
import { defaultDataDir } from '../data-dir.ts';
import { readEntries } from '../hosts/config-file.ts';
import { entryName, HOSTS, type Host, type HostEntry, type HostName, holdsKey } from '../hosts/hosts.ts';
import { shellWord } from '../text.ts';
import { identify } from './asked-platform.ts';
import type { Check, Examination } from './examination.ts';
import { localUrl } from './port.ts';

/** Do the entries in the files of MCP hosts lead to the platform of this machine? Other entries are nobody's business. */
export const hosts: Check = {
  name: 'hosts',
  async run(examination) {
    if (!examination.installation?.settings) return [];
    const remarks: Remark[] = [];
    let good = 0;
    for (const hostName of Object.keys(HOSTS) as HostName[]) {
      const host: Host = HOSTS[hostName];
      const entries = await ourEntries(examination, hostName, host, remarks);
      if (entries.some(entry => entry.holdsKey)) {
        remarks.push(...(await privacyRemarks(examination, host)));
      }
      for (const entry of entries) {
        const wrong =
          entry.url === undefined
            ? await commandComplaint(examination, entry)
            : await addressComplaint(examination, entry, entry.url);
        if (wrong === undefined) good += 1;
        else remarks.push(wrong);
      }
    }
    if (good > 0) remarks.push({ verdict: 'ok', says: `The entries of MCP hosts are in order (${good}).` });
    return remarks;
  },
};

/** An entry that `patchbay connect` makes, or made once. */
interface OurEntry {
  readonly hostName: HostName;
  readonly title: string;
  readonly name: string;
  /** The one it opens; `undefined` for the whole platform. */
  readonly agentId: string | undefined;
  readonly url: string | undefined;
  readonly authorization: string | undefined;
  readonly holdsKey: boolean;
  readonly command: string | undefined;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, unknown>>;
}

async function ourEntries(
  { io }: Examination,
  hostName: HostName,
  host: Host,
  remarks: Remark[],
): Promise<OurEntry[]> {
  let entries: Record<string, unknown>;
  try {
    entries = await readEntries(host.configFile(io), host.member);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    remarks.push({
      verdict: 'warning',
      says: `The entries of ${host.title} could not be looked at: ${error.message}`,
    });
    return [];
  }
  return Object.entries(entries).flatMap(([name, entry]) => {
    const agentId = /^patchbay-(.+)$/.exec(name)?.[1];
    const isNamedOurs = name === entryName(undefined) || (agentId !== undefined && isAgentId(agentId));
    if (!isNamedOurs || typeof entry !== 'object' || entry === null) return [];
    const { url, headers, command, args, env } = entry as Record<string, unknown>;
    const authorization = (headers as { readonly Authorization?: unknown } | undefined)?.Authorization;
    return [
      {
        hostName,
        title: host.title,
        name,
        agentId,
        url: typeof url === 'string' ? url : undefined,
        holdsKey: holdsKey(entry as HostEntry),
        authorization: typeof authorization === 'string' ? authorization : undefined,
        command: typeof command === 'string' ? command : undefined,
        args: Array.isArray(args) ? args.map(String) : [],
        env: typeof env === 'object' && env !== null ? (env as Record<string, unknown>) : {},
      },
    ];
  });
}

async function privacyRemarks({ io }: Examination, host: Host): Promise<Remark[]> {
  const file = host.configFile(io);
  const { mode } = await stat(file);
  if (io.osPlatform === 'win32' || (mode & 0o077) === 0) return [];
  const says = `${file} holds a key of this platform and may be read by others of this machine.`;
  return [{ verdict: 'warning', says, mend: `chmod go= ${shellWord(file)}` }];
}

async function addressComplaint(
  examination: Examination,
  entry: OurEntry,
  url: string,
): Promise<Remark | undefined> {
  const { io, platform } = examination;
  const bases = ourAddresses(examination);
  const ours = bases.map(({ baseUrl, operatorUrl }) =>
    entry.agentId === undefined ? operatorUrl : `${baseUrl}/${entry.agentId}/mcp`,
  );
  if (!ours.includes(url)) {
    const origin = URL.parse(url)?.origin;
    const isHere = bases.some(({ baseUrl }) => new URL(baseUrl).origin === origin);
    // Elsewhere may be another platform, which is for its own doctor.
    if (!isHere && !(isLoopback(url) && (await identify(io, origin!)).kind === 'nobody')) return undefined;
    // Without a query, which may hold a secret.
    const place = `${origin ?? ''}${URL.parse(url)?.pathname ?? ''}`;
    return complaint(entry, `leads to ${place}, where this platform is not`, connectAgain(entry));
  }
  if (platform.kind !== 'asked' || platform.credential !== 'accepted') return undefined;
  // Without a key the host has its person sign in.
  if (entry.authorization === undefined) return agentComplaint(examination, entry);
  if (!(await refusedAt(examination, entry, url))) return undefined;
  return (
    agentComplaint(examination, entry) ??
    complaint(
      entry,
      'has a key that opens nothing: it expired or was revoked',
      `${connectAgain(entry)} --with-key`,
    )
  );
}

/** With the port it has, or would have. A port that is free each time has no address to compare with. */
function ourAddresses({ installation, platform }: Examination): { baseUrl: string; operatorUrl: string }[] {
  const { port, publicUrl, operatorPath, ...settings } = installation!.settings!;
  const wanted = [
    ...(port === 0 ? [] : [localUrl({ ...settings, port, publicUrl, operatorPath }, port)]),
    ...(publicUrl === undefined ? [] : [publicUrl]),
  ].map(baseUrl => ({ baseUrl, operatorUrl: baseUrl + operatorPath }));
  const isRunning = platform.kind === 'asked' && platform.credential === 'accepted';
  // Only the public address may differ from what the platform itself says.
  return isRunning ? [platform.connection, ...wanted.filter(({ baseUrl }) => baseUrl === publicUrl)] : wanted;
}

function isLoopback(url: string): boolean {
  const hostname = URL.parse(url)?.hostname ?? '';
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}

/** Asks as the host would, for what every key may ask. */
async function refusedAt({ io }: Examination, entry: OurEntry, url: string): Promise<boolean> {
  const response = await io
    .fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: entry.authorization!,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      signal: AbortSignal.timeout(5_000),
    })
    .catch(() => undefined);
  await response?.arrayBuffer();
  return response?.status === 401;
}

function agentComplaint({ contents }: Examination, entry: OurEntry): Remark | undefined {
  const agent = contents?.agents.find(({ agentId }) => agentId === entry.agentId);
  if (entry.agentId !== undefined && contents && !agent) {
    return complaint(entry, `is for the agent ${entry.agentId}, which is not deployed`);
  }
  if (agent?.mcpEnabled === false) {
    const why = `is for the agent ${agent.agentId}, which MCP clients cannot reach: set mcp_enabled: true in its file and deploy it`;
    return complaint(entry, why, 'npx patchbay agents deploy FILE');
  }
  return undefined;
}

/** An entry that starts the bridge: the host only says that it could not. */
async function commandComplaint(examination: Examination, entry: OurEntry): Promise<Remark | undefined> {
  const { io, installation } = examination;
  const { command, args, env } = entry;
  if (command === undefined)
    return complaint(entry, 'has neither an address nor a command', connectAgain(entry));
  const programs = [command, ...args.filter(word => /\.[mc]?[jt]s$/.test(word))].filter(isAbsolute);
  for (const program of programs) {
    const isThere = await access(program, constants.R_OK).then(
      () => true,
      () => false,
    );
    if (!isThere) return complaint(entry, `starts ${program}, which is not there`, connectAgain(entry));
  }
  if (env.PATCHBAY_URL !== undefined) return undefined;
  const folder = env.PATCHBAY_DATA_DIR ?? defaultDataDir(io);
  if (folder === installation!.settings!.dataDir || typeof folder !== 'string') return undefined;
  const isThere = await access(folder).then(
    () => true,
    () => false,
  );
  return isThere
    ? undefined
    : complaint(entry, `leads to the data folder ${folder}, which is not there`, connectAgain(entry));
}

function complaint(entry: OurEntry, what: string, mend?: string): Remark {
  return { verdict: 'problem', says: `The entry ${entry.name} of ${entry.title} ${what}.`, mend };
}

function connectAgain({ hostName, agentId }: OurEntry): string {
  return `npx patchbay connect ${hostName}${agentId === undefined ? '' : ` --agent ${agentId}`} --write`;
}
