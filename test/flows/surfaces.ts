import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createClient } from '@patchbay/contract/client';
import type { OperationName } from '@patchbay/contract/operations';
import type { TestPlatform } from '@patchbay/testing/platform';

/** A way to call operations, the same for every surface. Rejects with an error that has the sentence of the platform. */
export interface Surface {
  // biome-ignore lint/suspicious/noExplicitAny: an answer may be anything, tests look into it
  call(name: OperationName, args?: Record<string, unknown>): Promise<any>;
  close(): Promise<void>;
}

export interface SurfaceKind {
  readonly surface: string;
  open(platform: Pick<TestPlatform, 'url' | 'operatorUrl'>, key: string): Promise<Surface>;
}

/** For `describe.each(surfaces)('... through $surface', ({ open }) => ...)`. */
export const surfaces: readonly SurfaceKind[] = [
  {
    surface: 'the stock MCP client',
    async open({ operatorUrl }, key) {
      const client = new Client({ name: 'test', version: '1.0.0' });
      const headers = { Authorization: `Bearer ${key}` };
      await client.connect(
        new StreamableHTTPClientTransport(new URL(operatorUrl), { requestInit: { headers } }),
      );
      return {
        async call(name, args = {}) {
          const { isError, content, structuredContent } = await client.callTool({ name, arguments: args });
          const [{ text }] = content as unknown as [{ text: string }];
          if (isError) throw new Error(JSON.parse(text).error);
          return structuredContent;
        },
        close: () => client.close(),
      };
    },
  },
  {
    surface: 'REST',
    async open({ url }, key) {
      const client = createClient({ baseUrl: url, token: key, fetch });
      return {
        call: (name, args = {}) => client.call(name, args as never),
        close: async () => {},
      };
    },
  },
];

const COMMAND = fileURLToPath(new URL('../../packages/cli/bin/patchbay.mjs', import.meta.url));
const run = promisify(execFile);

/** The command, a process each call: for what is worth the wait. */
export const commandLine: SurfaceKind = {
  surface: 'the command line',
  async open({ url }, key) {
    const env = { PATH: process.env.PATH, HOME: '/nowhere', PATCHBAY_URL: url, PATCHBAY_KEY: key };
    return {
      async call(name, args = {}) {
        const line = [COMMAND, 'call', name, '--json', JSON.stringify(args)];
        try {
          const { stdout } = await run(process.execPath, line, { env, maxBuffer: 10_000_000 });
          return JSON.parse(stdout);
        } catch (thrown) {
          throw new Error((thrown as { stderr?: string }).stderr || String(thrown));
        }
      },
      close: async () => {},
    };
  },
};
