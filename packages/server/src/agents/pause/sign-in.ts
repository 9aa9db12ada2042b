import type { NeedsSignIn } from '../../connections/call/outcome.ts';
import type { Decision, NewPause, Pause } from '../../store/tables/pauses.ts';

/** A server at which the person in the conversation has to sign in. */
export interface WaitingServer {
  /** `default/linear`. */
  readonly server: string;
  /** Of the credential that it takes, by name. */
  readonly credential: string;
  /** The one that it does not take, where they had one: see `PersonalCredential.given`. */
  readonly given?: number | undefined;
  /** Scopes that it wants besides. */
  readonly scope?: string | undefined;
}

/** Has the person given another credential than the one that does not do? */
export type HasArrived = (server: WaitingServer, userId: string) => Promise<boolean>;

/** What a SIGN_IN pause holds. */
interface SignInRequest {
  readonly servers: readonly WaitingServer[];
}

/** What came of it: marks a decision as one about signing in. */
interface SignInAnswer {
  readonly signIn: 'done' | 'declined';
}

export const SIGNED_IN: SignInAnswer = { signIn: 'done' };
export const DECLINED: SignInAnswer = { signIn: 'declined' };

/** Who ends the wait when all credentials have arrived. */
export const BY_SIGN_IN = 'system:signed-in';

/** What a person says, or picks, who does not want to sign in. */
export const CANCEL = 'Cancel';

/** Each server once, as the calls name them. */
export function waitingServers(calls: readonly NeedsSignIn[]): readonly WaitingServer[] {
  const servers = new Map<string, WaitingServer>();
  for (const { server, credential, given, scope } of calls) {
    servers.set(server, {
      ...{ server, credential },
      ...(given !== undefined && { given }),
      ...(scope !== undefined && { scope }),
    });
  }
  return [...servers.values()];
}

/** The pause for all of these servers. It waits without end: nobody else can sign in, and nothing is done meanwhile. */
export function signInPause(servers: readonly WaitingServer[]): Pick<
  NewPause,
  'timeoutPolicy' | 'approvalTimeout' | 'reason' | 'request'
> & {
  readonly kind: 'SIGN_IN';
  readonly frozen: undefined;
} {
  const request: SignInRequest = { servers };
  return {
    ...{ kind: 'SIGN_IN', timeoutPolicy: 'WAIT_INDEFINITELY', approvalTimeout: '' },
    ...{ reason: `${sentence(servers)}.`, request, frozen: undefined },
  };
}

/** The servers that a pause is about; none of a pause of another kind. */
export function serversIn({ kind, request }: Pick<Pause, 'kind' | 'request'>): readonly WaitingServer[] {
  return kind === 'SIGN_IN' ? (request as SignInRequest).servers : [];
}

/** Was the person asked to sign in, and not somebody to approve? */
export function isAboutSignIn({ answer }: Pick<Decision, 'answer'>): boolean {
  return typeof answer === 'object' && answer !== null && 'signIn' in answer;
}

/** What the person in the conversation is told; `base` is the address of the platform. Nothing in the address is secret: it is good for them alone. */
export function signInText(pause: Pick<Pause, 'id' | 'kind' | 'request'>, base: string): string {
  return `${sentence(serversIn(pause))}: ${signInAddress(pause, base)}`;
}

/** Why a conversation waits, for whoever reads it. */
export function shownReason(pause: Pick<Pause, 'id' | 'kind' | 'request' | 'reason'>, base: string): string {
  return pause.kind === 'SIGN_IN' ? signInText(pause, base) : pause.reason;
}

export function signInAddress({ id }: Pick<Pause, 'id'>, base: string): string {
  return `${base}/connect/${id}`;
}

/** Does a message say that they do not want to? */
export function saysCancel(message: string | undefined): boolean {
  return message?.trim().toLowerCase() === CANCEL.toLowerCase();
}

function sentence(servers: readonly WaitingServer[]): string {
  const names = servers.map(({ server }) => server.replace(/^default\//, ''));
  const last = names.at(-1)!;
  return names.length === 1
    ? `${last} needs you to sign in`
    : `${names.slice(0, -1).join(', ')} and ${last} need you to sign in`;
}
