import type { HttpBindings } from '@hono/node-server';
import { CALLED_BY_HEADER } from '@patchbay/contract/called-by';
import { isAgentId } from '@patchbay/contract/ids';
import { Hono } from 'hono';
import type { Files } from '../agents/file/files.ts';
import type { Authenticator, AuthRefusal, AuthRequest } from '../auth/authenticate.ts';
import { type CredentialHeaders, readCredential } from '../auth/credential.ts';
import { CallerToken } from '../kernel/caller-token.ts';
import { PlatformError } from '../kernel/errors.ts';
import type { Logger } from '../kernel/logger.ts';
import { isAdmin, type Principal } from '../kernel/principal.ts';
import type { Operations } from '../operations/invoke.ts';
import type { NoteRefusal, Refusal } from '../records/audit/refusals.ts';
import type { Door, Metrics } from '../records/metrics.ts';
import { type AgentCaller, agentUnauthorized } from './agent-mcp/agent-door.ts';
import type { CallRate } from './agent-mcp/call-rate.ts';
import type { HostCheck } from './http/host-check.ts';
import type { OpenCredentials } from './http/open-credentials.ts';
import type { RequestScope, ScopedEnv } from './http/request-scope.ts';
import { traceIdOf } from './http/trace.ts';
import type { Caller } from './mcp/door.ts';
import type { McpEndpoint } from './mcp/endpoint.ts';
import { jsonRpcErrorResponse } from './mcp/json-rpc.ts';
import { createChallenges } from './oauth/challenges.ts';
import type { createOAuthRoutes } from './oauth/oauth-routes.ts';
import { isOpenToPages, openToPages } from './oauth/open-to-pages.ts';
import type { ResourceMetadata } from './oauth/resource-metadata.ts';
import type { createServerMetadata } from './oauth/server-metadata.ts';
import type { createPages } from './pages/pages.ts';
import { createFileContent } from './rest/file-content.ts';
import { createOpenApi } from './rest/openapi.ts';
import { type Authenticate, createRest, restError } from './rest/rest.ts';
import { createSeedAliases } from './rest/seed-aliases.ts';

type Env = { Bindings: HttpBindings; Variables: ScopedEnv['Variables'] & { door?: Door } };

const OPERATOR_CREDENTIAL_NEEDED =
  'A credential is needed: Authorization: Bearer with a token for this address or a key of scope operator.';
const USER_KEY_NEEDED = 'A credential is needed: Authorization: Bearer with a user key (oag_...).';

const REALM_UNAVAILABLE =
  'The OpenID realm that issued this token does not answer, so the token cannot be checked; try again in a moment.';
const TOKEN_IN_ADDRESS = /[?&]access_token=/i;

/** Headers by which a proxy shows itself: the peer behind one may be anybody. */
const FORWARDING_HEADERS = [
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'via',
];

/** Everything one listener serves: both doors, REST and the probes. Routes only; each door does its own work. */
export function createHttpApp(deps: {
  readonly logger: Logger;
  readonly hostCheck: HostCheck;
  readonly authenticator: Authenticator;
  readonly metrics: Metrics;
  readonly noteRefusal: NoteRefusal;
  readonly openCredentials: OpenCredentials;
  readonly operations: Operations;
  readonly files: Files;
  readonly rate: CallRate;
  /** Is this address the platform's own? Callers' tokens go nowhere else; `undefined` where they go nowhere at all (E-94). */
  readonly isOurs: ((url: URL) => boolean) | undefined;
  readonly operatorPath: string;
  readonly resourceMetadata: ResourceMetadata;
  readonly serverMetadata: ReturnType<typeof createServerMetadata>;
  /** Endpoints of the authorization server. */
  readonly oauth: ReturnType<typeof createOAuthRoutes>;
  readonly operatorEndpoint: McpEndpoint<Caller>;
  readonly agentEndpoint: McpEndpoint<AgentCaller>;
  readonly maxBodyBytes: number;
  /** What people see in a browser. */
  readonly pages: ReturnType<typeof createPages>;
  /** `undefined` when requests had better go elsewhere (platform.md 1.6). */
  readonly readiness: () => Promise<{ readonly agentsInErrorCount: number } | undefined>;
}): Hono<Env> {
  const { logger, hostCheck, authenticator, metrics, operations, operatorEndpoint, agentEndpoint } = deps;
  const challenges = createChallenges(deps.resourceMetadata);
  const app = new Hono<Env>();

  // Probes come first: they carry no credential and an address of the cluster's as Host (B-07).
  app.get('/healthz', c => c.json({ status: 'ok' }));
  app.get('/readyz', async c => {
    const readiness = await deps.readiness();
    return readiness ? c.json({ status: 'ready', ...readiness }) : c.json({ status: 'unready' }, 503);
  });

  app.use(async (c, next) => {
    const { headers } = c.req.raw;
    const traceId = traceIdOf(headers.get('traceparent') ?? undefined);
    const log = logger.child({ traceId });
    const address = c.env.incoming?.socket.remoteAddress;
    const local =
      isLoopback(address) && !headers.has('origin') && !FORWARDING_HEADERS.some(name => headers.has(name));
    c.set('scope', { traceId, log, local, since: deps.openCredentials.moment() });
    const checked = hostCheck.check({
      host: headers.get('host') ?? undefined,
      origin: isOpenToPages(c.req) ? undefined : (headers.get('origin') ?? undefined),
    });
    if (checked.ok) return next();
    const { header, value, setting } = checked.refusal;
    log.warn('request refused', { header, value: value.slice(0, 100) });
    deps.noteRefusal({ door: 'any', reason: `foreign-${checked.refusal.reason}` });
    throw new PlatformError(
      'forbidden',
      `This ${header} is not served here; the setting ${setting} can add it.`,
    );
  });

  app.use(async (c, next) => {
    await next();
    metrics.request(c.get('door') ?? 'other', c.res.status);
  });

  function noteRefusal(door: Refusal['door'], scope: RequestScope, { reason, subject }: AuthRefusal): void {
    metrics.authenticationRefused(door, reason);
    deps.noteRefusal({ door, reason, subject });
    scope.log.info('no credential that opens this door', { door, reason });
  }

  const authenticate: Authenticate = async (request, scope, surface) => {
    const presented = authRequestOf(request, scope);
    const outcome = await (surface === 'agents'
      ? authenticator.restBesideAgents(presented)
      : authenticator.rest(presented));
    if (outcome.ok) return withToken(withMark(outcome.value, request), request, deps.isOurs);
    noteRefusal('rest', scope, outcome.refusal);
    if (outcome.refusal.reason === 'realm-unavailable')
      throw new PlatformError('unavailable', REALM_UNAVAILABLE);
    throw new PlatformError(
      'unauthenticated',
      surface === 'agents' ? USER_KEY_NEEDED : OPERATOR_CREDENTIAL_NEEDED,
    );
  };

  app.use(openToPages);
  app.route('/', deps.resourceMetadata.routes);
  app.route('/', deps.serverMetadata);
  app.route('/', deps.oauth);

  app.all(deps.operatorPath, async c => {
    c.set('door', 'operator');
    const scope = c.get('scope');
    const request = c.req.raw;
    const host = request.headers.get('host') ?? undefined;
    const outcome = await authenticator.operatorDoor(authRequestOf(request, scope));
    if (!outcome.ok) {
      noteRefusal('operator', scope, outcome.refusal);
      if (outcome.refusal.reason === 'realm-unavailable') {
        const error = { code: 503, message: REALM_UNAVAILABLE, data: { code: 'unavailable' } };
        return jsonRpcErrorResponse(null, error, 503, { 'Retry-After': '5' });
      }
      const wasPresented = outcome.refusal.reason !== 'no-credential';
      return jsonRpcErrorResponse(
        null,
        { code: 401, message: OPERATOR_CREDENTIAL_NEEDED, data: { code: 'unauthorized' } },
        401,
        { 'WWW-Authenticate': challenges.operatorDoor(host, wasPresented) },
      );
    }
    const principal = withToken(withMark(outcome.value, request), request, deps.isOurs);
    const open = deps.openCredentials.of({ door: 'operator', principal }, scope.since);
    const response = await operatorEndpoint.serve(request, { principal, open, ...scope });
    // The one refusal of this door with that status: the client may only read.
    if (response.status === 403) {
      const { id: userId, via, credential } = principal;
      deps.noteRefusal({
        door: 'operator',
        reason: 'insufficient-scope',
        subject: { userId, via, credential },
      });
      response.headers.set('WWW-Authenticate', challenges.needsMore(host));
    }
    return response;
  });

  app.route('/', deps.pages);

  for (const path of ['/api/v1/*', '/administration/*', '/mcpcallsstore/*']) {
    app.use(path, (c, next) => {
      c.set('door', 'rest');
      return next();
    });
  }
  app.route('/api/v1', createOpenApi());
  app.route(
    '/api/v1',
    createRest({
      operations,
      authenticate,
      maxBodyBytes: deps.maxBodyBytes,
      rate: deps.rate,
      onRateLimited(agentId, { id: userId, via, credential }) {
        metrics.rateLimited(agentId);
        deps.noteRefusal({
          ...{ door: 'rest', reason: 'rate-limited' },
          subject: { userId, via, credential, agentId },
        });
      },
      openCredentials: deps.openCredentials,
    }),
  );
  app.route('/api/v1', createFileContent({ files: deps.files, authenticate }));
  app.route('/', createSeedAliases({ operations, authenticate, maxBodyBytes: deps.maxBodyBytes }));

  app.get('/metrics', async c => {
    const principal = await authenticate(c.req.raw, c.get('scope'));
    if (!isAdmin(principal)) throw new PlatformError('forbidden', 'Metrics require the role patchbay-admin.');
    return c.body(await metrics.render(), 200, { 'Content-Type': metrics.contentType });
  });

  app.all('/:agentId/mcp', async c => {
    c.set('door', 'agent');
    const scope = c.get('scope');
    const agentId = c.req.param('agentId');
    // An impossible id takes the same way as an unknown one, with the same answer (B-11, decisions.md 3).
    const outcome = await authenticator.agentDoor(
      isAgentId(agentId) ? agentId : '',
      authRequestOf(c.req.raw, scope),
    );
    if (!outcome.ok) {
      noteRefusal('agent', scope, outcome.refusal);
      return agentUnauthorized(challenges.agentDoor(agentId, c.req.header('host')));
    }
    const { agent } = outcome.value;
    const principal = withToken(withMark(outcome.value.principal, c.req.raw), c.req.raw, deps.isOurs);
    const card = { agentId: agent.id, name: agent.name, description: agent.description };
    const log = scope.log.child({ agentId: agent.id, userId: principal.id });
    const open = deps.openCredentials.of({ door: 'agent', principal, agentId: agent.id }, scope.since);
    return agentEndpoint.serve(c.req.raw, { principal, open, card, ...scope, log });
  });

  app.notFound(c => {
    const message = `There is nothing at ${c.req.method} ${c.req.path}.`;
    return restError(new PlatformError('not_found', message), c.get('scope'));
  });
  app.onError((thrown, c) => restError(thrown, c.get('scope')));
  return app;
}

/** What an agent calls over HTTP says so, which no credential does (attack 29). */
function withMark(principal: Principal, { headers }: Request): Principal {
  return headers.has(CALLED_BY_HEADER) ? { ...principal, byAgent: true } : principal;
}

/** A person's own token or key goes on with what they ask for; that of an agent's key, or of the command line, is nobody's to lend (E-88). */
function withToken(
  principal: Principal,
  request: Request,
  isOurs: ((url: URL) => boolean) | undefined,
): Principal {
  if (!isOurs || (principal.via !== 'user-key' && principal.via !== 'token')) return principal;
  const presented = readCredential(credentialHeadersOf(request));
  return 'token' in presented ? { ...principal, token: new CallerToken(presented.token, isOurs) } : principal;
}

function authRequestOf(request: Request, { local }: RequestScope): AuthRequest {
  return { ...credentialHeadersOf(request), local };
}

function credentialHeadersOf({ headers, url }: Request): CredentialHeaders {
  return {
    authorization: headers.get('authorization') ?? undefined,
    agentApiKey: headers.get('x-agent-api-key') ?? undefined,
    inAddress: TOKEN_IN_ADDRESS.test(url),
  };
}

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && (address === '::1' || /^(?:::ffff:)?127\./.test(address));
}
