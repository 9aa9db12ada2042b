import { randomBytes, randomInt } from 'node:crypto';
import type { OperationName } from '@patchbay/contract/operations';
import { createAgentCalls } from './agents/call/agent-calls.ts';
import { createApplyChanges } from './agents/configuration/apply-changes.ts';
import { createDeleteAgent } from './agents/configuration/delete-agent.ts';
import { createDocuments } from './agents/configuration/documents.ts';
import { createExportAgent } from './agents/configuration/export-agent.ts';
import { createImportAgent } from './agents/configuration/import-agent.ts';
import { createInventory } from './agents/configuration/inventory.ts';
import { createSetUp } from './agents/configuration/set-up-agent.ts';
import { createConversations } from './agents/conversation/conversations.ts';
import { retireConversations } from './agents/conversation/retention.ts';
import { createDeliver } from './agents/delivery/deliver.ts';
import { DELIVER } from './agents/delivery/end-delivery.ts';
import { createMessageReader } from './agents/delivery/message-reader.ts';
import { createOwnConversations } from './agents/delivery/own-conversations.ts';
import { END_DELIVERY } from './agents/delivery/post-delivery.ts';
import { recordTurn } from './agents/delivery/record-turn.ts';
import { createTasks } from './agents/delivery/tasks.ts';
import { DEMO_AGENT_FILE } from './agents/demo/demo-agent.ts';
import { createAgentFiles } from './agents/deployment/agent-files.ts';
import { createCapabilities } from './agents/deployment/capabilities.ts';
import { createCatalogue } from './agents/deployment/catalogue.ts';
import { createDeployer } from './agents/deployment/deployer.ts';
import { createDeployments, type Deployments } from './agents/deployment/deployments.ts';
import { createOwnAgents } from './agents/deployment/own-agents.ts';
import { createSharing } from './agents/deployment/sharing.ts';
import { filesOfConfiguredAgents } from './agents/document/configured-agent.ts';
import { createFiles, type Files } from './agents/file/files.ts';
import { createTickets } from './agents/file/signed-address.ts';
import { createLint } from './agents/lint/linter.ts';
import { createModels } from './agents/model/call-model.ts';
import type { CallModel } from './agents/model/model.ts';
import { createAskedPauses } from './agents/pause/asked-pauses.ts';
import { CONTINUE_TURN, EXPIRE_PAUSE } from './agents/pause/jobs.ts';
import { createPauseWaits } from './agents/pause/pause-waits.ts';
import { createPauses } from './agents/pause/pauses.ts';
import { shownReason } from './agents/pause/sign-in.ts';
import { createSignInVisits } from './agents/pause/sign-in-visits.ts';
import { createHasArrived, createSignIns } from './agents/pause/sign-ins.ts';
import type { StepType } from './agents/step/step.ts';
import { createManagedChat } from './agents/trigger/managed-chat.ts';
import { createTriggers } from './agents/trigger/triggers.ts';
import { createAnsweredTurns } from './agents/turn/answered-turns.ts';
import { actsFor } from './agents/turn/caller-token.ts';
import { STEP_TYPES } from './agents/turn/steps.ts';
import { createTurns, type Turns } from './agents/turn/turns.ts';
import { createWaitedTurns } from './agents/turn/waited-turns.ts';
import { createAuthenticator } from './auth/authenticate.ts';
import { createKeys, type Keys } from './auth/key/keys.ts';
import { createLastUsed } from './auth/key/last-used.ts';
import { createCookies } from './auth/page/cookies.ts';
import { createPageSessions, removeOldSignIns } from './auth/page/page-sessions.ts';
import { createRealmSignIn } from './auth/page/realm-sign-in.ts';
import { createSignInLinks, type SignInLinks } from './auth/page/sign-in-links.ts';
import { createAuthorizationServer } from './auth/server/authorization-server.ts';
import { CLIENT_DOCUMENT, createClientDocuments } from './auth/server/client-documents.ts';
import { createGrants } from './auth/server/grants.ts';
import { removeEndedRecords } from './auth/server/records.ts';
import { createStillAllowed } from './auth/still-allowed.ts';
import { createAccessTokens } from './auth/token/access-token.ts';
import { createRealm, type Realm } from './auth/token/realm.ts';
import { createRealmDocuments } from './auth/token/realm-documents.ts';
import { createResources, type Resources, withoutOperatorDoor } from './auth/token/resource.ts';
import { loadSigningKeys } from './auth/token/signing-keys.ts';
import { createAccounts } from './auth/user/accounts.ts';
import { createPasswords } from './auth/user/passwords.ts';
import { createUsers, type Users } from './auth/user/users.ts';
import type { AgentSection } from './config/agent-sections.ts';
import type { Config } from './config/config.ts';
import { createOutboundCalls } from './connections/call/outbound-calls.ts';
import { createClientRegistrations } from './connections/credential/client-registrations.ts';
import { configuredProvider } from './connections/credential/configured-credentials.ts';
import { createOAuthSites } from './connections/credential/oauth-site.ts';
import { ofPeopleLetIn } from './connections/credential/people-let-in.ts';
import { createPersonalCredentials } from './connections/credential/personal-credentials.ts';
import { createPersonalSignIns } from './connections/credential/personal-sign-ins.ts';
import { createPersonalTokens } from './connections/credential/personal-tokens.ts';
import { createRenewedCredentials } from './connections/credential/renewed-credentials.ts';
import { retireChangedConnections } from './connections/credential/retire-changed.ts';
import { createAcceptedTools } from './connections/server/accepted-tools.ts';
import type { ConfiguredInstances } from './connections/server/configured-instances.ts';
import type { ServerRef } from './connections/server/definition.ts';
import { createDiscoverTools } from './connections/server/discover-tools.ts';
import { createKeptTools } from './connections/server/kept-tools.ts';
import { createLiveServers, type LiveServers } from './connections/server/live-servers.ts';
import { createRegistry, type Registry } from './connections/server/registry.ts';
import { createPool } from './connections/session/pool.ts';
import { createProgramHost } from './connections/session/stdio/program-host.ts';
import { createStdioTransport } from './connections/session/stdio/stdio-transport.ts';
import { createDocsPages } from './docs/pages.ts';
import { createAgentDoor, toResult } from './edge/agent-mcp/agent-door.ts';
import { createAskedCalls } from './edge/agent-mcp/asked-calls.ts';
import { createCallRate } from './edge/agent-mcp/call-rate.ts';
import { createHttpApp } from './edge/app.ts';
import { createHostCheck } from './edge/http/host-check.ts';
import { createOpenCredentials } from './edge/http/open-credentials.ts';
import { Cancellations } from './edge/mcp/cancellations.ts';
import type { Caller } from './edge/mcp/door.ts';
import { createMcpEndpoint } from './edge/mcp/endpoint.ts';
import { createOAuthRate } from './edge/oauth/oauth-rate.ts';
import { createOAuthRoutes } from './edge/oauth/oauth-routes.ts';
import { createResourceMetadata } from './edge/oauth/resource-metadata.ts';
import { createServerMetadata } from './edge/oauth/server-metadata.ts';
import { createOperatorDoor } from './edge/operator-mcp/operator-door.ts';
import { COME_BACK, OWN_DOCUMENT } from './edge/pages/connect-paths.ts';
import { createPageGuard, type NotePageRefusal } from './edge/pages/page-guard.ts';
import { createPages } from './edge/pages/pages.ts';
import { createSignInRate } from './edge/pages/sign-in-rate.ts';
import { type Clock, systemClock } from './kernel/clock.ts';
import { PlatformError } from './kernel/errors.ts';
import type { Logger } from './kernel/logger.ts';
import { isLoopbackHost } from './kernel/network-address.ts';
import type { Principal } from './kernel/principal.ts';
import { createPublicAddress } from './kernel/public-address.ts';
import { mayReadVariable } from './kernel/reference-environment.ts';
import { createSafeFetch, type SafeFetch } from './kernel/safe-fetch.ts';
import { createHandlers } from './operations/handlers.ts';
import { createOperations } from './operations/invoke.ts';
import { createChangeNotes } from './operations/note-changes.ts';
import { beginAudit, createAudit } from './records/audit/audit.ts';
import { createChain } from './records/audit/chain.ts';
import { createRefusals } from './records/audit/refusals.ts';
import { createAuditVerifier } from './records/audit/verify.ts';
import type { LogBuffer } from './records/log-buffer.ts';
import { createLogs } from './records/logs.ts';
import { createMetrics } from './records/metrics.ts';
import { createReferences, type References } from './secrets/references.ts';
import { createVariables } from './secrets/variables.ts';
import { createVault, RESEAL_JOB } from './secrets/vault.ts';
import type { VaultKeyOptions } from './secrets/vault-keys.ts';
import { createAnnouncer } from './store/events.ts';
import { createJobs } from './store/jobs.ts';
import { openStore, type StoreOptions } from './store/open-store.ts';
import type { Store } from './store/store.ts';
import { hasAgents } from './store/tables/agents.ts';
import { countAgentsInError } from './store/tables/deployments.ts';
import { findOrInsertServerSecret } from './store/tables/server-secrets.ts';
import type { User } from './store/tables/users.ts';

/** What tests replace. Nothing outside is ambient (architecture, idea 10). */
export interface PlatformOverrides {
  readonly clock?: Clock;
  readonly stepTypes?: readonly StepType[];
  readonly model?: CallModel;
  /** Gets the documents that describe clients, from the outside network. */
  readonly fetchClientDocument?: ReturnType<SafeFetch['with']>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MIB = 1024 * 1024;
/** How soon a task ends whose pause was given up elsewhere. */
const ABANDONED_MS = 5_000;
/** Turns in the background on one node; they wait more than they work. */
const DELIVERIES_AT_ONCE = 16;
/** How soon somebody looks for turns whose node went down; their leases end after some seconds more. */
const TAKE_UP_MS = 3_000;
/** How soon a turn goes on whose person has signed in, where the news of that was lost. */
const LOOK_AT_SIGN_INS_MS = 15_000;
/** Turns that go on after a wait or a crash, at a time on one node. */
const TURNS_AT_ONCE = 16;
/** How long what runs gets to end when the platform stops: requests, and turns also without anybody who waits for them. */
export const DRAIN_MS = 10_000;

/** Everything built, no port open. */
export interface Platform {
  /** Answers HTTP requests; `main.ts` puts a listener in front of it. */
  readonly app: ReturnType<typeof createHttpApp>;
  readonly store: Store;
  readonly keys: Keys;
  readonly users: Users;
  readonly links: SignInLinks;
  readonly turns: Turns;
  readonly deployments: Deployments;
  readonly references: References;
  readonly files: Files;
  readonly registry: Registry;
  readonly servers: LiveServers;
  /** Notes in the audit trail what the first start has made. */
  noteStart(operation: OperationName, subject: Readonly<Record<string, string>>): Promise<void>;
  readonly owner: User;
  /** True when this start made the installation. */
  readonly firstStart: boolean;
  /** Takes another configuration of servers and agents, all of it or nothing: rejects with a `PlatformError` that names what is wrong. */
  configure(configuration: {
    readonly servers: ConfiguredInstances;
    readonly agents: readonly AgentSection[];
  }): Promise<void>;
  /** Told where the listener is, once it is open: addresses that are handed out begin with it. */
  listensAt(url: string): void;
  /** Ends the streams of those who follow a log, who come back, to another node if they can, and calls that wait for a person. */
  endStreams(): void;
  /** Lets running turns end, ends open streams, gives jobs back and closes the store. */
  close(): Promise<void>;
}

/** The composition root: the only file that builds things. */
export async function createPlatform(
  options: {
    readonly config: Config;
    /** MCP servers of the configuration, by instance. */
    readonly configuredServers: ConfiguredInstances;
    /** Agents of the configuration, each with where it stands. */
    readonly configuredAgents: readonly AgentSection[];
    readonly version: string;
    readonly database: StoreOptions;
    readonly vaultKeys: VaultKeyOptions;
    /** Of this platform as a client of the OpenID realm. */
    readonly oidcClientSecret: string | undefined;
    /** Variables of the environment that configuration may refer to. */
    readonly environment: ReadonlyMap<string, string>;
    /** What programs that are MCP servers inherit of, by name. */
    readonly programEnvironment: Readonly<Record<string, string | undefined>>;
    /** This node in leases; the same after a restart. */
    readonly nodeId: string;
    readonly localOwnerToken: string;
    readonly logger: Logger;
    /** Where the logger leaves its lines. */
    readonly logBuffer: LogBuffer;
  },
  overrides: PlatformOverrides = {},
): Promise<Platform> {
  const { config, version, logger, nodeId } = options;
  const clock = overrides.clock ?? systemClock;
  const stepTypes = overrides.stepTypes ?? STEP_TYPES;

  const part = (name: string) => logger.child({ part: name });

  await using undo = new AsyncDisposableStack();
  const store = undo.adopt(await openStore(options.database, { logger: part('store') }), opened =>
    opened.close(),
  );
  const logs = createLogs({
    buffer: options.logBuffer,
    store,
    clock,
    nodeId,
    keepDays: config.log.keepDays,
    logger: part('logs'),
  });
  // Closed after all that may still log, and before the store.
  undo.defer(() => logs.close());
  const passwords = createPasswords();
  const users = createUsers({ store, clock, passwords });
  const { owner, created: firstStart } = await users.ensureOwner();
  const sessionSecret = await store.commit(db =>
    findOrInsertServerSecret(db, 'session-id', randomBytes(32), clock.now()),
  );

  const signingKeys = await loadSigningKeys({ store, clock });
  const fileSecret = await store.commit(db =>
    findOrInsertServerSecret(db, 'file-address', randomBytes(32), clock.now()),
  );
  const auditKey = await store.commit(db =>
    findOrInsertServerSecret(db, 'audit', randomBytes(32), clock.now()),
  );
  const chain = createChain(auditKey);
  await store.commit(db => beginAudit(db, chain, clock.now()));
  const audit = createAudit({ store, clock, chain });
  const refusals = createRefusals({ audit, clock, logger: part('audit') });
  undo.defer(() => refusals.close());

  const metrics = createMetrics(store);
  store.subscribe(({ kind }, origin) => metrics.event(kind, origin));
  const announce = createAnnouncer({ store, logger: part('news') });
  const vault = createVault({ store, clock, logger: part('vault'), keys: options.vaultKeys });
  const variables = createVariables({ store, clock });
  const references = createReferences({
    vault,
    variables,
    environment: options.environment,
    mayRead: name => mayReadVariable(name, config.references.environment),
    callerIdentity: config.callerIdentity.enabled,
    grantEnforcement: config.vault.grantEnforcement,
    logger: part('references'),
  });
  await vault.start();
  const docs = createDocsPages({ enabled: config.docs.enabled, folder: config.docs.path });
  const operatorKeys = config.keys.operatorScope === 'allow';
  const keys = createKeys({ store, clock, operatorKeys });
  const lastUsed = createLastUsed({ store, clock, logger: part('keys') });
  undo.defer(() => lastUsed.close());
  const deployments = createDeployments({ store, stepTypes, clock, logger: part('deployments') });
  const { privateHosts } = config.egress;
  const isPrivateHost = (host: string) => privateHosts.includes('*') || privateHosts.includes(host);
  const fetch = createSafeFetch({
    clock,
    allowPrivate: isPrivateHost,
  });
  undo.defer(() => fetch.close());
  const fetchOwn = createSafeFetch({
    clock,
    allowPrivate: host => isLoopbackHost(host) || isPrivateHost(host),
  });
  undo.defer(() => fetchOwn.close());
  const programs = createProgramHost({
    clock,
    logger: part('programs'),
    maxPrograms: config.connections.maxPrograms,
    maxProgramMib: config.connections.maxProgramMib,
  });
  undo.use(programs);
  const random = () => randomInt(2 ** 32) / 2 ** 32;
  const pool = createPool({
    fetch,
    clock,
    random,
    logger: part('connections'),
    version,
    startProgram: async (endpoint, server) =>
      createStdioTransport({
        ...{ ...endpoint, host: programs, clock },
        logger: part('programs').child({ server }),
        inherited: options.programEnvironment,
      }),
  });
  undo.defer(() => pool.close());
  const registry = createRegistry({
    instances: options.configuredServers,
    ...{ store, vault, references, fetch, clock },
    logger: part('servers'),
  });
  undo.defer(() => registry.close());
  const registeredNow = (ref: ServerRef) => registry.find(ref)?.definition;
  const accepted = createAcceptedTools({ store, clock });
  const kept = createKeptTools({ store, clock, logger: part('servers') });
  const personalCredentials = createPersonalCredentials({ store, vault, clock });
  undo.use(
    retireChangedConnections({ store, pool, credentials: personalCredentials, logger: part('connections') }),
  );
  const address = createPublicAddress(config.publicUrl);
  const siteOf = createOAuthSites({
    ...{ references, fetch, registered: registeredNow },
    metadataUrl: () => `${address.base()}${OWN_DOCUMENT}`,
  });
  const registrations = createClientRegistrations({ store, vault, clock });
  const personalTokens = createPersonalTokens({ store, vault, clock });
  const renewedCredentials = createRenewedCredentials({
    ...{ tokens: personalTokens, siteOf, registrations, clock },
  });
  const personalSignIns = createPersonalSignIns({
    ...{ store, vault, clock, siteOf, registrations, tokens: personalTokens },
    redirectUrl: () => `${address.base()}${COME_BACK}`,
  });
  const credentialsOf = (instance: string) => {
    const configured = registry.credentialsOf(instance);
    return configured ? configuredProvider(configured, clock) : renewedCredentials;
  };
  const outboundCalls = createOutboundCalls({
    ...{ pool, references, clock, accepted, kept },
    credentialsOf: instance => ofPeopleLetIn(credentialsOf(instance), store),
    logger: part('connections'),
    limits: { callsPerMinute: config.connections.callsPerMinute },
    registered: registeredNow,
    reconcile: registry.reconcile,
    checkOf: registry.checkOf,
    onCall: metrics.outboundCall,
    actsFor: (agentId, userId) => actsFor(store, agentId, userId),
  });
  const servers = createLiveServers({
    ...{ registry, accepted, kept, pool, store, clock, random },
    calls: outboundCalls,
    logger: part('servers'),
    onTools: metrics.serverTools,
  });
  undo.defer(() => servers.close());
  const runningTurns = createTurns({
    store,
    base: address.base,
    deployments,
    audit,
    clock,
    nodeId,
    logger: part('turns'),
    turnTimeoutMs: config.turn.timeoutSeconds * 1000,
    maxInputChars: config.conversation.maxInputChars,
    idempotencyHours: config.idempotency.hours,
    deploymentEnv: config.deployment.env,
    capabilities: createCapabilities({ store }),
    variables,
    vault,
    references,
    fetch,
    mcp: {
      call: outboundCalls.call,
      offered: outboundCalls.offered,
      tooOften: outboundCalls.tooOften,
      registered: registeredNow,
      warn: (sentence, agentId) => part('connections').warn(sentence, { agentId }),
    },
    model: overrides.model ?? createModels({ fetch, fetchOwn, clock, logger: part('models') }),
    onStored: recordTurn,
    onTurnEnd: metrics.turn,
  });
  const files = createFiles({
    store,
    clock,
    tickets: createTickets(fileSecret),
    baseUrl: address.base,
    quotaBytes: config.files.quotaMib * MIB,
    keepDays: config.files.keepDays,
  });
  const links = createSignInLinks({ store, clock, baseUrl: address.base });
  const pauses = createPauses({ store, clock, audit, onEnd: metrics.approval });
  const hasArrived = createHasArrived(credentialsOf);
  const signIns = createSignIns({ ...{ store, pauses, hasArrived }, logger: part('turns') });
  const closing = new AbortController();
  const waitedTurns = createWaitedTurns({
    ...{ store, clock, turns: runningTurns, base: address.base },
    closing: closing.signal,
  });
  const turns = createAnsweredTurns({
    ...{ store, pauses, signIns },
    turns: runningTurns,
    waited: waitedTurns,
  });
  const calls = createAgentCalls({ turns, files, store, onAccessDenied: metrics.accessDenied });
  const idempotencyHours = config.idempotency.hours;
  const tasks = createTasks({
    ...{ store, clock, calls, pauses, idempotencyHours },
    keepDays: config.tasks.keepDays,
  });
  const messageReader = createMessageReader({ store, clock });
  undo.defer(() => messageReader.close());
  const conversations = createConversations({
    store,
    reasonOf: pause => shownReason(pause, address.base()),
  });
  const catalogue = createCatalogue({ store });
  const agentFiles = createAgentFiles({ store, stepTypes, clock, references });
  const grants = createGrants({ store, clock });
  const operations = createOperations(
    createHandlers({
      grants,
      turns,
      pauses,
      approvals: { mutationsOverMcp: config.mcp.hitlMutations },
      conversations,
      catalogue,
      agentFiles,
      documents: createDocuments({ store, stepTypes, clock }),
      listInventory: createInventory({ store, catalogue }),
      applyChanges: createApplyChanges({ store, clock }),
      removeAgent: createDeleteAgent({ store, clock }),
      lint: createLint({
        ...{ store, catalogue, stepTypes, references },
        isRegistered: ref => registry.find(ref) !== undefined,
      }),
      exportAgent: createExportAgent({ store, catalogue, references, variables }),
      importAgent: createImportAgent({ store, stepTypes, clock, references }),
      setUp: createSetUp({
        ...{ store, stepTypes, clock, references, vault, registry },
        vaultKeyReuse: config.setup.vaultKeyReuse,
      }),
      triggers: createTriggers({ store, clock, logger }),
      admitManaged: createManagedChat({ store, turns, clock }),
      deployer: createDeployer({ store, stepTypes, references, clock, logger }),
      docs,
      keys,
      users,
      links,
      ownAgents: createOwnAgents({ store }),
      sharing: createSharing({ store, clock }),
      logs,
      vault,
      variables,
      personalCredentials,
      files,
      calls,
      audit,
      auditVerifier: createAuditVerifier({ store, clock, chain }),
      tasks,
      registry,
      servers,
      discoverTools: createDiscoverTools({ pool, references, checkOf: registry.checkOf }),
      ownConversations: createOwnConversations({ store, clock, calls, turns, idempotencyHours }),
      messageReader,
    }),
    metrics.accessDenied,
    createChangeNotes({ audit, clock, logger: part('operations') }),
  );

  const openCredentials = createOpenCredentials({
    stillAllowed: createStillAllowed({ store }),
    newsAgeMs: store.newsAgeMs,
    ...{ clock, noteRefusal: refusals.note, logger: part('doors') },
  });
  undo.defer(() => openCredentials.close());
  store.subscribe(event => openCredentials.hear(event));
  const cancellations = new Cancellations(calls =>
    announce(calls.map(call => ({ kind: 'call-cancelled', call }))),
  );
  const rate = createCallRate({
    perMinute: config.agentDoor.rate,
    clock,
    tell: parts => announce(parts.map(calls => ({ kind: 'calls-counted', calls }))),
  });
  undo.defer(() => rate.close());
  store.subscribe((event, origin) => {
    if (event.kind === 'turn-cancelled') turns.cancelTurn(event);
    if (origin === 'here') return;
    if (event.kind === 'call-cancelled') cancellations.end(event.call);
    if (event.kind === 'calls-counted') rate.count(event.calls);
  });

  const noteRefusalOf = (
    door: 'operator' | 'agent',
    reason: string,
    principal: Principal,
    agentId?: string,
  ) =>
    refusals.note({
      ...{ door, reason },
      subject: { userId: principal.id, via: principal.via, credential: principal.credential, agentId },
    });
  const endpointOptions = (door: 'operator' | 'agent') => ({
    cancellations,
    sessions: {
      ...{ secret: sessionSecret, days: config.session.days, clock },
      onRefused: ({ principal }: Caller, reason: string) =>
        noteRefusalOf(door, `session-${reason}`, principal),
    },
    maxBodyBytes: config.http.maxBodyBytes,
  });
  const operatorEndpoint = createMcpEndpoint(
    createOperatorDoor({ operations, version }),
    endpointOptions('operator'),
  );
  const asked = createAskedCalls({
    ...{ clock, secret: sessionSecret, toResult },
    pauses: createAskedPauses({ store, pauses }),
    turns: waitedTurns,
    base: address.base,
    waits: createPauseWaits({ ...{ store, clock, announce }, closing: closing.signal }),
    enabled: config.mcp.hitlMutations,
  });
  const agentEndpoint = createMcpEndpoint(
    createAgentDoor({
      calls,
      asked,
      version,
      rate,
      onRateLimited(agentId, principal) {
        metrics.rateLimited(agentId);
        noteRefusalOf('agent', 'rate-limited', principal, agentId);
      },
    }),
    endpointOptions('agent'),
  );
  undo.defer(() => operatorEndpoint.close());
  undo.defer(() => agentEndpoint.close());
  undo.defer(() => closing.abort());
  undo.defer(() => turns.close(DRAIN_MS));

  const hostCheck = createHostCheck({
    boundHost: config.host,
    publicUrl: config.publicUrl,
    allowedHosts: config.allowedHosts,
    allowedOrigins: config.allowedOrigins,
  });
  const cookies = createCookies({ secure: config.publicUrl?.startsWith('https:') === true });
  const sessions = createPageSessions({ store, clock, cookies });
  const notePageRefusal: NotePageRefusal = ({ reason, userId }, { log }) => {
    metrics.authenticationRefused('page', reason);
    refusals.note({ door: 'page', reason, subject: { userId } });
    log.info('Somebody was refused at a page', { reason, userId });
  };
  const resources = createResources({
    address: address.base,
    publicUrl: config.publicUrl,
    boundHost: config.host,
    allowedHosts: config.allowedHosts,
    operatorPath: config.operatorDoor.path,
    forceHttps: config.resourceMetadata.forceHttpsScheme,
  });
  const issuer = resources.base;
  const realm = realmOf(config.oidc, { store, clock, resources, undo });
  realm?.documents.keys().catch(error => {
    const { issuer: url } = config.oidc;
    part('realm').warn(`The OpenID realm ${url} does not answer: nobody of it can sign in until it does.`, {
      error,
    });
  });
  // A token that the operator door would not take is not issued.
  const issuable = realm ? withoutOperatorDoor(resources) : resources;
  const tokens = createAccessTokens({ keys: signingKeys, resources, issuer, clock });
  const oauthRate = createOAuthRate();
  const authorizationServer = createAuthorizationServer({
    ...{ store, clock, audit, resources: issuable, issuer, tokens },
    keys: signingKeys,
    logger: part('oauth'),
    refused: refusals.note,
    loginUrl: () => `${config.signIn.webLoginUrl ?? issuer()}/mcp-login`,
    clientDocument: config.signIn.clientDocuments
      ? createClientDocuments(overrides.fetchClientDocument ?? fetch.with(CLIENT_DOCUMENT))
      : undefined,
    mayFetchDocument: () => oauthRate.admits('document', undefined),
  });
  const pages = createPages({
    accounts: createAccounts({ store, clock, passwords }),
    links,
    sessions,
    guard: createPageGuard({ sessions, cookies, hostCheck, noteRefusal: notePageRefusal }),
    signInRate: createSignInRate(),
    noteRefusal: notePageRefusal,
    consents: authorizationServer.consents,
    cookies,
    baseFor: resources.baseFor,
    realm:
      realm && config.oidc.clientId !== undefined
        ? createRealmSignIn({
            ...{ realm, clock, clientId: config.oidc.clientId },
            clientSecret: options.oidcClientSecret,
          })
        : undefined,
    prefix: () => new URL(address.base()).pathname.replace(/\/$/, ''),
    grants,
    noteDone: (operation, userId, subject = {}) =>
      audit.note({ userId, via: 'session', operation, outcome: 'done', subject }).catch(error => {
        part('pages').error('What was done could not be noted in the audit trail', {
          operation,
          userId,
          error,
        });
      }),
    visits: createSignInVisits({ ...{ store, hasArrived, signIns }, registered: registeredNow }),
    signIns: personalSignIns,
    credentials: personalCredentials,
    base: address.base,
    pauses,
  });
  const app = createHttpApp({
    logger: part('doors'),
    metrics,
    noteRefusal: refusals.note,
    openCredentials,
    operations,
    files,
    rate,
    operatorEndpoint,
    agentEndpoint,
    isOurs: config.callerIdentity.enabled ? address.isOurs : undefined,
    operatorPath: config.operatorDoor.path,
    resourceMetadata: createResourceMetadata({
      ...{ resources, issuer, operatorIssuer: () => realm?.issuer ?? issuer() },
      operatorScopes: config.resourceMetadata.scopes,
    }),
    serverMetadata: createServerMetadata({
      ...{ server: authorizationServer, resources: issuable },
      operatorPath: config.operatorDoor.path,
    }),
    oauth: createOAuthRoutes({
      server: authorizationServer,
      rate: oauthRate,
      refused: refusals.note,
    }),
    maxBodyBytes: config.http.maxBodyBytes,
    hostCheck,
    pages,
    authenticator: createAuthenticator({
      store,
      clock,
      tokens,
      realm,
      authOff: config.auth === 'off',
      operatorKeys,
      onKeyUsed: lastUsed.note,
      localOwner: { token: options.localOwnerToken, userId: owner.id, roles: owner.roles },
    }),
    readiness: () => readinessOf(store),
  });

  /** What the first start does by itself is the owner's, as if they had asked for it. */
  const noteStart = (operation: OperationName, subject: Readonly<Record<string, string>>) =>
    audit.note({ userId: owner.id, via: 'start', operation, outcome: 'done', subject });

  await turns.releaseLeasesOf(nodeId);
  // Not only at the first start: one that was killed before this line is made up for.
  if (!(await hasAgents(store.db))) {
    try {
      const { agentId } = await agentFiles.deploy(ownerPrincipal(owner), DEMO_AGENT_FILE);
      await noteStart('deploy_agent_file', { agentId });
    } catch (error) {
      // Another node that starts at the same moment was quicker.
      if (!(await hasAgents(store.db))) throw error;
    }
  }
  /** Agents of the configuration are the owner's. Nothing is changed before the answer is called. */
  const prepareConfigured = async (agents: readonly AgentSection[]) => {
    const files = filesOfConfiguredAgents(agents);
    const prepare = () => agentFiles.prepareAll(ownerPrincipal(owner), files);
    const deploy = await prepare();
    return async () => {
      const deployed = await deploy().catch(async error => {
        if (!(error instanceof PlatformError) || error.kind !== 'conflict') throw error;
        // Another node that has the same file was quicker: now nothing is left to do.
        return (await prepare())();
      });
      for (const { agentId, documents } of deployed) {
        if (documents.some(({ changed }) => changed)) await noteStart('deploy_agent_file', { agentId });
      }
    };
  };
  try {
    await (await prepareConfigured(options.configuredAgents))();
  } catch (error) {
    // What a running platform has to mend keeps none from starting; what stands wrong in the file does.
    if (!(error instanceof PlatformError) || error.kind !== 'forbidden') throw error;
    part('agents').error(`The agents of the configuration stay as they were: ${error.message}`);
  }
  const jobs = createJobs({
    store,
    clock,
    nodeId,
    logger: part('jobs'),
    onEnd: metrics.job,
    kinds: {
      'take-up-turns': { everyMs: TAKE_UP_MS, run: () => turns.takeUpCutOffTurns() },
      [EXPIRE_PAUSE]: { run: payload => pauses.expire(pauseIdOf(payload)) },
      'retire-conversations': {
        everyMs: DAY_MS,
        run: (_, signal) => retireConversations({ store, clock, ...config.conversation }, signal),
      },
      'look-at-sign-ins': { everyMs: LOOK_AT_SIGN_INS_MS, run: () => signIns.lookAtAll() },
      'remove-leftovers': { everyMs: HOUR_MS, run: () => turns.removeLeftovers() },
      'remove-old-logs': { everyMs: HOUR_MS, run: () => logs.removeOld() },
      [RESEAL_JOB]: { run: async () => void (await vault.reseal()) },
      [END_DELIVERY]: { run: payload => tasks.endLate(idOf(payload)) },
      'end-abandoned-deliveries': { everyMs: ABANDONED_MS, run: () => tasks.endAbandoned() },
      'remove-old-deliveries': { everyMs: HOUR_MS, run: () => tasks.removeOld() },
      'remove-ended-authorizations': {
        everyMs: HOUR_MS,
        run: () => removeEndedRecords({ store, clock }),
      },
      'remove-old-sign-ins': {
        everyMs: HOUR_MS,
        async run() {
          await removeOldSignIns({ store, clock });
          await personalSignIns.removeOld();
        },
      },
      'remove-files': { everyMs: HOUR_MS, run: () => files.removeLeftovers() },
    },
  });
  undo.defer(() => jobs.stop());
  await jobs.start();
  await registry.start();
  servers.start();
  const deliver = createDeliver({ store, clock, calls, logger: part('deliveries') });
  // Workers of their own: agents at work hold up nothing else, and are held up by nothing else.
  // Turns that go on may take as long as turns may; workers of their own keep everything else in time.
  const turnJobs = createJobs({
    store,
    clock,
    nodeId: `${nodeId}/turns`,
    logger: part('jobs'),
    onEnd: metrics.job,
    concurrency: TURNS_AT_ONCE,
    kinds: { [CONTINUE_TURN]: { run: payload => turns.continueTurn(conversationIdOf(payload)) } },
  });
  undo.defer(() => turnJobs.stop());
  await turnJobs.start();

  const deliveryJobs = createJobs({
    store,
    clock,
    nodeId: `${nodeId}/deliveries`,
    logger: part('jobs'),
    onEnd: metrics.job,
    concurrency: DELIVERIES_AT_ONCE,
    kinds: { [DELIVER]: { run: (payload, _signal, isLastTry) => deliver(idOf(payload), isLastTry) } },
  });
  undo.defer(() => deliveryJobs.stop());
  await deliveryJobs.start();

  const built = undo.move();
  return {
    app,
    store,
    keys,
    users,
    links,
    turns,
    deployments,
    references,
    files,
    registry,
    servers,
    noteStart,
    async configure({ servers, agents }) {
      const deploy = await prepareConfigured(agents);
      registry.configure(servers);
      await deploy();
    },
    owner,
    firstStart,
    listensAt: address.listensAt,
    endStreams() {
      messageReader.close();
      closing.abort();
    },
    close: () => built.disposeAsync(),
  };
}

const conversationIdOf = (payload: unknown) => (payload as { conversationId: string }).conversationId;
const idOf = (payload: unknown) => (payload as { id: string }).id;
const pauseIdOf = (payload: unknown) => (payload as { pauseId: string }).pauseId;

/** A database that does not answer makes a node unready; agents that cannot run are told, and stop nobody else's. */
async function readinessOf({ db }: Store): Promise<{ readonly agentsInErrorCount: number } | undefined> {
  try {
    return { agentsInErrorCount: await countAgentsInError(db) };
  } catch {
    return undefined;
  }
}

/** Its hosts are an operator's word, so they may be private. */
function realmOf(
  settings: Config['oidc'],
  deps: {
    readonly store: Store;
    readonly clock: Clock;
    readonly resources: Resources;
    readonly undo: AsyncDisposableStack;
  },
): Realm | undefined {
  const { issuer, tokenIssuer = issuer, audience: audiences, rolesClaim, roleNames } = settings;
  if (issuer === undefined || tokenIssuer === undefined) return undefined;
  const { clock, undo } = deps;
  const fetch = createSafeFetch({ clock, allowPrivate: () => true });
  undo.defer(() => fetch.close());
  const names = new Map(roleNames.map(pair => pair.split('=') as [string, string]));
  return createRealm({
    ...deps,
    issuer: tokenIssuer,
    documents: createRealmDocuments({ issuer, issuers: [issuer, tokenIssuer], fetch, clock }),
    audiences,
    roles: { claim: rolesClaim, names },
  });
}

function ownerPrincipal(owner: User): Principal {
  return {
    id: owner.id,
    roles: new Set(owner.roles),
    via: 'cli',
    credential: 'local-owner',
    agents: { kind: 'shared' },
  };
}
