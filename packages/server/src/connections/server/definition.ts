import type { HostFrom } from '../../kernel/safe-fetch.ts';
import type { OAuthOptions } from './oauth-options.ts';

/** How rules and people name a server: instances do not see each other's (W-02). */
export interface ServerRef {
  /** Instance of the registry, or what declared the server. */
  readonly scope: string;
  readonly name: string;
}

/** A server behind a URL, used exactly as it is written (W-05). */
export interface HttpTransport {
  readonly kind: 'http';
  readonly url: string;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Who named the host: decides whether it may be at a private address. */
  readonly hostFrom: HostFrom;
  /** Accepts a certificate that nobody vouches for. */
  readonly insecureTls: boolean;
}

/** A server that is a program of this machine. */
export interface StdioTransport {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** Besides the nine variables every command gets (W-07). */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  /** Who shares a process. */
  readonly isolation: 'shared' | 'person' | 'conversation';
}

/** Texts in it may hold references to secrets and variables: they are resolved when a connection is wanted, and kept nowhere. */
export type ServerTransport = HttpTransport | StdioTransport;

/**
 * As whom agents use the server; never in two ways at once (one-system.md 4, C5). `none` is as whoever its headers or variables say, the same for
 * everybody.
 */
export type ServerAuth =
  | { readonly kind: 'none' }
  /** As the person a call is made for, with their own credential, over their own connection (W-70). */
  | {
      readonly kind: 'principal';
      /** Of the credential: servers that name the same one share it. */
      readonly credentialName: string;
      /** Over HTTP it is in this header, in lower case, behind the scheme; an empty scheme is the credential alone (W-72). */
      readonly header: string;
      readonly scheme: string;
      /** A program finds it in this variable (W-73); `undefined` over HTTP. */
      readonly env: string | undefined;
      /** How they sign in at its authorization server; `undefined` where they paste a token. */
      readonly signIn: OAuthOptions | undefined;
    }
  /** As a client of its authorization server, the same for everybody; a token takes the place of a static `authorization`. */
  | { readonly kind: 'clientCredentials'; readonly oauth: RegisteredClient }
  /** Calls as whoever talks to the agent, with the token they came with behind the scheme; everything else as nobody (E-88, E-91). */
  | { readonly kind: 'caller'; readonly scheme: string };

/** A client that people have registered, with its secret. */
export type RegisteredClient = OAuthOptions & { readonly clientId: string; readonly clientSecret: string };

/** A tool that is counted on, and what it is given: a server without it is degraded. */
export interface ExpectedTool {
  readonly name: string;
  /** Names of the arguments; `undefined` where only the name counts. */
  readonly arguments: readonly string[] | undefined;
}

/** US dollars a call costs; a function reads them from the raw result, before any cut (W-34, W-103). */
export type CallCost = { readonly usd: number } | ((result: unknown) => { readonly usd: number });

/**
 * An MCP server that agents may use. Made by three front-ends that differ in defaults and in what they may set, never in what stands
 * behind (architecture, idea 5). Immutable.
 */
export interface ServerDefinition {
  readonly ref: ServerRef;
  readonly transport: ServerTransport;
  readonly auth: ServerAuth;
  /** Milliseconds until a connection stands, handshake and first list included. */
  readonly connectTimeoutMs: number;
  /** Milliseconds one call may take; progress does not extend it. */
  readonly callTimeoutMs: number;
  /** The server's own names of the tools to offer; `undefined` is every tool. */
  readonly only: readonly string[] | undefined;
  /** The server's own names of tools to leave out, of those that `only` left. */
  readonly except: readonly string[];
  /** In front of a tool's name, with two underscores; empty is none. */
  readonly prefix: string;
  /** UTF-8 bytes of a result that a consumer gets; `undefined` is no limit of the definition. */
  readonly maxResultBytes: number | undefined;
  /** Which tools a person must approve: every one, none, those not marked read-only (W-38), or the named ones, `*` in a name for any characters. */
  readonly gated: 'all' | 'none' | 'not-read-only' | readonly string[];
  /** Results of a server that is not trusted are labelled as from outside (W-40). */
  readonly trusted: boolean;
  /** Descriptions as the server has them, or capped and without directives (C23). */
  readonly descriptions: 'verbatim' | 'governed';
  readonly cost: CallCost | undefined;
  readonly expect: readonly ExpectedTool[];
  /** Adds two tools that list and read the server's resources (E-86). */
  readonly exposeResources: boolean;
  /** What happens to a tool that is no longer what a person accepted: it is reported, or held back too. */
  readonly changedTools: 'report' | 'hold';
}

/** `default/github`, as logs and messages name a server. */
export function formatServerRef({ scope, name }: ServerRef): string {
  return `${scope}/${name}`;
}
