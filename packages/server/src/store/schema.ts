/**
 * The tables as Kysely sees them. Four column kinds only (dependencies.md, portable subset):
 * int (booleans 0/1, times epoch ms), real, text (JSON is text, decoded by the table module), bytes.
 * The migrations make them; the generated manifest proves both engines have exactly these.
 */
export interface Schema {
  users: { id: string; name: string; roles: string; created_at: number };
  /** How people sign in. */
  accounts: {
    user_id: string;
    /** In lower case; null for who has no password here. */
    login: string | null;
    /** Hash, with what it was made by. */
    password: string | null;
    /** In a row; 0 after one that succeeded. */
    failed_sign_ins: number;
    locked_until: number | null;
    disabled: number;
    /** Of the OpenID provider that knows the person, and their name there; null for local accounts. */
    issuer: string | null;
    subject: string | null;
  };
  /** Browsers in which somebody is signed in. */
  page_sessions: { id_hash: string; user_id: string; created_at: number; expires_at: number };
  /** Addresses that sign somebody in, once. */
  sign_in_links: {
    hash: string;
    user_id: string;
    /** `sign-in`, or `password`: it lets the person choose one. */
    purpose: string;
    expires_at: number;
  };
  /** What the authorization server remembers: clients, codes, tokens, and sign-ins under way. */
  authorization_records: {
    kind: string;
    id: string;
    /** JSON. */
    payload: string;
    grant_id: string | null;
    uid: string | null;
    used_at: number | null;
    created_at: number;
    expires_at: number | null;
  };
  /** What people have allowed clients. */
  grants: {
    id: string;
    user_id: string;
    client_id: string;
    /** As it was shown when it was allowed. */
    client_name: string;
    /** Which door its tokens open: `operator` or `agents`. */
    door: string;
    /** JSON list of ids; empty at the operator door. */
    agents: string;
    scope: string;
    created_at: number;
    expires_at: number;
    revoked_at: number | null;
  };
  /** Who besides its owner may use an agent: `everyone`, `user:<id>` or `role:<role>`. */
  agent_shares: { agent_id: string; grantee: string; created_at: number };
  /** Credentials of people at MCP servers. */
  personal_credentials: {
    /** Principal id. */
    user_id: string;
    name: string;
    data_key_id: string;
    sealed: Uint8Array;
    /** Another one after every change. */
    revision: number;
    /** The revision that the person gave: the same as long as it is only renewed. */
    given: number;
    /** Until then one node renews it, and the others wait. */
    renewing_until: number | null;
    created_at: number;
    updated_at: number;
  };
  /** People who are away at the authorization server of an MCP server. */
  server_sign_ins: {
    state_hash: string;
    user_id: string;
    credential: string;
    data_key_id: string;
    sealed: Uint8Array;
    expires_at: number;
  };
  /** Tools of servers that each person reaches by themselves, as they were listed last. */
  kept_tools: {
    instance: string;
    server: string;
    /** JSON. */
    tools: string;
    listed_at: number;
  };
  keys: {
    id: string;
    kind: string;
    user_id: string;
    agent_id: string | null;
    hash: string;
    prefix: string;
    name: string;
    scopes: string;
    created_at: number;
    expires_at: number | null;
    revoked_at: number | null;
    /** 1 for one that also opens agents others share with its owner. */
    shared: number;
    /** To the minute. */
    last_used_at: number | null;
  };
  server_secrets: { name: string; value: Uint8Array; created_at: number };
  /** Keys that secrets are encrypted with, each one encrypted with the vault key, which is never in the database. */
  data_keys: {
    id: string;
    /** Names the vault key that `wrapped` is encrypted with. */
    vault_key_id: string;
    wrapped: Uint8Array;
    /** 1 for the one that new secrets get, 0 for those that a rotation replaces. */
    is_current: number;
    created_at: number;
  };
  secrets: {
    name: string;
    data_key_id: string;
    sealed: Uint8Array;
    checksum: string;
    /** JSON list of agent ids; empty is every agent. */
    allowed_agents: string;
    description: string;
    /** The conversation it was told in, and goes with; null for those that people store. */
    conversation_id: string | null;
    created_by: string;
    created_at: number;
    modified_by: string;
    modified_at: number;
    /** To the hour. */
    last_accessed_at: number | null;
  };
  variables: {
    name: string;
    value: string;
    description: string;
    exportable: number;
    created_by: string;
    created_at: number;
    modified_by: string;
    modified_at: number;
  };
  agents: {
    id: string;
    owner_id: string;
    mcp_enabled: number;
    created_at: number;
    /** Another one after every change of the agent and of what is deployed of it. */
    revision: number;
  };
  documents: {
    type: string;
    id: string;
    current_version: number;
    deleted: number;
    name: string;
    description: string;
    /** In lower case as JavaScript knows it: what filters search, the same on both engines. */
    name_folded: string;
    description_folded: string;
    created_by: string;
    created_at: number;
    modified_by: string;
    modified_at: number;
  };
  document_versions: {
    type: string;
    id: string;
    version: number;
    body: string;
    created_by: string;
    created_at: number;
    /** Of agents: the earliest version whose running conversations may go on with this one; null for none but its own. */
    compatible_from: number | null;
  };
  deployments: {
    environment: string;
    agent_id: string;
    agent_version: number;
    status: string;
    deployed_by: string;
    deployed_at: number;
    /** As in the version that is deployed. */
    compatible_from: number | null;
  };
  agent_triggers: {
    intent: string;
    owner_id: string;
    /** JSON: which agents the intent stands for. */
    deployments: string;
    created_at: number;
    modified_at: number;
  };
  /** The agents of each trigger, to find triggers by agent. */
  agent_trigger_agents: { intent: string; agent_id: string };
  /** The one conversation a user has under an intent. */
  managed_conversations: {
    intent: string;
    user_id: string;
    environment: string;
    agent_id: string;
    conversation_id: string;
    created_at: number;
  };
  conversations: {
    id: string;
    agent_id: string;
    agent_version: number;
    environment: string;
    user_id: string;
    state: string;
    step_count: number;
    /** JSON: what rules and outputs count over the whole conversation. */
    counters: string;
    properties: string;
    lease_holder: string | null;
    lease_until: number | null;
    /** Grows with every claim; a commit with an older number is refused. */
    lease_fence: number;
    /** Steps behind the last one that were undone and can be redone. */
    undone_steps: number;
    /** Where the chain of its audit entries ends (`records/audit/chain.ts`); null before the first. */
    audit_head: string | null;
    created_at: number;
    updated_at: number;
  };
  conversation_steps: {
    conversation_id: string;
    step_index: number;
    input: string | null;
    data: string;
    output: string;
    /** JSON: what the turn changed in the conversation, to take it back. */
    changes: string;
    created_at: number;
  };
  /** Turns that have acted or wait: where to go on, on whichever node. */
  turn_checkpoints: {
    conversation_id: string;
    checkpoint: string;
    /** How often the turn was taken up. */
    attempts: number;
    /** 1 for a turn that is to do nothing more. */
    cancelled: number;
    created_at: number;
  };
  /** The journal: every effect of a turn that has not ended, from its intent on. */
  effects: {
    conversation_id: string;
    step_index: number;
    task_index: number;
    number: number;
    /** Of the lease the intent was written under. */
    fence: number;
    /** For people: what was about to be done. */
    what: string;
    /** JSON; null until it is known. */
    outcome: string | null;
    started_at: number;
  };
  pauses: {
    id: string;
    kind: string;
    conversation_id: string;
    agent_id: string;
    /** Owner of the conversation. */
    user_id: string;
    state: string;
    reason: string;
    timeout_policy: string;
    /** ISO 8601; empty when it waits without end. */
    approval_timeout: string;
    opened_at: number;
    verdict: string | null;
    note: string | null;
    decided_by: string | null;
    decided_at: number | null;
    /** JSON of what is asked, besides the reason. */
    request: string | null;
    /** JSON of what is done when it is approved, as it was when it was asked: nobody sees it as it stands here. Gone once it is decided. */
    frozen: string | null;
    /** JSON of what was decided, besides the verdict; without what is to be kept no longer than the turn. */
    answer: string | null;
  };
  /** A row for each task, from before there were chains; nothing is added. */
  audit_entries: {
    id: string;
    conversation_id: string;
    agent_id: string;
    agent_version: number;
    user_id: string;
    environment: string;
    step_index: number;
    task_index: number;
    task_id: string;
    task_type: string;
    duration_ms: number;
    input: string | null;
    output: string;
    actions: string;
    created_at: number;
  };
  /** What one commit of a turn, or a decision, did: a link of the conversation's chain. */
  audit_records: {
    conversation_id: string;
    /** Place in the conversation's chain, from 1. */
    seq: number;
    agent_id: string;
    agent_version: number;
    user_id: string;
    environment: string;
    /** JSON: one element for each task. */
    entries: string;
    hash: string;
  };
  /** What happened to the platform outside conversations: the chain named `platform`. */
  audit_events: {
    seq: number;
    created_at: number;
    user_id: string;
    via: string;
    operation: string;
    outcome: string;
    /** JSON: ids of what it was about. */
    subject: string;
    hash: string;
  };
  /** Where chains end that have no row of their own. */
  audit_heads: { chain: string; head: string };
  idempotency_keys: {
    principal_id: string;
    agent_id: string;
    key: string;
    /** SHA-256 of the arguments: the same key with others is refused. */
    digest: string;
    /** The lease of the call that claimed the key: the call is in flight while that lease is. */
    conversation_id: string;
    fence: number;
    /** JSON of the stored answer; null until the call has one. */
    answer: string | null;
    expires_at: number;
  };
  log_entries: {
    id: string;
    /** On the clock of the node. */
    at: number;
    level: string;
    logger_name: string;
    message: string;
    environment: string | null;
    agent_id: string | null;
    agent_version: number | null;
    conversation_id: string | null;
    user_id: string | null;
    instance_id: string;
    /** JSON of what else the line had. */
    details: string | null;
  };
  files: {
    id: string;
    owner_id: string;
    filename: string;
    content_type: string;
    size: number;
    /** After it no upload is begun. */
    upload_until: number;
    /** The upload whose chunks are the file; null until one is complete. */
    upload_id: string | null;
    sha256: string | null;
    created_at: number;
    uploaded_at: number | null;
  };
  /** Which files came with the messages of a conversation; they may be gone since. */
  conversation_files: { conversation_id: string; step_index: number; file_id: string; size: number };
  file_chunks: { file_id: string; upload_id: string; chunk_index: number; bytes: Uint8Array };
  /** One for each conversation that was opened with a log, under its id, and one for each task. */
  message_logs: {
    id: string;
    kind: string;
    /** The same as `id` for a conversation's, which goes when the conversation goes; null for a task's. */
    conversation_id: string | null;
    agent_id: string;
    owner_id: string;
    title: string | null;
    /** JSON, for the owner's own program. */
    metadata: string | null;
    /** Of the latest message; the next one has a greater one. */
    last_position: number;
    created_at: number;
    updated_at: number;
    closed_at: number | null;
  };
  messages: {
    log_id: string;
    position: number;
    id: string;
    type: string;
    state: string;
    in_reply_to: string | null;
    body: string;
    /** JSON. */
    payload: string | null;
    created_at: number;
  };
  /** Messages for agents that are worked on in the background: tasks, and what is said in a conversation with a log. */
  deliveries: {
    id: string;
    kind: string;
    /** Where what comes of it is written. */
    log_id: string;
    agent_id: string;
    owner_id: string;
    /** Names the key that asked, never its secret. */
    credential: string;
    /** The conversation that was asked for; null for a task that begins one. */
    context_id: string | null;
    /** Where its turn runs or ran. */
    conversation_id: string | null;
    message: string;
    /** JSON: ids of files. */
    attachments: string;
    /** JSON. */
    metadata: string | null;
    /** What an idempotency key is one of: an agent's tasks, or a conversation's messages. */
    key_scope: string | null;
    idempotency_key: string | null;
    /** SHA-256 of the arguments: the same key with others is refused. */
    digest: string;
    state: string;
    /** JSON: the reply or the error, once it has ended; what it waits for, while it does. */
    result: string | null;
    /** Why its owner cancelled it. */
    reason: string | null;
    created_at: number;
    started_at: number | null;
    deadline_at: number;
    ended_at: number | null;
  };
  jobs: {
    id: string;
    kind: string;
    /** JSON, for whoever does the job. */
    payload: string;
    /** How long after one run the next is due; null for a job that is done once. */
    every_ms: number | null;
    /** When a worker may take it. A claim moves it to the end of its lease. */
    due_at: number;
    /** The node whose worker has it. */
    holder: string | null;
    /** Grows with every claim; whoever ends a job with an older number is refused. */
    fence: number;
    /** Claims since the job was added, or since a recurring one was last done. */
    attempts: number;
    last_error: string | null;
    /** When it was given up; it stays for people to see. */
    dead_at: number | null;
    created_at: number;
  };
  user_memories: {
    id: string;
    user_id: string;
    key: string;
    /** JSON. */
    value: string;
    category: string;
    visibility: string;
    /** Who wrote it first. */
    source_agent_id: string;
    /** The agent that is part of what the entry is known by; empty for a global one, of which a person has one a key. */
    identity_agent_id: string;
    /** JSON. */
    group_ids: string;
    source_conversation_id: string | null;
    conflicted: number;
    access_count: number;
    created_at: number;
    updated_at: number;
  };
  /** MCP servers that were added while the platform runs. */
  servers: {
    instance: string;
    name: string;
    /** JSON: the options as they were given, with references in the place of credentials. */
    options: string;
    /** Another one after every change. */
    revision: number;
    created_by: string;
    created_at: number;
    updated_at: number;
  };
  /** Tools of registered servers as a person has accepted them. */
  accepted_tools: {
    instance: string;
    server: string;
    tool: string;
    digest: string;
    /** JSON: what of the tool is compared. */
    snapshot: string;
    accepted_by: string;
    accepted_at: number;
  };
}
