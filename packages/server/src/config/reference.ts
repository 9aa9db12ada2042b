import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { defaultText, OTHER_VARIABLES, SETTINGS, type Setting, VARIABLE_ALIASES } from './settings.ts';

const FILE = fileURLToPath(new URL('../../../../docs/configuration.md', import.meta.url));

/** The reference page of all settings, from the table that parses them: it cannot lag behind. */
export function renderConfigReference(): string {
  return `# Configuration

Patchbay starts without any configuration. Every setting can be given in two places; the first that has it counts:

1. an environment variable, such as \`PATCHBAY_PORT=8080\` (an empty one counts as not set);
2. \`patchbay.config.json\` or \`patchbay.config.ts\` in the working directory, or the file that \`PATCHBAY_CONFIG\` names. The second is a
   program whose default export is the same object.

\`\`\`json
{ "port": 8080, "log": { "level": "debug" } }
\`\`\`

A wrong value stops the start with a sentence that names it. A key Patchbay does not know gives the warning
\`Unrecognized configuration key\` and changes nothing. Secrets are never written to the log.

The same file may hold MCP servers, under \`servers\` and \`instances\`: see [MCP servers](servers.md). A change of those is applied while the
platform runs; settings wait for the next start.

${SETTINGS.map(section).join('\n\n')}

## Other variables

${[...OTHER_VARIABLES].map(([name, meaning]) => `- \`${name}\`: ${meaning}`).join('\n')}

Coming from another platform? [Seed names](seed-names.md) lists its settings beside these.
`;
}

function section(setting: Setting): string {
  const alias = [...VARIABLE_ALIASES].find(([, key]) => key === setting.key)?.[0];
  const lines = [
    `## ${setting.key}`,
    '',
    setting.description,
    '',
    `- Variable: \`${setting.variable}\`${alias ? ` (also \`${alias}\`)` : ''}`,
    `- Value: ${setting.rule.replace(/^must be /, '')}`,
    `- ${setting.unset === undefined ? `Default: ${code(defaultText(setting.defaultValue))}` : `Not set: ${setting.unset}`}`,
  ];
  return lines.join('\n');
}

function code(text: string): string {
  return text === 'none' ? text : `\`${text}\``;
}

/** Writes the page; with `check`, only compares. The answer says whether the file was right before. */
export async function generateConfigReference(options: {
  readonly check: boolean;
}): Promise<{ file: string; upToDate: boolean }> {
  const wanted = renderConfigReference();
  const present = await readFile(FILE, 'utf8').catch(() => undefined);
  if (present !== wanted && !options.check) await writeFile(FILE, wanted);
  return { file: FILE, upToDate: present === wanted };
}
