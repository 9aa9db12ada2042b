// The package ships no types. These are the parts of it that are used here, and no more.
declare module 'oidc-provider' {
  import type { EventEmitter } from 'node:events';
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export interface ClientMetadata {
    client_id: string;
    client_name?: string;
    client_uri?: string;
    redirect_uris: string[];
    application_type: 'web' | 'native';
    token_endpoint_auth_method: 'none' | 'client_secret_post' | 'client_secret_basic';
    grant_types: string[];
    response_types: string[];
  }

  export interface Client {
    readonly clientId: string;
    readonly clientName?: string;
    readonly clientUri?: string;
    readonly redirectUris: readonly string[];
    /** As our records have it: the hash. */
    readonly clientSecret?: string;
    redirectUriAllowed(value: string): boolean;
    compareClientSecret(presented: string): boolean;
  }

  export interface Interaction {
    readonly uid: string;
    readonly returnTo: string;
    readonly params: Readonly<Record<string, string | undefined>>;
    readonly result?: Readonly<Record<string, unknown>>;
  }

  export interface Grant {
    readonly accountId: string;
    readonly clientId: string;
  }

  export interface Token {
    readonly kind: string;
    readonly clientId: string;
    readonly grantId?: string;
    readonly accountId?: string;
    readonly exp?: number;
  }

  export interface OidcContext {
    readonly route: string;
    readonly client?: Client;
    readonly params?: Readonly<Record<string, string | string[] | undefined>>;
    readonly result?: { readonly consent?: { readonly grantId: string } };
    readonly entities: Readonly<Record<string, { readonly grantId?: string; readonly accountId?: string }>>;
  }

  export interface KoaContext {
    readonly oidc: OidcContext;
    body: unknown;
  }

  export class Provider extends EventEmitter {
    constructor(issuer: string, setup: object);
    /** Of this application alone: prototypes of the requests and contexts it makes. */
    readonly request: object;
    readonly context: object;
    silent: boolean;
    readonly Client: { find(id: string): Promise<Client | undefined>; readonly prototype: Client };
    readonly Grant: { find(id: string): Promise<Grant | undefined> };
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
  }

  export const errors: Readonly<
    Record<
      'InvalidRequest' | 'InvalidTarget' | 'InvalidGrant' | 'SessionNotFound' | 'InvalidClient',
      new (
        description?: string,
      ) => Error
    >
  >;

  export const interactionPolicy: {
    base(): { clear(): void; add(prompt: object): void };
    readonly Prompt: new (options: { name: string; requestable: boolean }, check: object) => object;
    readonly Check: new (
      reason: string,
      description: string,
      check: (context: KoaContext) => boolean,
    ) => object;
  };
}
