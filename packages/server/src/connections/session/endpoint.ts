import type { HostFrom } from '../../kernel/safe-fetch.ts';
import type { RegisteredClient } from '../server/definition.ts';

/** Where a server is, with everything resolved: there are secret values in it, so nothing of it is shown or kept. */
export type Endpoint = HttpEndpoint | StdioEndpoint;

export interface HttpEndpoint {
  readonly kind: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly hostFrom: HostFrom;
  readonly insecureTls: boolean;
  /** As which client of its authorization server it is used, where that is said. */
  readonly client?: RegisteredClient | undefined;
}

export interface StdioEndpoint {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Names in `env` whose values are secret, whatever they look like. */
  readonly secret?: readonly string[] | undefined;
  readonly cwd: string | undefined;
}
