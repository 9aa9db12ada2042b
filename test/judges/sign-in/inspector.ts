import { INSPECTOR } from '../inspector.ts';
import { runNode } from '../judge.ts';
import type { SignInHost } from './sign-in-host.ts';

/** The Inspector's command line: each call is a process of its own, and what it was given is in its home. */
export const inspector: SignInHost = {
  name: 'inspector',
  clientName: 'MCP Inspector',
  async start({ door, era, home, browser }) {
    const env = {
      HOME: home,
      BROWSER: browser,
      MCP_INSPECTOR_SECRET_STORE: 'file',
      // Without a terminal it opens no browser unless it is told to.
      MCP_AUTO_OPEN_ENABLED: 'true',
      MCP_OAUTH_CALLBACK_URL: 'http://127.0.0.1:0/oauth/callback',
    };
    const connect = ['--cli', '--server-url', door.url, '--transport', 'http', '--protocol-era', era];
    return {
      async call(tool, args) {
        const call = [
          '--method',
          'tools/call',
          '--tool-name',
          tool,
          '--tool-args-json',
          JSON.stringify(args),
        ];
        const run = await runNode([INSPECTOR, ...connect, '--format', 'json', '--quiet', ...call], {
          env,
          timeoutMs: 30_000,
        });
        if (run.exitCode !== 0) throw new Error(`exit code ${run.exitCode}: ${run.stdout}${run.stderr}`);
        return run.stdout;
      },
      close: async () => {},
    };
  },
};
