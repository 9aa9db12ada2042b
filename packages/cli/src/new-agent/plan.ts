/** A question people ask, and its answer. */
export interface Question {
  /** What people say; the first is what they are offered. */
  readonly words: readonly string[];
  /** Expression the words stand for. */
  readonly meaning: string;
  /** Action that says the answer. */
  readonly action: string;
  readonly answer: string;
}

/** A value a form asks for. */
export interface Field {
  /** Name of the property it is kept in. */
  readonly name: string;
  readonly question: string;
}

/** An HTTP API that is read and written. */
export interface Api {
  readonly server: string;
  /** Path that is read; what was asked for is put behind it. */
  readonly readPath: string;
  /** Path that is written. */
  readonly writePath: string;
  /** Name of the secret with the API's key; none where it needs none. */
  readonly secret: string | undefined;
}

/** A language model with what it may use. */
export interface ModelPlan {
  /** `provider:model`. */
  readonly model: string;
  /** Name of the secret with its key; none where it needs none. */
  readonly secret: string | undefined;
  /** Where it is served; none where the provider's own address is meant. */
  readonly baseUrl: string | undefined;
  /** A host of this machine that has to be allowed; none where it is served elsewhere. */
  readonly localHost: string | undefined;
  /** Who it is and what it is to do. */
  readonly prompt: string;
  /** Registered MCP servers. */
  readonly servers: readonly string[];
}
