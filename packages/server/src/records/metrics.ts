import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { EventOrigin, HeardEvent } from '../kernel/events.ts';
import type { JobOutcome } from '../store/jobs.ts';
import type { Store } from '../store/store.ts';
import { countDeployments } from '../store/tables/deployments.ts';
import { countOpenPauses } from '../store/tables/pauses.ts';

export type Door = 'operator' | 'agent' | 'rest' | 'other';

/** What is counted, defined together. Names start with `patchbay_` (decisions.md 1). */
export interface Metrics {
  request(door: Door, status: number): void;
  turn(outcome: 'done' | 'failed' | 'timeout' | 'cancelled', ms: number): void;
  /** Somebody reached for what is not theirs (platform.md 2.2). */
  accessDenied(operation: string): void;
  authenticationRefused(door: string, reason: string): void;
  rateLimited(agentId: string): void;
  /** News, by what it is and where it was from; `resync` says that some of other nodes may have been missed. */
  event(kind: HeardEvent['kind'], origin: EventOrigin): void;
  /** A pause that ended: where it was decided, and what was decided. */
  approval(surface: 'mcp' | 'rest' | 'timeout', verdict: 'APPROVED' | 'REJECTED' | 'CANCELLED'): void;
  /** A call of a tool of an MCP server, refused ones too. */
  outboundCall(call: {
    readonly server: string;
    readonly outcome: string;
    readonly durationMs: number;
    readonly costUsd: number | 'unknown' | undefined;
  }): void;
  /** How many tools a registered MCP server offers now; 0 while it is down (W-106 to W-109). */
  serverTools(tools: {
    readonly mcp: string;
    readonly server: string;
    readonly count: number | undefined;
  }): void;
  /** A run of a job of the table. */
  job(kind: string, outcome: JobOutcome): void;
  /** Prometheus text; asks the database what is there now. */
  render(): Promise<string>;
  readonly contentType: string;
}

/** Servers of one instance, and of all documents together: whoever writes documents names servers as they like. */
const MAX_SERVERS = 1_000;

/** Names of servers, `<instance>/<name>`, as a label with a bounded number of values. */
function createServerLabels(): (server: string) => string {
  const known = new Map<string, Set<string>>();
  return server => {
    const instance = server.slice(0, server.indexOf('/'));
    const names = known.get(instance) ?? new Set();
    known.set(instance, names);
    if (names.size < MAX_SERVERS) names.add(server);
    return names.has(server) ? server : `${instance}/(others)`;
  };
}

export function createMetrics({ db }: Pick<Store, 'db'>): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: 'patchbay_http_requests_total',
    help: 'HTTP requests answered, by door and status',
    labelNames: ['door', 'status'],
    registers,
  });
  const turns = new Counter({
    name: 'patchbay_turns_total',
    help: 'Turns of agents, by how they ended',
    labelNames: ['outcome'],
    registers,
  });
  const turnSeconds = new Histogram({
    name: 'patchbay_turn_seconds',
    help: 'How long turns took',
    buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60],
    registers,
  });
  const accessDenied = new Counter({
    name: 'patchbay_access_denied_total',
    help: 'Calls for something of somebody else, by operation',
    labelNames: ['operation'],
    registers,
  });
  const authRefused = new Counter({
    name: 'patchbay_authentication_refused_total',
    help: 'Requests without a credential that opens the door, by door and reason',
    labelNames: ['door', 'reason'],
    registers,
  });
  const rateLimited = new Counter({
    name: 'patchbay_rate_limited_total',
    help: 'Calls refused because their credential had too many in a minute, by agent',
    labelNames: ['agent'],
    registers,
  });
  const events = new Counter({
    name: 'patchbay_events_total',
    help: 'News of this node and others, by kind and origin; resync: the connection to the others was lost and is back',
    labelNames: ['kind', 'origin'],
    registers,
  });
  const approvals = new Counter({
    name: 'patchbay_approvals_total',
    help: 'Waits for a person that ended on this node, by where it was decided and what',
    labelNames: ['surface', 'verdict'],
    registers,
  });
  const jobs = new Counter({
    name: 'patchbay_jobs_total',
    help: 'Runs of jobs on this node, by kind and how they ended',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const labelOf = createServerLabels();
  const outboundCalls = new Counter({
    name: 'patchbay_mcp_calls_total',
    help: 'Calls of tools of MCP servers, by server and what they came to',
    labelNames: ['server', 'outcome'],
    registers,
  });
  const outboundSeconds = new Histogram({
    name: 'patchbay_mcp_call_seconds',
    help: 'How long calls of tools of MCP servers took, by server',
    labelNames: ['server'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60],
    registers,
  });
  const outboundUsd = new Counter({
    name: 'patchbay_mcp_cost_usd_total',
    help: 'US dollars that calls of tools of MCP servers cost, where their definitions say so, by server',
    labelNames: ['server'],
    registers,
  });
  const serverTools = new Gauge({
    name: 'patchbay_mcp_tools',
    help: 'Tools that a registered MCP server offers on this node, by instance and server; 0 while it is down',
    labelNames: ['mcp', 'server'],
    registers,
  });
  new Gauge({
    name: 'patchbay_deployments',
    help: 'Versions of agents that are deployed, by environment and status; ERROR: it cannot run as it is deployed',
    labelNames: ['environment', 'status'],
    registers,
    async collect() {
      this.reset();
      for (const { environment, status, count } of await countDeployments(db))
        this.set({ environment, status }, count);
    },
  });
  new Gauge({
    name: 'patchbay_pauses_open',
    help: 'Turns that wait for a person',
    registers,
    async collect() {
      this.set(await countOpenPauses(db));
    },
  });
  return {
    request: (door, status) => requests.inc({ door, status: String(status) }),
    turn: (outcome, ms) => {
      turns.inc({ outcome });
      turnSeconds.observe(ms / 1000);
    },
    accessDenied: operation => accessDenied.inc({ operation }),
    authenticationRefused: (door, reason) => authRefused.inc({ door, reason }),
    rateLimited: agent => rateLimited.inc({ agent }),
    event: (kind, origin) => events.inc({ kind, origin }),
    approval: (surface, verdict) => approvals.inc({ surface, verdict }),
    outboundCall({ server: name, outcome, durationMs, costUsd }) {
      const server = labelOf(name);
      outboundCalls.inc({ server, outcome });
      outboundSeconds.observe({ server }, durationMs / 1000);
      if (typeof costUsd === 'number') outboundUsd.inc({ server }, costUsd);
    },
    serverTools: ({ mcp, server, count }) =>
      count === undefined ? serverTools.remove({ mcp, server }) : serverTools.set({ mcp, server }, count),
    job: (kind, outcome) => jobs.inc({ kind, outcome }),
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
