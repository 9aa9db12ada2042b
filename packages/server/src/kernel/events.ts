/**
 * The news of the platform: the whole list, each a plain value that names what is no longer as it was. The tables stay the
 * truth: news may be lost on the way and says only where to look again.
 */
export type PlatformEvent =
  /** A key was revoked. */
  | { readonly kind: 'key-changed'; readonly keyId: string }
  /** A person has other roles. */
  | { readonly kind: 'user-changed'; readonly userId: string }
  /** What a person had allowed a client was taken back. */
  | { readonly kind: 'grant-changed'; readonly grantId: string }
  /** An agent has another name, description or access, or is no longer there. */
  | { readonly kind: 'agent-changed'; readonly agentId: string }
  /** Every version of a document is gone: its id may come back with other versions under the same numbers. */
  | { readonly kind: 'document-removed'; readonly type: string; readonly id: string }
  /** A secret has another value or other agents, or is no longer there. */
  | { readonly kind: 'secret-changed'; readonly name: string }
  /** A person has another credential at MCP servers under this name, or none any more. Its renewal is no news. */
  | { readonly kind: 'credential-changed'; readonly userId: string; readonly name: string }
  /** A variable has another value, or is no longer there. */
  | { readonly kind: 'variable-changed'; readonly name: string }
  /** A version of an agent was deployed, perhaps not for the first time. */
  | { readonly kind: 'agent-deployed'; readonly agentId: string; readonly agentVersion: number }
  /** A client no longer waits for a call of its session, on whichever node it runs. */
  | { readonly kind: 'call-cancelled'; readonly call: string }
  /** The turn that holds this lease is to be ended, on whichever node it runs. */
  | { readonly kind: 'turn-cancelled'; readonly conversationId: string; readonly fence: number }
  /** Calls a node has let in since it last said so, by credential and agent. */
  | { readonly kind: 'calls-counted'; readonly calls: Readonly<Record<string, number>> }
  /** Nobody has to decide a pause any more. */
  | { readonly kind: 'pause-decided'; readonly pauseId: string }
  /** A client that was asked will not answer; the pause stays open. */
  | { readonly kind: 'question-left'; readonly pauseId: string }
  /** A log has more messages, or is closed. */
  | { readonly kind: 'log-changed'; readonly logId: string }
  /** An MCP server was added, changed or removed, or its tools were accepted. */
  | { readonly kind: 'server-changed'; readonly instance: string; readonly name: string }
  /** A job may run at once. */
  | { readonly kind: 'job-added'; readonly job: string };

/** `resync`: news of other nodes may have been missed, so whatever is kept in memory has to be looked up again. */
export type HeardEvent = PlatformEvent | { readonly kind: 'resync' };

/** Told after the commit of what the event is about, in order. Returns at once and throws nothing. */
export type EventListener = (event: HeardEvent, origin: EventOrigin) => void;

/** This node or another one on the same database. */
export type EventOrigin = 'here' | 'elsewhere';
