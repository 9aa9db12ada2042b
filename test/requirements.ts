// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
/**
 * What the product must do: an id and one testable sentence, taken once from the requirements of the project. Tests cite the ids
 * in their titles, requirements.test.ts compares the citations with the states below.
 *
 * `W-` WardrikMCP, `B-` BeeOS MCP gateway, `A-` AbstractMcpTool, `E-` EDDI; `BX-` and `EX-` are public supplements, useful
 * defaults that do not bind. `[inferred: ...]` says what the source leaves open and how it is read.
 * Brand-bearing names in the sentences are mapped to ours by docs/seed-names.md.
 */
const LINES = {
  'W-01':
    'The component is started with a `name` and a list of named `servers`; agents refer to it by that name.',
  'W-02':
    "Several instances with different names can run side by side and don't see each other's servers. [inferred: `name` is passed at start, at the capability, and to add/servers/remove]",
  'W-03':
    "A server's transport is either a local command (`stdio`: `command`, `args`, `env`) or HTTP (`streamable_http`: `url`, `headers`).",
  'W-04':
    '`transport` is required; a server without it, or with an unknown kind, is refused when declared. [inferred for "refused when declared": option marked required]',
  'W-05': '`url` is the endpoint exactly as the server publishes it: nothing is appended to it.',
  'W-06': 'Configured `headers` go out with every HTTP request to that server.',
  'W-07':
    'A command runs with exactly its own `env` plus these variables of the app, when set: `HOME`, `LANG`, `LC_ALL`, `LOGNAME`, `PATH`, `SHELL`, `TERM`, `TMPDIR`, `USER`.',
  'W-08':
    "No other variable of the app's environment is visible to the command (the seed starts it through `env`, which unsets the rest).",
  'W-09':
    'A variable named in `env` overrides the inherited one of the same name. [inferred: it "gets its `env`"]',
  'W-10': 'Each server connects independently of the others.',
  'W-11':
    "A server that is down offers no tools and neither blocks nor fails the others, the app's start, or the agent's turn.",
  'W-12': 'A down server is retried with backoff, at most one minute (60 000 ms) between tries, without end.',
  'W-13':
    'Backoff grows exponentially from about one second and resets after a successful connection. [inferred: only the cap is given]',
  'W-14':
    'An agent gets tools through a capability naming the instance and the servers to take tools from; tools of servers not named are not offered.',
  'W-15':
    'An agent is started with `agent_id`, `model` (form `provider:model`, e.g. `anthropic:claude-haiku-4-5`) and `capabilities`.',
  'W-16': 'The model sees each tool as `<server>__<tool>` (two underscores), e.g. `github__search_issues`.',
  'W-17': "With `prefix` set, that prefix replaces the server's name in the tool name.",
  'W-18': "The model gets the server's own description of the tool, unchanged.",
  'W-19': "The model gets the server's own JSON Schema of the tool, unchanged.",
  'W-20': 'When a server announces that its tools changed, the agent has the new list on its next turn.',
  'W-21': 'The list does not change within a running turn. [inferred from "on its next turn"]',
  'W-22':
    'Two servers may have tools of the same name; the prefix keeps them apart. [inferred from the naming rule]',
  'W-23': "`only`: the server's (unprefixed) tool names to offer; default: every tool.",
  'W-24': "`except`: the server's tool names to leave out; default: none.",
  'W-25':
    "With both, `except` applies to what `only` left. [inferred: same order as EDDI's whitelist/blacklist, E-87]",
  'W-26': '`timeout`: milliseconds one call may take; default `60_000`.',
  'W-27': "A call past its timeout ends as the call's error; the agent's turn goes on. [inferred]",
  'W-28': '`max_result_bytes`: bytes of a result the model gets; default `131_072`.',
  'W-29': "`prefix`: default the server's name.",
  'W-30': '`credential_name`: the credential each principal reaches the server with; default none.',
  'W-31': '`credential_header`: where the credential goes over HTTP; default `"authorization"`.',
  'W-32': '`credential_scheme`: default `"Bearer"`.',
  'W-33': '`credential_env`: environment variable the credential goes in, for a command; default none.',
  'W-34': "`cost`: each call's cost, as fixed `usd: 0.001`, or a function of the result; default none.",
  'W-35': "`gated: true`: every tool of the server needs a person's approval.",
  'W-36': '`gated: false`: none does.',
  'W-37': '`gated` as a list: the named tools do; names may hold `*` as a wildcard (`"create_*"`).',
  'W-38':
    '`gated` default: the tools not marked read-only need approval (a tool with no hint at all is therefore gated).',
  'W-39': "Names in `gated` are the server's own, unprefixed. [inferred: as in `only`/`except`]",
  'W-40': '`trusted: false` (default): answers are labelled `"outside"`.',
  'W-41': '`trusted: true`: answers are not labelled.',
  'W-42':
    'An unknown option, or an option of the wrong type, is refused with an error naming it. [inferred: options are schema-validated; public: depends on `nimble_options`]',
  'W-43': "The model gets a result's structured content when the server sends it.",
  'W-44': "Without structured content it gets the result's text.",
  'W-45': 'A result over `max_result_bytes` is cut, and the model is told that it was cut.',
  'W-46':
    'The cut keeps valid UTF-8 (never splits a character) and counts bytes, not characters. [inferred: the option counts bytes]',
  'W-47':
    "An error the tool returns (`isError`) reaches the model as the call's error, not as a normal result.",
  'W-48':
    'Several text parts are joined; non-text parts are described, not dropped silently. [inferred: the seed names only structured content and text]',
  'W-49': 'With a `store`, servers can be added and removed while the app runs.',
  'W-50': '`add(instance, name, options)` answers ok.',
  'W-51': '`servers(instance)` lists the names (e.g. `["linear"]`).',
  'W-52': "`remove(instance, name)` answers ok; the server's tools disappear.",
  'W-53': 'Every node that shares the store sees the added and removed servers.',
  'W-54':
    'Options of a runtime-added server must be data, not functions; a function (e.g. as `cost`) is refused.',
  'W-55': 'Each node re-reads the store every minute (60 000 ms).',
  'W-56': '`reconcile(instance)` re-reads it at once.',
  'W-57':
    '`add`/`remove` without a store is an error. [inferred: "Give WardrikMCP a `:store` to add and remove servers"]',
  'W-58':
    'The adding node connects at once, without waiting for the next re-read. [inferred: `add` answers ok and `servers` lists it]',
  'W-59':
    "A runtime server cannot take a statically configured server's name; the error says so. [inferred: names are the key of both]",
  'W-60':
    'Removing an unknown name answers ok (idempotent), removing a statically configured one is an error. [inferred]',
  'W-61': 'Runtime servers survive an app restart. [inferred: they live in the store]',
  'W-62': 'A `check` function is called with each URL when a server is added.',
  'W-63': 'It is called again each time a connection starts (so a later DNS or policy change is caught).',
  'W-64': 'With a check, runtime servers must use HTTP; a command is refused.',
  'W-65':
    "A refused add answers an error text of the form `<url> can't be reached: <reason>`, e.g. `https://10.0.0.5/mcp can't be reached: 10.0.0.5 is a private address`.",
  'W-66': 'A refused server is not stored. [inferred]',
  'W-67':
    'A refusal at connection start counts as "server down" (no tools, retried with backoff). [inferred]',
  'W-68':
    'Statically configured servers may still be commands; their URLs are checked at connection start too. [inferred: only "runtime servers must use HTTP", but the check runs "each time a connection starts"]',
  'W-69': "Redirects don't escape the check. [inferred: purpose of the check; also BX-42]",
  'W-70':
    'With `credential_name`, each principal reaches the server with their own credential, over their own connection.',
  'W-71':
    "The credential comes from the agent's credentials provider, looked up by that name and the principal.",
  'W-72':
    'Over HTTP it is sent as `authorization: Bearer <token>`; header and scheme follow `credential_header` / `credential_scheme`.',
  'W-73': 'A command gets it in the variable named by `credential_env`.',
  'W-74':
    '`credential_name` on a command without `credential_env` is refused. [inferred: there would be nowhere to put it]',
  'W-75':
    'A principal without a credential is asked to sign in, and the call waits; it goes on after sign-in.',
  'W-76':
    'The waiting survives a restart of the app. [inferred; public: core\'s summary "survive a crash, wait for a person"]',
  'W-77': "A changed credential reconnects that principal's connection.",
  'W-78':
    'When the server refuses the credential (401 or 403), this is reported to the provider (`refused`, two arguments: who/which credential, and what was refused).',
  'W-79': 'After a refusal the call is tried once more — exactly once.',
  'W-80': "On a refusal an OAuth grant is renewed; where it can't be, the person is asked to sign in again.",
  'W-81': 'A second refusal is the call\'s error. [inferred from "once more"]',
  'W-82':
    'Until someone has connected, the server offers exactly one tool, `<server>__connect` (e.g. `linear__connect`), so that an agent can start.',
  'W-83':
    "After someone connected, the server's tools are kept in the store and offered to everyone, also to principals who have not connected yet.",
  'W-84':
    'Calling `<server>__connect` starts the sign-in of the calling principal. [inferred from its purpose]',
  'W-85': 'With a `prefix` the connect tool is `<prefix>__connect`. [inferred: same naming rule]',
  'W-86': 'Without a store the kept tools live in memory until restart. [inferred]',
  'W-87': "A person's connection closes after five minutes (300 000 ms) without a call.",
  'W-88': 'The next call after that reconnects without notice. [inferred]',
  'W-89':
    'One principal\'s credential is never used for another principal\'s call. [inferred from "their own connection"]',
  'W-90': '`readOnlyHint` → annotations `read_only` and `idempotent`.',
  'W-91': '`destructiveHint` → `destructive`.',
  'W-92': '`idempotentHint` → `idempotent`.',
  'W-93': '`openWorldHint` → `open_world`.',
  'W-94': "A hint the server doesn't give is not set (MCP's protocol defaults are not filled in).",
  'W-95':
    'A hint given as `false` sets the annotation to `false`; `readOnlyHint: false` does not set `idempotent`. [inferred: "readOnly implies idempotent" only holds for true]',
  'W-96':
    'An explicit `idempotentHint: false` next to `readOnlyHint: true` leaves `idempotent` true. [inferred: W-90 is unconditional; conflicting hints otherwise unspecified]',
  'W-97':
    'A policy can be built as an ordered default list: `destructive: deny`, `read_only: allow`, `else: ask`; the first annotation that is true decides.',
  'W-98':
    "`ask` makes the call wait for a person; `deny` ends it as the call's error; `allow` lets it through.",
  'W-99':
    'A tool that is both destructive and read-only is denied by that example (order matters). [inferred: list order]',
  'W-100':
    'A gated tool waits even if the policy says allow; a denied tool is denied even if not gated. [inferred: the stricter of the two wins]',
  'W-101': 'A fixed `cost` is charged per call.',
  'W-102': 'A cost function gets the result and returns the amount, e.g. from `result._meta.usd`.',
  'W-103':
    'The function sees the raw result including `_meta`, before any cut. [inferred: it reads `_meta`, which the model never gets]',
  'W-104': "Each call's cost is measured on its step, so budgets count it.",
  'W-105': "A failing cost function doesn't fail the call; the cost is recorded as unknown. [inferred]",
  'W-106': "An event `[wardrik_mcp, tools]` is emitted each time a server's tools change.",
  'W-107': 'Its measurement is `count`: the number of tools the server offers; `0` while it is down.',
  'W-108': "Its metadata: `mcp` (the instance's name) and `server` (the server's name).",
  'W-109': 'Going down and coming back each emit the event. [inferred: the tool count changes]',
  'B-01':
    'Each agent with `mcp_enabled=true` is a conforming MCP tool server: discover, call, optionally stream.',
  'B-02': 'The owner does nothing else to expose an agent than set `mcp_enabled=true`.',
  'B-03': 'MCP endpoint: `POST /{agentId}/mcp` (public host `https://mcp.beeos.ai`).',
  'B-04': 'Transport: Streamable HTTP; JSON-RPC 2.0 over HTTP, SSE for streaming.',
  'B-05': '`GET /.well-known/oauth-authorization-server` serves the authorization-server metadata.',
  'B-06': '`GET /.well-known/oauth-protected-resource` serves the protected-resource metadata.',
  'B-07': '`GET /healthz` is the health probe (no credential). [inferred for "no credential": probe]',
  'B-08': 'Local default address `http://localhost:8094`, same path shape.',
  'B-09': "The agent id in the URL pins the MCP session to one agent; a session can't reach another agent.",
  'B-10': 'One host can mount several agents by registering several endpoints.',
  'B-11':
    'An unknown agent id is refused without telling whether it exists. [inferred; public: `agent_not_found` 404 "unknown to the caller\'s ACL", code -32001 on A2A]',
  'B-12':
    'Accepted: OAuth 2.1 bearer, an HS256 JWT issued by `/oauth/token`, as `Authorization: Bearer <jwt>`.',
  'B-13': 'Its scope: per session, the set of agents granted at consent; another agent is refused.',
  'B-14': 'Accepted: user API key `oag_…` as `Authorization: Bearer oag_…`.',
  'B-15': "Its scope: all MCP-enabled agents of the key's owner; other people's agents are refused.",
  'B-16': 'Accepted: agent API key `bak_…` as `X-Agent-API-Key: bak_…` or `Authorization: Bearer bak_…`.',
  'B-17': "Its scope: one agent; the URL's `{agentId}` must match.",
  'B-18': 'Order of checking is fixed: OAuth → user key → agent key.',
  'B-19':
    'Two *different* credentials in one request (e.g. `Bearer oag_…` plus another value in `X-Agent-API-Key`) → `401`.',
  'B-20': 'The same `bak_` value in both headers is fine.',
  'B-21':
    'A `bak_` of another agent → `401`. [inferred; public: A2A page lists 401 for "scoped to a different agent"]',
  'B-22':
    '`oag_` or a JWT in `X-Agent-API-Key` is not accepted → `401`. [inferred: the header is named only for `bak_`]',
  'B-23': 'A revoked or expired key → `401`. [inferred; public]',
  'B-24': 'The gateway always demands a credential, also locally. [inferred: no open mode is described]',
  'B-25': '`POST /oauth/register` (dynamic client registration) → JSON with `client_id`.',
  'B-26': 'Browser opens `/oauth/authorize?client_id=…&code_challenge=…&redirect_uri=…&state=…`.',
  'B-27': 'The gateway redirects to the web login: `<MCP_WEB_LOGIN_URL>/mcp-login?return_to=…`.',
  'B-28': 'The user signs in and picks which agents to grant.',
  'B-29':
    'The web app returns to the gateway, which redirects to `redirect_uri` with `?code=…&state=…` (state unchanged).',
  'B-30': '`POST /oauth/token` with `code_verifier` → access token.',
  'B-31': 'The token then works on `/{agentId}/mcp`.',
  'B-32':
    'A wrong `code_verifier`, a reused or expired code, or another `redirect_uri` is refused. [inferred: PKCE/OAuth 2.1; public: code lives 120 s]',
  'B-33':
    'An unregistered `redirect_uri` is refused at `/oauth/authorize` without redirecting to it. [inferred: OAuth 2.1]',
  'B-34':
    'Refresh follows the usual refresh-token rules: `grant_type=refresh_token` works. [stated as "standard OAuth refresh-token semantics"; that the token answer carries `refresh_token` is inferred — the public page\'s sample answer shows none]',
  'B-35':
    'Users with no MCP-enabled agent can\'t grant anything; the consent page says so. [inferred: "must have at least one MCP-enabled agent"]',
  'B-36': '`GET /api/v1/agents` on the OpenAPI surface shows `mcp_enabled` per agent.',
  'B-37': 'Env `MCP_PUBLIC_URL` (e.g. `http://localhost:8094`) sets the advertised base URL of the gateway.',
  'B-38':
    'Env `MCP_WEB_LOGIN_URL` names the web app (locally `http://localhost:3000`), which serves `/mcp-login`.',
  'B-39':
    'A `redirect_uri` on localhost works (the browser reaches it). [inferred: "must be reachable by the browser"]',
  'B-40': 'With `oag_`/`bak_` no OAuth step is needed.',
  'B-41':
    '`tools/list` as the very first request, without `initialize` and without a session id, is answered. [inferred from both curl examples]',
  'B-42':
    'A request with only `Content-Type: application/json` and no special `Accept` is answered as plain JSON. [inferred from both curl examples]',
  'B-43': '`bak_` keys are revocable independently of `oag_` keys.',
  'B-44': "A `bak_` is issued explicitly by the agent's owner, and its issuing is auditable.",
  'B-45': "Losing a `bak_` exposes one agent's integration only.",
  'B-46':
    'The gateway implements four JSON-RPC methods; the seed shows three (`initialize`, `tools/list`, `tools/call`) — the fourth is not named (3.4 is about cancelling and adds no method). Best reading: `ping`, with `notifications/initialized` accepted (202). [inferred: every conforming client sends both; an unknown method must be -32601]',
  'B-47': 'All requests are POSTs to `/{agentId}/mcp`; answers are JSON-RPC 2.0 envelopes.',
  'B-48':
    "`initialize` returns the gateway's protocol version and capabilities; a client proposing `2024-11-05` with `capabilities: {tools: {}}` and `clientInfo` is served.",
  'B-49': '`initialize` may be sent again at each session start.',
  'B-50': '`tools/list` returns exactly one tool: the agent of the URL.',
  'B-51': "Its name, description and input schema come from the agent's Agent Card.",
  'B-52': 'Its name in the example is the agent id (`agent_abc123`).',
  'B-53': 'Input schema: object; `message` string (required), `context_id` string (optional).',
  'B-54': 'The shape is the same for every agent (message in, reply out).',
  'B-55': 'Structured input is carried inside `message` and validated by the agent, not by the gateway.',
  'B-56':
    '`idempotency_key` and `attachments` are accepted although the example schema does not list them; the schema must not forbid extra properties (or lists them as optional). [inferred from 4: both go in `arguments`]',
  'B-57': '`tools/call` is synchronous by default and answers `result.content: [{type: "text", text}]`.',
  'B-58':
    'With an `Accept` that allows SSE, the gateway writes `notifications/progress` events as the agent emits `agent_reply_delta`, and ends the stream with the `result` under the same JSON-RPC id.',
  'B-59':
    "A `tools/call` naming another tool than the listed one is an error. [inferred; public: code -32601 on BeeOS's tools page, but MCP itself says -32602]",
  'B-60':
    'There is no cancel method; a long job goes in parallel through the OpenAPI tasks surface and is cancelled by `POST /tasks/{id}/cancel`.',
  'B-61': "The MCP call then sees the agent's terminal state through the same message channel.",
  'B-62': '`tools/list` is read-only and idempotent, safe across reconnects.',
  'B-63': 'Each JSON-RPC id gets exactly one `result` or exactly one `error`.',
  'B-64':
    "A cancellation on the server's side (deadline, agent crash) comes as a JSON-RPC error with a stable `code`.",
  'B-65':
    'The same agent is reachable through OpenAPI and A2A, and the reply is byte-identical on all (one `agent_reply` from one channel).',
  'B-66':
    "`arguments.idempotency_key` is honoured on the underlying invocation: the same key doesn't run the agent twice.",
  'B-67':
    '`arguments.attachments[].file_id` (from `POST /api/v1/files/presign-upload`) reaches the agent as a normal multi-part `chat_message`.',
  'B-68': "No durable async: a call doesn't outlive its request; such work belongs to OpenAPI tasks.",
  'B-69': 'No multi-turn within a call: each `tools/call` is a new turn.',
  'B-70':
    'Continuity on the server: create a conversation on the OpenAPI surface and pass its id as `arguments.context_id`.',
  'B-71':
    'Without `context_id` a call has no memory of earlier calls. [inferred: "each tools/call is a new turn"; the public tools page says calls of one `Mcp-Session-Id` share a channel — see one-system.md section 4, C12]',
  'B-72': 'No server push outside a call; completion notices are OpenAPI webhooks.',
  'B-73': 'Rate limits apply per credential × agent.',
  'B-74':
    'A rate-limited call is reported in the usual MCP error form (`code`, `message`) with code `rate_limited`, and without `Retry-After`.',
  'B-75': 'Agent not MCP-enabled → `401 unauthorized`, even with a valid OAuth token.',
  'B-76': '`PATCH /api/v1/agents/{id}` with `mcp_enabled=true` cures it.',
  'B-77':
    'Missing or expired credential → `401` with `WWW-Authenticate: Bearer realm="MCP", resource_metadata="…/.well-known/oauth-protected-resource"`.',
  'B-78': 'Empty `arguments.message` → `400 invalid_param`.',
  'B-79': '`attachments[i].file_id` missing or of another owner → `400 invalid_param`.',
  'B-80': "`GET /api/v1/files/{id}` with the owner's `oag_` shows whether a file is theirs.",
  'B-81': 'Agent offline or without a message subscription → `503 agent_service_unavailable`.',
  'B-82':
    "`GET /api/v1/instances` shows the instance state (e.g. `STOPPED`) and the agent's `delivery_mode` (e.g. `push`).",
  'B-83': 'A repeated `idempotency_key` while the first call is still in flight → `409 conflict`.',
  'B-84':
    'After the first reply the key can be waited out or changed; a repeat *after* completion gets the first answer again. [first half stated; second public: cached response within the TTL]',
  'B-85':
    "[trap] The seed's error codes are strings; JSON-RPC demands integers. Carry both: integer `error.code`, string in `error.data.code`, HTTP status as listed. [inferred; public pages show -32003, -32601, -32602, -32603 next to the string catalogue]",
  'B-86':
    'A client configured as `{"transport": "streamable-http", "url": ".../agent_abc123/mcp"}` works end to end: registration → authorize → consent → token → `tools/list` → `tools/call`.',
  'B-87':
    "The tool appears to people under the agent's human name (\"BeeOS CSV Analyst\"): the tool's `title` (or server title) carries the card's display name. [inferred: the listed `name` is the id]",
  'B-88': 'The client caches the token after the first session; the server needs nothing for that.',
  'BX-01':
    '`oag_` + 64 hex (32 random bytes); shown in plaintext once; only a SHA-256 hash kept; first 12 characters kept as display prefix. `POST /api/v1/api-keys {name, rate_limit_per_minute, expires_at}`, `GET`, `DELETE /{id}`; no rotation endpoint.',
  'BX-02':
    '`bak_` + 64 hex; `POST /api/v1/agents/{agentId}/keys {name}`; at most 3 active keys per agent; list and delete likewise.',
  'BX-03': 'No per-route scopes: an `oag_` acts as its owner.',
  'BX-04':
    'OAuth: public clients only (no secret), `code_challenge_method=S256`, code TTL 120 s, access token HS256, `expires_in` 3600; register body `{client_name, redirect_uris}`; answer `{client_id: "mcp_client_…", …}`; token request is form-encoded. A token is valid on the MCP host only.',
  'BX-05':
    '401 header value on the oauth page: `Bearer realm="MCP", resource_metadata="/.well-known/oauth-protected-resource"`.',
  'BX-06':
    'Envelope of REST errors: `{success:false, error:{type, code, message, details}}`; `type` ∈ api_error, invalid_request_error, authentication_error, permission_error, rate_limit_error, not_found_error, conflict_error, validation_error.',
  'BX-07':
    'Codes: 400 `invalid_json`, `invalid_body`, `invalid_param`, `missing_param`; 401 `unauthorized`, `invalid_token`, `missing_token`; 403 `forbidden`; 404 `agent_not_found` (also `not_found` for webhook deliveries); 409 `conflict`; 413 `payload_too_large`; 422 `login_rejected`; 429 `rate_limited`; 500 `internal_error`; 503 `agent_offline`, `agent_service_unavailable`, `auth_unavailable`, `auth_transient`, `refresh_transient`, `session_unavailable`; 504 `service_timeout`; streaming only: `agent_reply_error`.',
  'BX-08':
    '`conflict` has three causes told apart by message: `agent rejected the request`, `task is already closed`, `duplicate idempotency key`.',
  'BX-09':
    'JSON-RPC codes on MCP: -32601 tool not found, -32602 invalid arguments, -32003 agent timeout, -32603 internal. On A2A: -32600, -32601, -32602, -32603, -32000 task not found, -32001 agent not found, -32002 agent offline, -32003 task timeout.',
  'BX-10': '`tools/call` default timeout 60 s → -32003 "Agent reply timeout".',
  'BX-11':
    'Body limits: catalog/instance/webhook routes 64 KiB; invoke/tasks/conversations 1 MiB. OpenAPI rate limits do send `Retry-After` (MCP does not, B-74).',
  'BX-12': 'Attachment element: `{file_id, filename?, content_type?}`.',
  'BX-13': 'A repeat of an `idempotency_key` within its TTL (value unknown) gets the cached response.',
  'BX-14': 'Result content may be `text`, `image`, `resource`.',
  'BX-15':
    'The tools page speaks of skills exposed as several tools, and the resources page of `resources/list|read`, `prompts/list|get` (may be empty) — both contradict the seed ("one tool", "four methods"); the seed wins.',
  'BX-16':
    'Internals: tools/call → `chat_message` on a channel → wait for the `agent_reply` whose `in_reply_to` matches → text as content.',
  'BX-17':
    '`POST /api/v1/agents/{id}/invoke {message, context_id?, timeout_ms?, idempotency_key?, metadata?, attachments?}` → `{success, data:{text, context_id, is_error}}`; `timeout_ms` default 120 000, clamped to 115 000; reserved metadata keys (`protocol`, `caller_owner_id`, `target_agent_id`, `delivery_principal`) are scrubbed.',
  'BX-18': 'Invoke SSE: unnamed frames `delta` / optional `error` / always `done`.',
  'BX-19':
    'Tasks: `POST …/tasks {message, deadline_ms, idempotency_key}` → 202 `{task_id, agent_id, status:"queued", created_at}`; `deadline_ms` ≤ 7 days.',
  'BX-20':
    'Task states: queued, running, input_required, auth_required, completed, failed, canceled, timeout, rejected (last five terminal).',
  'BX-21':
    '`GET …/tasks/{id}`; `…/events` (SSE `message`…, one `end` with reason task_terminal | channel_closed | stream_closed); `…/cancel {reason}` idempotent; `…/continue {input}` or `{auth_grant:true}`; `…/messages?since&limit` (200, max 500); list with `state=active|closed|all`, `since`, `limit` 50 (max 200); cross-agent `GET /api/v1/tasks`.',
  'BX-22':
    '`POST …/conversations {title?, metadata?}` → 201; list, get, `DELETE` → 204; `POST …/messages {message, idempotency_key?, attachments?}` → 202 `{message_id, created_at}`; `GET …/messages`, `GET …/events?since=`.',
  'BX-23':
    'State open/closed; TTL 24 h since last touch; closed history readable 5 min; after close `POST /messages` → 409.',
  'BX-24':
    'Only the creator sees a conversation (403 `forbidden`); an id of another agent or a task id → 400 `invalid_param`.',
  'BX-25':
    'Offsets strictly grow but may have holes; replies carry `in_reply_to`; dedup on (channel, idempotency_key).',
  'BX-26':
    'SSE envelope: type, state (streaming|completed|failed|cancelled), stop_reason, body (cumulative), parts, message_id, offset, in_reply_to, publisher_id, payload, created_at.',
  'BX-27':
    '`AgentDTO`: id, instanceId, name, description, displayName, status, slug, mcpEnabled, visibility (private|public|marketplace|unlisted), capabilities…; PATCH whitelist: visibility, mcpEnabled (alias mcp_enabled, must agree if both given; empty or unknown → `invalid_param`). mcpEnabled is independent of visibility.',
  'BX-28':
    '`delivery_mode`: push (parallel), queue (serial per session), busy_reject (second call gets `agent_busy`).',
  'BX-29':
    "Correct reply: same channel, `in_reply_to` = the message's id, terminal type ∈ agent_reply, agent_reply_error, agent.refuse, agent_busy; deltas are `agent_reply_delta`.",
  'BX-30':
    'Terminal-error mapping: offline/not configured → `agent_service_unavailable`; timeout → `service_timeout`; rejected/closed/duplicate → `conflict`; permission → `forbidden`; else `internal_error`.',
  'BX-31':
    'Host `a2a`, local port 8092: `POST /{agentId}` JSON-RPC; `GET /{agentId}/.well-known/agent-card.json` (public); `POST /{agentId}/v1/invoke`; `GET /healthz`; header `A2A-Version` 1.0 or 0.3.',
  'BX-32':
    'Methods: message/send, message/stream, tasks/get, tasks/cancel, tasks/list, tasks/resubscribe, tasks/pushNotificationConfig/set|list|delete, agent/getAuthenticatedExtendedCard; PascalCase aliases accepted. 60 requests/min per key and agent by default.',
  'BX-33':
    'Card: name, description, url, version, capabilities, skills[], default modes, supportedInterfaces {a2a, mcp, rest}.',
  'BX-34': 'REST invoke answer: `{message:"ok", text, context_id, is_error}`.',
  'BX-35':
    '`POST …/tasks/{id}/webhooks {url, token?, secret?}`; `token` → `Authorization: Bearer`; `secret` (16–256 chars) → `X-BeeOS-Signature: t=<unix>,v1=<hex hmac-sha256(secret, "<t>." + body)>`; neither is ever returned (`has_secret` is).',
  'BX-36': 'Headers `X-BeeOS-Webhook-Format: openapi`, `X-BeeOS-Event: task.state`, `X-BeeOS-Task-Id`.',
  'BX-37': 'Payload: type `task_status`, task_id, context_id, status, final, timestamp.',
  'BX-38':
    '10 s per attempt, no redirects followed, 5 in parallel; retries after 1 m, 5 m, 30 m, 2 h, 12 h, then `dead_letter` (6 attempts); deliveries listable (limit 50, 1–200) and redeliverable (202; 404, 409, 403).',
  'BX-39': 'Clock skew allowed when verifying: ±300 s.',
  'BX-40':
    'One idempotency key across surfaces; `file_id` valid on all; rate limits per credential; status words derived from one resolver; `canceled` on OpenAPI/A2A, `cancelled` internally.',
  'BX-41':
    'Presign: `POST /api/v1/files/presign-upload`; `GET /api/v1/files/{id}`; agents get a presigned download URL (24 h).',
  'BX-42': 'Webhook sending follows no redirects — the same rule fits every outbound URL check (W-69).',
  'A-01': 'A plugin tool names its MCP servers and calls their tools from its own code.',
  'A-02':
    "Which server tool is called, with which arguments and in which order is decided by plugin code; the platform's LLM never chooses among the server's tools.",
  'A-03':
    "The tool itself is activated like any other tool: by `getExecutableInstruction()` and the request's domain and system filter.",
  'A-04':
    'The platform (not the plugin) builds connections, negotiates the protocol version, authenticates, enforces time limits, watches availability, audits calls, and puts outside content safely into context.',
  'A-05':
    'Session-based protocol revisions 2025-03-26 through 2025-11-25 are spoken over Streamable HTTP (that is 2025-03-26, 2025-06-18, 2025-11-25).',
  'A-06': 'The stateless revision 2026-07-28 is spoken over Streamable HTTP.',
  'A-07': 'Which of them a server speaks is found out by the platform itself.',
  'A-08': 'Plugin code is the same for both.',
  'A-09':
    'Only Streamable HTTP is supported here; no stdio servers. [inferred: "Streamable HTTP-n"; descriptor has only a url]',
  'A-10':
    'The found era is remembered per server and re-probed when the assumption fails. [inferred; public: MCP 2026-07-28 versioning page: try a modern request, on 400 without a recognised modern error body fall back to `initialize`]',
  'A-11':
    "`AbstractMcpTool<Request>`: `Request` is the bean of parameters extracted from the user's request.",
  'A-12':
    'The usual tool methods remain: `getName()`, `getDomain()`, `getEligibleSystem()`, `getPriority()`, `getInstruction()`, `getExecutableInstruction()`, `getRequestClass()`, `getIdentityDescription()`.',
  'A-13':
    '`getMcpServers()` returns the declared server descriptors; to be given by the subclass. (seen in code)',
  'A-14':
    "`executeMcp(session, request, context)` holds the tool's logic and returns a tool result; protected, abstract. (seen in code)",
  'A-15':
    '`executeMcp` may return null: the tool ends without a result (no context is added). (seen in 14.14)',
  'A-16': '`isEligible(userData)` has a default in the base class. (text)',
  'A-17':
    '`onCallDeclined(...)` gives the run\'s result when the user refuses a call (confirmation or leak review). (text) Parameters [inferred: the context and the declined call — server, tool, arguments, reason CONFIRMATION or LEAK_REVIEW]; default result [inferred: none, i.e. null, or a short "not executed" note].',
  'A-18':
    '`getLeakCheckInstruction(context)` gives the criteria of the leak check, or null to skip it for this call. (text; protected)',
  'A-19':
    '`useRemoteInputSchema(serverId, toolName)` switches to dynamic mode; called in the constructor. (code)',
  'A-20':
    '`toContext(results)` takes a list of results; a single result is accepted too. (both forms in the examples)',
  'A-21':
    "`formatForContext(result)` gives one result's text; protected, overridable, `super` usable. (code)",
  'A-22':
    '`getMaxContextChars()` gives the truncation length; overridable; default value unknown [inferred: needs one; propose 20 000].',
  'A-23': '`formatProgress(progress)` gives the text shown for a progress notice, or null. (text)',
  'A-24':
    'The base class adds a system-prompt supplement (A-163) without the subclass doing anything. [inferred method name: `getSystemPromptAddition()`]',
  'A-25': 'Default `isEligible` is true when none of the declared servers is *known* to be unavailable.',
  'A-26': 'A server not yet probed counts as not known to be unavailable. [inferred from "ismerten"]',
  'A-27':
    '[trap] A tool that declares no server is not activatable and raises no error — so an empty list must give false, although A-25 read literally would give true. (14.3 states it)',
  'A-28':
    'A subclass with its own condition combines it with the base decision (`super.isEligible(userData) && …`).',
  'A-29':
    '`McpExecutionContext` is a record of: request domain, system filter, text, language, keywords, request id, and — when known — chat id and signed-in user id.',
  'A-30':
    "A descriptor says where a server is, how to authenticate, with which time limits it is called, and whether it runs inside or outside the platform's infrastructure.",
  'A-31': 'Its id is an alias valid within one tool; calls refer to it.',
  'A-32': 'A descriptor is immutable; every modifying method returns a new instance.',
  'A-33':
    "`McpServerDescriptor.fromEnvironment(id, environment)` reads it from the plugin's own `plugin.properties`.",
  'A-34':
    'Secrets there are resolved from environment variables, form `${NAME:default}` (default may be empty).',
  'A-35': 'Address and token can be changed per installation without recompiling.',
  'A-36': 'Key `mcp.{id}.url`.',
  'A-37': 'Key `mcp.{id}.external` (boolean).',
  'A-38': 'Keys `mcp.{id}.headers.{Name}` (any header; `Authorization` for a static token).',
  'A-39':
    'Key `mcp.{id}.timeout.connect-ms`; example value 5000. [inferred as the default too: shown as the typical value]',
  'A-40':
    "Key `mcp.{id}.timeout.call-ms`; example value 60000. [inferred as the default too; also Wardrik's default]",
  'A-41': 'Key `mcp.{id}.elicitation` (boolean; `false` turns mid-call questions off; default on). (14.8)',
  'A-42':
    "Keys `mcp.{id}.oauth.*`: [inferred names, from the record's fields in kebab case: `token-url`, `client-id`, `client-secret`, `scope`, `audience`]. (14.12)",
  'A-43':
    "Key for accepting insecure TLS [inferred: `mcp.{id}.insecure-tls`, from the builder's `insecureTls(...)`; default false].",
  'A-44':
    'With a blank or missing URL the tool declares no server (usual pattern; the platform must tolerate it).',
  'A-45':
    '`fromEnvironment` with a missing URL is an error [inferred: the pattern checks the URL first] and names the key.',
  'A-46':
    "`expectTools(names…)`: names expected on the server; if any is missing from its tool list the server's state is *degraded* and a warning is logged.",
  'A-47':
    'The degradation shows before any failing call, i.e. it is checked on connecting / listing, not on calling.',
  'A-48':
    "`expectTool(name, argumentsBean)` additionally compares the bean with the tool's remote input schema.",
  'A-49': 'A required schema field missing in the bean → degraded.',
  'A-50': "A bean field the schema doesn't know → degraded.",
  'A-51':
    'A schema that explicitly allows additional properties does not degrade on A-50. [inferred: then it "knows" any field; literal reading would degrade]',
  'A-52':
    'Degraded is not unavailable: the tool stays eligible. [inferred: isEligible only looks at unavailability]',
  'A-53':
    'Builder: `builder(id, url)`, then `external`, `header`/`headers`, `connectTimeoutMs`, `callTimeoutMs`, `insecureTls`, `oauth`, `elicitation`, `expectTool`, `build()`.',
  'A-54':
    '`external` defaults to … not stated. [inferred proposal: builder and environment default true = leak check on, because the example bothers to write `external=false` for an internal server and the safe side is checking]',
  'A-55': "Neither tokens nor the client secret appear in the descriptor's text form. (14.12)",
  'A-56': '`executeMcp` gets one session object that lives for exactly one tool run.',
  'A-57': 'Any number of calls may be made, also building on each other.',
  'A-58':
    "The session isn't thread-safe: one run, one thread. [inferred for TypeScript: overlapping calls on one session are refused with a clear error or run strictly one after another]",
  'A-59': 'Using the session after the run ended is an error. [inferred from its lifetime]',
  'A-60':
    '`callTool(serverId, toolName, arguments, options)`; options may be left out [inferred: table lost; defaults = not retryable, no confirmation].',
  'A-61':
    "`getTool(serverId, toolName)` returns the remote tool's description, or null if the server has no such tool. (14.6)",
  'A-62': "A way to list a server's tools [inferred: `listTools(serverId)`; natural partner of getTool].",
  'A-63': 'An unknown server alias is a programming error, reported before anything is sent. [inferred]',
  'A-64': '`McpCallOptions.retryable()`: the plugin says this call may be repeated.',
  'A-65': '`McpCallOptions.requireConfirmation(question)`: see 5.6.',
  'A-66':
    'Both can be combined, and a call time limit can be given per call. [inferred: "a hívás beállításai"; the descriptor has `callTimeoutMs`, so an override is the natural third option: `withTimeoutMs(n)`]',
  'A-67':
    'By itself the platform repeats a call only when the request provably never reached the server (e.g. connection refused, DNS failure, TLS failure).',
  'A-68': '`readOnlyHint` plays no part in that decision.',
  'A-69':
    'A retryable call is also repeated after failures where it may have reached the server (timeout, broken connection, 5xx). [inferred: the only thing left for the option to mean] Number of repeats unknown [inferred: once].',
  'A-70':
    '`as(Class)` maps the result to a bean; null when there is nothing to map. (the examples test for null) It tolerates unknown fields. [inferred]',
  'A-71': '`getToolName()`. (code)',
  'A-72': 'Server alias `getServerId()`. [inferred: "ugyanazzal a szerver- és tool-névvel"]',
  'A-73':
    'Text content, structured content (JSON), tool-error flag, suspicious flag. [inferred accessors `getText()`, `getStructuredContent()`, `isError()`, `isSuspicious()`; 14.10 needs all four]',
  'A-74':
    'A public constructor lets a plugin build a result with its own content but the same server, tool and suspicious mark.',
  'A-75':
    'A tool error (`isError`) is a *result*, not an exception. [inferred: 14.10 marks "a tool-hibát jelző eredmény" in context]',
  'A-76':
    'Structured content wins over text for `as` and formatting; JSON text counts as structured when no structured content came. [inferred from "strukturált (JSON) eredmény … a nem JSON szöveges eredmény"]',
  'A-77':
    'Protocol, transport and interruption failures arrive as `McpException`; `getKind()` says what happened.',
  'A-78': 'From the kind it follows whether the call reached the server.',
  'A-79':
    'If the run ends by an exception, the tool closes without a result; other tools and the answer go on.',
  'A-80': 'Kind `UNSUPPORTED_RESULT` (named in text: after five question rounds).',
  'A-81': 'Kind `LEAK_CHECK_FAILED` (named in text: the check could not run; the call was not sent).',
  'A-82': 'Remaining kinds [inferred], with what they say about reaching the server:',
  'A-83':
    'Plugin code that catches `McpException` broadly must not swallow the two control-flow kinds: a pending question or a declined call still ends the run that way. [inferred: otherwise 14.5/14.6 break]',
  'A-84':
    'The session has four asking methods. Named: `choose`, `completeArguments`. The other two [inferred]: `ask(key, question, type)` for a single text/number/other typed value ("egyetlen szöveges vagy szám mezőnél"), and `confirm(key, question)` for yes/no ("igen–nem mezőnél gombok").',
  'A-85':
    '`choose(key, question, choices)` returns the chosen value; choices are `McpChoice.of(value, label)`.',
  'A-86': 'With exactly one choice it returns that value without asking.',
  'A-87': 'With no choice it returns null without asking. [inferred]',
  'A-88':
    '`completeArguments(serverId, toolName, arguments, message)` asks for the required fields of the remote schema that are missing or null, and returns the completed arguments.',
  'A-89': 'Nothing missing → no question, arguments returned. [inferred]',
  'A-90': 'Optional fields are not asked for. [inferred: "hiányzó kötelező paraméterek"]',
  'A-91': "The question appears in the clarification round, in the tool's name.",
  'A-92': 'One choice field or one yes/no field → buttons.',
  'A-93': 'One text or number field → free text input; the value goes into the parameter unchanged.',
  'A-94':
    "Several missing fields → the user answers in free text, the platform's *local* model fills the values, and the filled data is shown once more for approval or correction.",
  'A-95':
    "A value that doesn't fit the type, the value list, the length or value bounds, or the format (email, web address, date, date-time) is not taken; the question is repeated with the reason.",
  'A-96': 'Every question offers "Kihagyom" (skip); then the method returns null.',
  'A-97': 'At a question the run is interrupted and the tool run closes with the question.',
  'A-98': 'After the answer the tool run starts again from the beginning, with the *same* extracted request.',
  'A-99': 'When the code reaches the same question with the same key again, the method returns the answer.',
  'A-100': 'Keys must be stable within a run; a key identifies one question.',
  'A-101':
    '`completeArguments` has no key parameter: its key is the server, the tool and the arguments passed.',
  'A-102': 'Calls made before the question are made again in the re-run (no caching).',
  'A-103':
    'If the value chosen earlier is no longer among the choices in the re-run, the question is asked again.',
  'A-104': 'At most five rounds per question; then the run ends with `UNSUPPORTED_RESULT`.',
  'A-105':
    'A repeated question after an invalid value and a re-asked one both count as rounds. [inferred: both are "kör"]',
  'A-106':
    "A skip is remembered in the re-run like an answer (null), so the question isn't asked again. [inferred]",
  'A-107':
    'Several questions one after another in one run: each answered one stays answered in later re-runs. [inferred from "ugyanazzal a kulccsal"]',
  'A-108':
    'An answered question belongs to this request only; a new user request asks afresh. [inferred: "egyetlen tool-futás"]',
  'A-109': 'With `requireConfirmation(question)` the call is only sent after the user approved it.',
  'A-110': 'Next to the question a readable summary of the outgoing arguments is shown.',
  'A-111': 'The choices are "Igen, mehet" and "Nem".',
  'A-112': 'After approval the run starts again and the approved call no longer asks.',
  'A-113': 'After "Nem" the call isn\'t sent, and `onCallDeclined(...)` gives the run\'s result.',
  'A-114':
    '[trap] The seed\'s own example puts the current time into the arguments, so they differ in the re-run. The approval must therefore be found by call position (server, tool, question, nth such call), and the arguments as shown and approved are the ones sent. [inferred; matches 14.7 "pontosan ezekkel az adatokkal"]',
  'A-115': 'An approval is used once: a second call of the same tool asks again. [inferred]',
  'A-116':
    "With `external=true` every call is preceded by a check: the platform's *local* model decides whether the outgoing arguments hold data that should not leave.",
  'A-117': 'It runs before any data leaves the platform (also before connecting with the data).',
  'A-118': 'Its outcome is never cached.',
  'A-119': 'Nothing found → the call is sent.',
  'A-120':
    "Something found → the call isn't sent; the user sees which data would go, to which system, and why it is a concern, and decides.",
  'A-121': 'Approved → sent with exactly these data.',
  'A-122': 'Refused → not sent; `onCallDeclined(...)` gives the result.',
  'A-123': "The check can't be run (model down, unusable answer) → not sent: `LEAK_CHECK_FAILED`.",
  'A-124': 'With `external=false` no check runs. [inferred: "Külső szervernél"]',
  'A-125':
    'Default criteria — of concern: data identifying a natural person or making one identifiable (name, birth date, home address, phone, e-mail, TAJ number, document number, tax id, bank account) and health data tied to a concrete person; not of concern: a general professional question, public information about an organisation, work-flow identifiers (ticket number, project code).',
  'A-126': 'An override may tighten or adapt the criteria, or return null to skip the check for this call.',
  'A-127':
    "Its parameter `McpLeakCheckContext` carries the user's request, the target server's descriptor, the MCP tool's name (`toolName()`) and the outgoing arguments.",
  'A-128': 'When a server asks mid-call (5.8), the check of the repeated call covers the answers too.',
  'A-129':
    'Confirmation and leak review of one call are two questions; confirmation comes first. [inferred: the confirmation may make the check moot]',
  'A-130': 'Instead of a result the server may answer that it needs data from the user.',
  'A-131':
    "The tool then asks the server's questions one by one in the clarification round, naming the asking server, and saying so if it is external.",
  'A-132': 'After the answers the run starts again, and the call goes out together with them.',
  'A-133': 'The subclass does nothing for that; `callTool` returns the ordinary result.',
  'A-134':
    "Form questions appear and are validated like 5.5 (buttons, free text, fill-and-approve for several fields), validated by the server's schema.",
  'A-135':
    'URL questions: the user sees the address and the target host, enters data there outside the conversation, and continues with "Kész".',
  'A-136': "An address that isn't http(s) is refused by the platform without asking.",
  'A-137':
    '"Kihagyom" / "Mégsem" goes back to the server as a refusal; what the call then gives is the server\'s decision. [inferred wire value: action `decline` for both]',
  'A-138': 'At most five question rounds per call; then `UNSUPPORTED_RESULT`.',
  'A-139':
    'Only servers speaking 2026-07-28 can ask; towards older, session-based servers the platform does not announce that it can be asked.',
  'A-140':
    "`mcp.{id}.elicitation=false` (or the builder's `elicitation(false)`) turns it off for a server; then it is not announced either.",
  'A-141':
    'An opaque state value sent by the server is returned unchanged with the answers, and only with that call. [inferred; public: MCP 2026-07-28 multi round-trip rules]',
  'A-142':
    'An answer with no questions but such a state is retried at once and counts as a round. [inferred; public: same]',
  'A-143':
    "The address isn't fetched or opened by the platform itself. [inferred; public: MCP elicitation client rules]",
  'A-144':
    "Bean mode is the default: parameters are described by `getRequestClass()`'s bean and extracted with its schema and `getInstruction()`.",
  'A-145':
    "Dynamic mode: `useRemoteInputSchema(serverId, toolName)` makes the remote tool's schema the extraction schema.",
  'A-146':
    'Then `Request` is a map, `getRequestClass()` gives the map class, and the extracted map may go one-to-one into `callTool`.',
  'A-147':
    'The remote schema is normalised (`McpSchemaNormalizer`) to the subset usable for structured LLM output.',
  'A-148':
    'Output contains only the keywords `type`, `properties`, `items`, `required`, `enum`, `description`.',
  'A-149': 'Local references are resolved.',
  'A-150': '`allOf` branches are merged.',
  'A-151': 'Of `anyOf`/`oneOf` the first non-null branch stays.',
  'A-152': "Dropped constraints (format, pattern, limits) are put as text into the field's description.",
  'A-153': 'Parts below level 6 become a field without structure.',
  'A-154': 'Recursive references end there too (no endless expansion). [inferred from A-149 + A-153]',
  'A-155':
    'References to other documents are not fetched; the field becomes structureless. [inferred: only local references are named]',
  'A-156': 'The remote description is untrusted data.',
  'A-157':
    "A remote tool or server that isn't there when extraction starts makes the tool inactive, not failing. [inferred]",
  'A-158': '`toContext(results)` builds a result in CONTEXT mode: one document per MCP result.',
  'A-159':
    'At its beginning and its end stands a mark naming the source (server and tool) and saying the content is data, not instruction.',
  'A-160': 'Content is cut at `getMaxContextChars()`.',
  'A-161': 'A result that reports a tool error gets its own warning.',
  'A-162': 'A result with a suspicious expression gets its own warning.',
  'A-163':
    "The tool's system-prompt supplement says that any instruction, request or role change inside marked parts counts as data.",
  'A-164':
    'Default text: structured (JSON) results appear as readable, indented key–value text without JSON syntax (`McpContextFormatter.toReadableText(node)`); non-JSON text unchanged.',
  'A-165':
    'A subclass may replace the text via `formatForContext`; source marks, size limit and warnings still apply to it.',
  'A-166': 'A result may be transformed before `toContext` (A-74) and keeps its marks and warnings.',
  'A-167': "Content that imitates the marks can't close the block early. [inferred: purpose of the marks]",
  'A-168':
    'Suspicious marking is set by the platform when the result arrives (phrases such as "ignore previous instructions", role tags). [inferred; public pattern: EX-07]',
  'A-169':
    'Fixture note [public: mcp-grafana]: `list_datasources {type?, name?, limit?, offset?}` → `{datasources:[{id,uid,name,type,isDefault}], total, hasMore}`; `search_dashboards {query, limit?, page?}` → `{dashboards:[{uid,title,url,…}], total, hasMore}`; `query_prometheus {datasourceUid, expr, queryType:"instant"|"range", startTime?, endTime, stepSeconds?}`; `create_annotation {dashboardUid, text, time, tags}` (readOnlyHint false). A fake server with these four serves 14.14.',
  'A-170': "Progress notices of a running call reach the user as the tool's progress events.",
  'A-171':
    'They are updated at most every half second (500 ms); the last one is not lost. [second half inferred]',
  'A-172':
    "Default text: the server's message, plus the percentage when the total is known; neither → nothing is shown.",
  'A-173':
    '`McpProgress`: server alias, tool name, progress so far, total (if known), message, and helper `percent()`.',
  'A-174': '`formatProgress` returning null suppresses that notice.',
  'A-175': "Progress doesn't extend the call's time limit.",
  'A-176':
    "Calls use the plugin's service-level credentials; the user's own rights are not visible to the server.",
  'A-177': "User-level rights can be enforced by `isEligible()` and the plugin's logic.",
  'A-178': 'Static token: `mcp.{id}.headers.Authorization`, e.g. `Bearer ${TOKEN:}`.',
  'A-179':
    'OAuth 2.0 client credentials: `mcp.{id}.oauth.*`, or `McpOAuthClientCredentials(tokenUrl, clientId, clientSecret, scope, audience)` in code.',
  'A-180': 'The platform fetches a token, and a new one before the old one expires.',
  'A-181': 'When the server rejects the token, the request is repeated once with a new token.',
  'A-182': 'A fetched token overrides a static `Authorization` header.',
  'A-183': 'Tokens and client secret never reach the log.',
  'A-184': '`scope` and `audience` may be absent. [inferred: Keycloak example]',
  'A-185':
    '[inferred guarantees, each stated elsewhere]: no second sending unless provably unsent or declared retryable (A-67); nothing leaves to an external server unchecked (A-117); secrets never logged (A-183); outside content is always delimited (A-159); every call is audited (A-186); progress never extends time (A-175); an unconfigured installation is quiet (A-27, A-44).',
  'A-186':
    'Every call is audited. (14.1) Entry: time, request id, chat, user, tool, server alias, MCP tool, outcome/kind, duration, whether it reached the server. [inferred fields; argument values are not needed and stay out]',
  'A-187':
    'Availability is watched in the background, not only on calls. (14.1 "az elérhetőség figyelése") States: unknown, available, degraded, unavailable. [inferred set; degraded and "ismerten elérhetetlen" are in the text]',
  'A-188':
    "[inferred limits]: Streamable HTTP only; tools only (no resources, prompts, sampling, roots); five rounds; mid-call questions on 2026-07-28 only; session single-threaded; service-level credentials only; schema depth 6; calls before a question repeat; result content other than text/structured isn't put into context.",
  'A-189':
    'The example tool `showcase_mcp_grafana` (domain `SHOWCASE`) searches dashboards (`query`, `limit: 10`), looks up one metric instantly, and on request adds an annotation.',
  'A-190':
    'Data-source choice: filter by name when given (uid equal, or name contains, case-insensitively); no match → all; one candidate → no question; several → `choose` with key `prometheus-datasource`; default one labelled "(alapértelmezett)".',
  'A-191': 'No data source → null → the metric call is left out.',
  'A-192':
    'The annotation is only offered when text is given, exactly one dashboard was found, and the server has `create_annotation`.',
  'A-193': 'No results at all → null.',
  'A-194':
    '`getExecutableInstruction()` text names the tool and when it is true; `getInstruction()` lists fields with types.',
  'A-195':
    "A tool is registered like other chat tools: listed in the plugin's service file for `IChatbotTool`, public, with a no-argument constructor. TypeScript counterpart: a plugin module exporting classes constructible without arguments. [counterpart inferred]",
  'A-196':
    'User-visible words exist in Hungarian exactly as in the seed: "Igen, mehet", "Nem", "Kihagyom", "Mégsem", "Kész"; other languages by the request\'s language. [second half inferred: the context carries the language]',
  'E-01':
    'One MCP endpoint, `http://localhost:7070/mcp` by default, Streamable HTTP, serves default and admin tools together.',
  'E-02':
    'The path is configurable (`quarkus.mcp.server.http.root-path=/mcp`); the hyphenated namespace `quarkus.mcp-server.*` is not known: it changes nothing and only logs an "Unrecognized configuration key" warning.',
  'E-03':
    'A client announcing a newer `MCP-Protocol-Version` than the server knows: `Invalid MCP protocol header: <version>` is logged on every call, and the call still succeeds on the negotiated version.',
  'E-04':
    'Creating tools (`setup_agent`, `create_api_agent`, `create_group`, `create_schedule`, and most that create) are not idempotent: a retry after a transport error can make a duplicate; the caller checks with a list tool first.',
  'E-05':
    'Clients connect as plain HTTP (`{"url": …}` or `{"serverUrl": …}`) or through the `mcp-remote` stdio bridge; all work unmodified with authentication off.',
  'E-06':
    "An agent can be its own deployment's client (mcpcalls pointing at `/mcp`), as in the docs example.",
  'E-07': '`tools/list` publishes 84 tools, each with its input schema.',
  'E-08': 'The server enforces that schema before the tool runs.',
  'E-09': 'A required argument left out is refused with `Missing required argument: <name>`.',
  'E-10': 'A required argument sent as `null` is refused the same way.',
  'E-11': 'A call so refused never reaches the application.',
  'E-12':
    "Only what a tool can't work without is required: identifiers, the message, a configuration body, a verdict.",
  'E-13': '122 of the 244 arguments are required; `list_agents {}` is a complete call.',
  'E-14': 'Everything a description calls *optional*, *default: …* or *deprecated* may be left out.',
  'E-15':
    'A literal default is published as JSON-Schema `default` and applied when the argument is absent (`environment` → `production`, `limit` → `20`). [inferred: also when it is sent as null]',
  'E-16':
    'A `version` defaulting to *latest* resolves the current version: `get_agent`, `read_workflow`, `read_resource`, `list_agent_resources`, `read_channel_integration`, `read_group`.',
  'E-17': '`list_conversations` without `agentVersion` lists all versions.',
  'E-18': '`environment` is optional everywhere and means `production`.',
  'E-19': '`talk_to_agent` and `read_conversation` ignore it; the conversation keeps its own.',
  'E-20':
    'A refused or failed call is a tool error: `isError: true`, text = JSON `{"error": "...", "errorCode": "..."}` — for access denied, not found, validation, and missing role (`FORBIDDEN`) alike.',
  'E-21': 'A successful call never carries `isError`. [strict reading: the member is absent]',
  'E-22':
    'A result reporting an outcome is an ordinary result with an `error` *field*: `deploy_agent` ending in `ERROR` (`"action": "deploy_failed"`), `fire_schedule_now` whose fire failed.',
  'E-23':
    'An unknown value is refused, never substituted: `create_group` with an unknown `style` → `BAD_REQUEST`, listing the valid styles.',
  'E-24':
    'A server-side failure names what failed, `errorCode: INTERNAL`; the exception text stays in the server log.',
  'E-25':
    'E-09/E-10 come in the form of E-20 with the message inside `error`. [inferred; public: the framework answers `isError: true` with exactly that message as plain text — the JSON body contains it too] errorCode [inferred: `BAD_REQUEST`]',
  'E-26':
    'A contract test holds every tool to this: the count, no optional-described argument required, each published default matching its description.',
  'E-27': 'A parity test measures the role tiers tool by tool.',
  'E-28':
    'Known error codes: `NOT_FOUND`, `WRONG_STATE`, `PAUSE_CHANGED`, `FORBIDDEN`, `DISABLED`, `BAD_REQUEST`, `CONFLICT`, `INTERNAL`.',
  'E-29':
    'HITL tools authorise per conversation through one shared guard: owner, `eddi-admin`, `eddi-approver`; identical to REST.',
  'E-30': 'Decisions are attributed on the server as `mcp:<principal>`, never from an argument.',
  'E-31':
    '`eddi.mcp.hitl.mutations.enabled=false` makes mutating HITL tools answer `DISABLED`; reading ones keep working.',
  'E-32': '`PAUSE_CHANGED` when a given `pauseId` names a pause that is no longer current.',
  'E-33':
    "The approval gate can't be set over MCP: `create_api_agent` has no such parameter and always passes none; REST `POST /administration/agents/setup-api` accepts `hitlConfig` (`eddi-admin`).",
  'E-34': "`submit_group_human_input`: only the pending member's own principal (or an admin).",
  'E-35':
    "The MCP endpoint uses the platform's OIDC; with `quarkus.oidc.tenant-enabled=true` every request to `/mcp` needs a valid bearer token.",
  'E-36': 'Without one: 401 with `WWW-Authenticate: Bearer resource_metadata="…"`.',
  'E-37':
    '`/.well-known/oauth-protected-resource/mcp` (RFC 9728, path-inserted) names the resource and the authorization server.',
  'E-38':
    'Its `scopes_supported` is `openid`, from `quarkus.oidc.resource-metadata.scopes`; a client requests exactly these (adding `offline_access` there makes clients ask for it).',
  'E-39':
    'The advertised identifier is forced to `https` (`…force-https-scheme`, default true); a plain-http deployment with authentication must set it false.',
  'E-40':
    "`…resource-metadata.resource` defaults to the relative root path, so the origin comes from the request's `Host`; in production an absolute identifier must be settable (`QUARKUS_OIDC_RESOURCE_METADATA_RESOURCE`).",
  'E-41':
    'The advertised authorization server is `quarkus.oidc.token.issuer`, falling back to `quarkus.oidc.auth-server-url`.',
  'E-42':
    'Shipped OAuth client `eddi-mcp`: public, authorization code + PKCE `S256` required, no password grant, redirect URIs `http://localhost:*` and `http://127.0.0.1:*`, same protocol mappers as `eddi-frontend`.',
  'E-43':
    'Refusals of the authorization server: no `code_challenge_method` → `Missing parameter: code_challenge_method`; non-loopback redirect → `Invalid parameter: redirect_uri`; password grant refused.',
  'E-44': 'Dynamic registration is not offered on this side; clients are told `client_id=eddi-mcp`.',
  'E-45':
    'Roles are read from `realm_access.roles`; a token without them authenticates and then fails every tool with "requires one of roles …".',
  'E-46':
    'Access tokens live 5 minutes, SSO idle 30 minutes, offline idle 30 days (realm defaults, not ours to enforce).',
  'E-47': 'A pasted token in an `Authorization` header works until it expires.',
  'E-48':
    'No long-lived API key exists for `/mcp`; the only API key belongs to the `/v1` OpenAI-compatible adapter (`eddi.openai-compat.api-key`).',
  'E-49': '`authorization.enabled=false` (dev default) makes role checks pass.',
  'E-50': 'A startup guard refuses to start in production with OIDC off.',
  'E-51':
    '`eddi.mcp.allow-unauthenticated` only lets a *fully* unauthenticated deployment start; it never exempts `/mcp` where authentication is on.',
  'E-52':
    'Authorization is checked in code per tool; a refusal is `isError: true`, `FORBIDDEN` (not an HTTP 403).',
  'E-53': "Upgrading doesn't change an existing realm (documentation only).",
  'E-54':
    'Roles are the literal strings `eddi-admin`, `eddi-editor`, `eddi-user`, `eddi-approver`, `eddi-viewer`; no hierarchy, each tier enumerates.',
  'E-55': 'Tier *Docs* — all five roles: `list_docs`, `read_docs`, resources `eddi://docs/*`.',
  'E-56':
    'Tier *Converse* — admin, editor, user, viewer; always ownership-guarded: `create_conversation`, `talk_to_agent`, `chat_with_agent`, `chat_managed`, `read_conversation`, `read_conversation_log`, `list_conversations`, `discover_agents`; group discussions `describe_discussion_styles`, `discuss_with_group`, `start_group_discussion`, `read_group_conversation`, `list_group_conversations`, `followup_with_member`, `continue_group_discussion`, `close_group_conversation`, `delete_group_conversation`; memory reads `list_user_memories`, `get_visible_memories`, `search_user_memories`, `get_memory_by_key`, `count_user_memories`.',
  'E-57':
    'In *Converse*, viewer reaches only own conversations and memories; editor reads memories only for the own `userId`.',
  'E-58':
    'Tier *Observe* — admin, viewer; ownership-guarded: `read_audit_trail`, `read_agent_logs` *with* `conversationId`.',
  'E-59':
    'Tier *Author* — admin, editor: `list_agents`, `list_agent_configs`, `get_agent`; `deploy_agent`, `undeploy_agent`, `get_deployment_status`; `create_agent`, `update_agent`, `delete_agent`, `list_workflows`, `read_workflow`, `read_resource`, `create_resource`, `update_resource`, `delete_resource`, `list_agent_resources`, `apply_agent_changes`; the four trigger tools; the five channel tools; `list_groups`, `read_group`, `create_group`, `update_group`, `delete_group`, `create_group_from_template`, `list_group_templates`, `add_team_task`, `list_team_backlog`.',
  'E-60':
    'Tier *Admin* — admin only: `setup_agent`, `create_api_agent`; six schedule tools; `upsert_user_memory`, `delete_user_memory`, `delete_all_user_memories`; `delete_user_data`, `export_user_data`; `read_agent_logs` *without* `conversationId`.',
  'E-61': 'Tier *HITL* — decided per conversation (E-29): the ten HITL tools.',
  'E-62':
    'These tiers cover all 84 tools exactly once, `read_agent_logs` being split in two. (checked: 84 names in the catalogue, none missing from the tiers when "*_agent_trigger", "*_channel_integration" and "the group counterparts" are expanded)',
  'E-63': "Schedule and memory-write tools act on any user's data (no owner scope), hence admin-only.",
  'E-64': 'REST counterparts admit the same roles (viewer has none there).',
  'E-65': 'MCP resources `eddi://docs/index` (all pages) and template `eddi://docs/{name}` (one page).',
  'E-66': 'Docs folder setting `eddi.docs.path` (default `docs/`).',
  'E-67': 'A role refusal on a resource is a JSON-RPC error, code `-32005` (a read has no `isError`).',
  'E-68': "Neither resources nor tools reveal the docs directory's path when it is missing or disabled.",
  'E-69':
    'REST `GET /administration/docs` → JSON array of names without `.md`; `GET /administration/docs/{name}` → `text/plain` markdown, 404 if absent; same five roles.',
  'E-70': '`eddi.docs.enabled=false` turns tools, resources and REST off together.',
  'E-71': 'Path traversal in a name is refused; an invalid name is told apart from an absent page.',
  'E-72': 'Exposure is by a whitelist of names; it holds exactly the 84.',
  'E-73': 'Internal agent tools (calculator, date/time, web search, …) are never exposed over MCP.',
  'E-74': 'A tool not on the list is neither listed nor callable.',
  'E-75':
    'A test finds every declared MCP tool and fails when one is missing from the list (and, sensibly, the reverse).',
  'E-76':
    'External servers are configured as versioned `mcpcalls` resources, one per server; no inline server list on the LLM task.',
  'E-77': 'Created by `POST /mcpcallsstore/mcpcalls`.',
  'E-78': '`mcpServerUrl` (string) is required.',
  'E-79': '`name` (string): for logging, and prefix of the resource bridge tools.',
  'E-80':
    '`transport`: default `"http"`; only Streamable HTTP is implemented; any other value is rejected as invalid configuration.',
  'E-81':
    '`apiKey`: sent as `Authorization: Bearer <key>`; resolved through global variables and `${vault:key}`, or `${caller:token}`.',
  'E-82': '`timeoutMs`: default `30000`; connection and request timeout.',
  'E-83': '`toolsWhitelist`: if non-empty, only these names (as the server lists them).',
  'E-84': '`toolsBlacklist`: names to leave out.',
  'E-85': '`mcpCalls`: optional deterministic bindings; leave out for agent mode only.',
  'E-86':
    '`exposeResources`: default `false`; adds `<name>_list_resources` and `<name>_read_resource`; text capped at 64K characters, binary described rather than returned; independent of the two lists.',
  'E-87': 'The blacklist is applied after the whitelist.',
  'E-88': "`${caller:token}` makes a call carry the chatting user's identity.",
  'E-89': "It is released only to the caller's origin or this deployment's own address.",
  'E-90': 'It fails closed (no placeholder is sent) and is never persisted.',
  'E-91': 'With it only tool *calls* carry the caller: `initialize` and `tools/list` go unauthenticated.',
  'E-92': 'Clients are cached per credential, not per URL: same URL, different keys → separate clients.',
  'E-93': 'A caller-bound configuration is one shared client; the credential is applied per request.',
  'E-94':
    '`${caller:token}` with `eddi.caller-identity.enabled=false` is rejected as invalid configuration when the server is validated.',
  'E-95':
    'A workflow step `eddi://ai.labs.mcpcalls` with `config.uri` = `eddi://ai.labs.mcpcalls/mcpcallsstore/mcpcalls/<id>?version=<n>`, placed before the LLM step; any number of them.',
  'E-96':
    "*Agent mode*: on execution every mcpcalls step of the agent's workflow is visited, each server connected, its lists applied, and the surviving tools handed to the LLM.",
  'E-97': 'Agent mode is governed by `enableMcpCallTools` on the LLM task, default `true`.',
  'E-98':
    '*Pipeline mode*: order Parser → Rules → HttpCalls → McpCalls → LLM → Output; behaviour-rule actions are matched against `mcpCalls[].actions` and the named tool is called without any LLM; active only when `mcpCalls` is non-empty.',
  'E-99': 'Both modes read the same configuration and may be on together.',
  'E-100':
    '`setup_agent` / `create_api_agent` take `mcpServerUrls` (comma-separated): each URL becomes one mcpcalls configuration (`transport: "http"`, `timeoutMs: 30000`, no lists, no bindings) and one step before the LLM step; nothing inline.',
  'E-101':
    'A generated write tool takes the whole request body as one `requestBody` parameter whose description names properties, types and required ones.',
  'E-102': 'Failed MCP connections log warnings and never kill the pipeline.',
  'E-103': 'Connections are reused across turns.',
  'E-104': 'MCP tools are under the same budget and rate limits as built-in tools.',
  'E-105': 'API keys support `${vault:key}`.',
  'E-106': 'All MCP clients are closed on shutdown.',
  'EX-01':
    'Accepted `transport` tokens: `http`, `https`, `streamable-http`, `streamablehttp` (any case); stored `sse` still works with one warning; URL must be http(s), checked on write (REST create/update), lenient on load.',
  'EX-02':
    '`GET /mcpcallsstore/mcpcalls/discover-tools?url&transport&apiKey` probes a live server; store also has jsonSchema, descriptors (filter, index 0, limit 20), read, update, duplicate, delete (`permanent=false`); roles admin and editor.',
  'EX-03': 'Tool lists are cached 5 minutes (`eddi.mcp.tool-cache.ttl-ms=300000`).',
  'EX-04':
    'Circuit breaker per URL+credential: 3 failures within 60 s open it; a configuration error never counts. Failure kinds: `INVALID_CONFIGURATION`, `CONNECTION_FAILURE`, `CIRCUIT_OPEN`.',
  'EX-05': 'Same tool name twice (in one server or across servers): the first keeps it, a warning is logged.',
  'EX-06': 'Remote descriptions are capped at 1024 characters (`eddi.mcp.tool-description.max-chars`).',
  'EX-07':
    'Directive-shaped text in remote descriptions and bridged resources is replaced by `[redacted]`: ignore/disregard previous instructions, "you are now", "system prompt:", role tags, `[INST]`, `<|im_start|>`.',
  'EX-08':
    'Bridged resource text: 65 536 characters in all, 256 per metadata field, headed by "remote content … DATA, not instructions"; name prefix lower-cased to `[a-z0-9_]`, at most 40 characters, falls back to the host.',
  'EX-09': 'Client cache key: URL + SHA-256 of the *unresolved* key.',
  'EX-10':
    '`eddi.security.ssrf-protection.enabled` (default false) rejects private, loopback, link-local and metadata addresses.',
  'EX-11':
    'One `mcpCalls` entry: name, description, actions (with `*`), toolName, toolArguments (templated), preRequest, saveResponse (true), responseObjectName (default `<call>Response`), postResponse, continueOnError (false), retry; an error is stored as `<responseObjectName>Error`, cut at 500 characters.',
  'EX-12':
    'A rule-triggered call to a tool that needs approval is refused (`DENIED: …`), never executed: there is no loop to resume.',
  'EX-13': 'Rule-triggered calls: 100 per minute by default; same metering as LLM calls.',
  'EX-14':
    '`${caller:token}`: headers only, exact scheme+host+port of the inbound request, authenticated turns only (not schedules); `${caller:userId}` also exists.',
  'EX-15':
    'A paused conversation answers `PAUSED_FOR_APPROVAL` with `suggestNextTool: "resume_conversation"`.',
  'EX-16':
    'Role message texts: `MCP operation requires role: X` / `MCP operation requires one of roles: A, B`.',
  'EX-17':
    'Framework codes: -32002 resource not found, -32005 security, -32020 header mismatch, -32021 missing client capability, -32022 unsupported version, -32042 URL elicitation required; wrong type → `Invalid argument [x] - unable to convert value`; failed authentication answers HTTP 401/403 with a JSON-RPC body code -32005.',
  'EX-18':
    'In the current framework an unknown protocol header is answered 400 — the seed (E-03) says the call succeeds; the seed wins.',
} as const satisfies Record<string, string>;

export type RequirementId = keyof typeof LINES;

/** Proved whole by the tests that cite them. */
export const HELD: readonly RequirementId[] = [
  'W-01',
  'W-02',
  'W-03',
  'W-04',
  'W-05',
  'W-06',
  'W-07',
  'W-08',
  'W-09',
  'W-10',
  'W-11',
  'W-12',
  'W-13',
  'W-14',
  'W-15',
  'W-16',
  'W-17',
  'W-18',
  'W-19',
  'W-20',
  'W-21',
  'W-22',
  'W-23',
  'W-24',
  'W-25',
  'W-26',
  'W-27',
  'W-28',
  'W-29',
  'W-30',
  'W-31',
  'W-32',
  'W-33',
  'W-34',
  'W-35',
  'W-36',
  'W-37',
  'W-38',
  'W-39',
  'W-40',
  'W-41',
  'W-42',
  'W-43',
  'W-44',
  'W-45',
  'W-46',
  'W-47',
  'W-48',
  'W-49',
  'W-50',
  'W-51',
  'W-52',
  'W-53',
  'W-54',
  'W-55',
  'W-56',
  'W-58',
  'W-59',
  'W-60',
  'W-61',
  'W-62',
  'W-63',
  'W-64',
  'W-65',
  'W-66',
  'W-67',
  'W-68',
  'W-69',
  'W-70',
  'W-71',
  'W-72',
  'W-73',
  'W-74',
  'W-75',
  'W-76',
  'W-77',
  'W-78',
  'W-79',
  'W-80',
  'W-81',
  'W-82',
  'W-83',
  'W-84',
  'W-85',
  'W-86',
  'W-87',
  'W-88',
  'W-89',
  'W-90',
  'W-91',
  'W-92',
  'W-93',
  'W-94',
  'W-95',
  'W-96',
  'W-97',
  'W-98',
  'W-99',
  'W-100',
  'W-101',
  'W-102',
  'W-103',
  'W-104',
  'W-105',
  'W-106',
  'W-107',
  'W-108',
  'W-109',
  'B-01',
  'B-02',
  'B-03',
  'B-04',
  'B-05',
  'B-06',
  'B-07',
  'B-09',
  'B-10',
  'B-11',
  'B-12',
  'B-13',
  'B-14',
  'B-15',
  'B-16',
  'B-17',
  'B-18',
  'B-19',
  'B-20',
  'B-21',
  'B-22',
  'B-23',
  'B-24',
  'B-25',
  'B-26',
  'B-27',
  'B-28',
  'B-29',
  'B-30',
  'B-31',
  'B-32',
  'B-33',
  'B-34',
  'B-35',
  'B-36',
  'B-37',
  'B-39',
  'B-40',
  'B-41',
  'B-42',
  'B-43',
  'B-44',
  'B-45',
  'B-46',
  'B-47',
  'B-48',
  'B-49',
  'B-50',
  'B-51',
  'B-52',
  'B-53',
  'B-54',
  'B-55',
  'B-56',
  'B-57',
  'B-58',
  'B-59',
  'B-60',
  'B-61',
  'B-62',
  'B-63',
  'B-64',
  'B-66',
  'B-67',
  'B-68',
  'B-69',
  'B-70',
  'B-71',
  'B-73',
  'B-74',
  'B-75',
  'B-76',
  'B-77',
  'B-78',
  'B-79',
  'B-80',
  'B-81',
  'B-82',
  'B-83',
  'B-84',
  'B-85',
  'B-86',
  'B-87',
  'B-88',
  'A-05',
  'A-06',
  'A-07',
  'A-10',
  'A-30',
  'A-32',
  'A-33',
  'A-34',
  'A-35',
  'A-36',
  'A-37',
  'A-38',
  'A-39',
  'A-40',
  'A-42',
  'A-43',
  'A-45',
  'A-46',
  'A-47',
  'A-48',
  'A-49',
  'A-50',
  'A-51',
  'A-52',
  'A-53',
  'A-54',
  'A-55',
  'A-67',
  'A-68',
  'A-69',
  'A-78',
  'A-138',
  'A-148',
  'A-149',
  'A-150',
  'A-151',
  'A-152',
  'A-153',
  'A-154',
  'A-155',
  'A-156',
  'A-168',
  'A-175',
  'A-178',
  'A-179',
  'A-180',
  'A-181',
  'A-182',
  'A-183',
  'A-184',
  'A-187',
  'E-01',
  'E-02',
  'E-03',
  'E-05',
  'E-08',
  'E-09',
  'E-10',
  'E-11',
  'E-14',
  'E-15',
  'E-17',
  'E-19',
  'E-20',
  'E-21',
  'E-24',
  'E-25',
  'E-27',
  'E-28',
  'E-29',
  'E-30',
  'E-31',
  'E-32',
  'E-35',
  'E-36',
  'E-37',
  'E-38',
  'E-39',
  'E-40',
  'E-41',
  'E-42',
  'E-43',
  'E-45',
  'E-46',
  'E-47',
  'E-49',
  'E-50',
  'E-51',
  'E-52',
  'E-53',
  'E-54',
  'E-55',
  'E-58',
  'E-65',
  'E-66',
  'E-67',
  'E-68',
  'E-69',
  'E-70',
  'E-71',
  'E-73',
  'E-74',
  'E-75',
  'E-76',
  'E-77',
  'E-78',
  'E-79',
  'E-80',
  'E-81',
  'E-82',
  'E-83',
  'E-84',
  'E-85',
  'E-86',
  'E-87',
  'E-88',
  'E-89',
  'E-90',
  'E-91',
  'E-92',
  'E-93',
  'E-94',
  'E-95',
  'E-96',
  'E-97',
  'E-98',
  'E-99',
  'E-102',
  'E-103',
  'E-104',
  'E-105',
  'E-106',
  'EX-01',
  'EX-03',
  'EX-05',
  'EX-08',
  'EX-11',
  'EX-12',
  'EX-13',
  'EX-14',
  'EX-15',
];

/** Built and proved in part; the text says what is missing. An id in neither list is open. */
export const PARTIAL: readonly (readonly [id: RequirementId, missing: string])[] = [
  [
    'B-38',
    'the address is taken where it has our own origin; another web application is refused at the start',
  ],
  ['B-65', 'A2A comes later'],
  ['B-72', 'nothing is sent outside of a call; webhooks come later'],
  ['A-09', 'no programs; a server that speaks only the older HTTP+SSE is spoken to as at every address'],
  ['A-31', 'calls by alias come with the plugin session'],
  ['A-41', 'the key is read; questions by a server are not there, so asking for them is refused'],
  ['A-75', 'the reading of a result; sessions of plugins are not built'],
  ['A-76', 'the reading of a result; sessions of plugins are not built'],
  ['A-77', 'the kinds; McpException comes with plugins'],
  ['A-82', 'the kinds of the questions of plugins are not built'],
  ['A-147', 'the normaliser; no extraction uses it yet'],
  ['A-159', 'the marks around a text; contexts of plugins are not built'],
  ['A-167', 'the marks around a text; contexts of plugins are not built'],
  ['A-176', 'registered servers and descriptors; plugins make no calls yet'],
  ['A-186', 'calls by rules; plugins make none yet'],
  ['E-04', 'create_api_agent, create_group and create_schedule are not built'],
  ['E-07', 'the tools that are built'],
  ['E-12', 'the tools that are built'],
  ['E-13', 'the tools that are built, with their share of the 122 required arguments'],
  ['E-16', 'read_channel_integration and read_group are not built'],
  ['E-18', 'the tools that are built'],
  ['E-22', 'fire_schedule_now is not built'],
  ['E-23', 'create_group is not built'],
  ['E-26', 'the tools that are built'],
  ['E-33', 'create_api_agent and setup-api are not built; no tool that is built sets or opens a gate'],
  [
    'E-44',
    'with an OpenID realm; without one clients register at this door too (docs/decisions, one platform where two seeds differ)',
  ],
  [
    'E-48',
    'where keys.operatorScope is forbid; elsewhere keys with the scope operator live 90 days at the most (docs/decisions, one platform where two seeds differ)',
  ],
  ['E-56', 'group discussions and memory reads are not built'],
  ['E-57', 'own conversations; memories are not built'],
  ['E-59', 'the channel, group, template and backlog tools are not built'],
  [
    'E-60',
    'setup_agent, and read_agent_logs without conversationId; the other tools of the tier are not built',
  ],
  ['E-61', 'the four tools about conversations; those about groups are not built'],
  ['E-62', 'the tools that are built'],
  ['E-64', 'the tools that are built'],
  ['E-72', 'the tools that are built'],
  ['E-100', 'setup_agent; create_api_agent is not built'],
  [
    'EX-02',
    'discover-tools and what the documents have; jsonSchema and duplicate are not built, and the store has our paths besides these two',
  ],
  ['EX-04', 'the breaker; its failure kinds are those of A-82'],
  ['EX-06', 'the 1024 characters; the setting is not built'],
  [
    'EX-07',
    'bridged resources, and descriptions of the servers that documents name; those of registered ones stay as they are (W-18)',
  ],
];

export interface Requirement {
  readonly id: RequirementId;
  readonly text: string;
  /** False for a public supplement: it is a default to follow, not a promise to keep. */
  readonly binding: boolean;
  /** True when the source leaves it open and the reading is ours. */
  readonly inferred: boolean;
}

export const REQUIREMENTS: readonly Requirement[] = Object.entries(LINES).map(([id, text]) => ({
  id: id as RequirementId,
  text,
  binding: !id.startsWith('BX-') && !id.startsWith('EX-'),
  inferred: text.includes('[inferred'),
}));
