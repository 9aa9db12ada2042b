import { Counter, Histogram, Registry } from 'prom-client';

export type Door = 'operator' | 'agent' | 'rest' | 'other';

/** What is counted, defined together. Names start with `patchbay_` (decisions.md 1). */
export interface Metrics {
  request(door: Door, status: number): void;
  turn(outcome: 'done' | 'failed' | 'timeout' | 'cancelled', ms: number): void;
  /** Somebody reached for what is not theirs (platform.md 2.2). */
  accessDenied(operation: string): void;
  authenticationRefused(door: string, reason: string): void;
  /** Prometheus text. */
  render(): Promise<string>;
  readonly contentType: string;
}

export function createMetrics(): Metrics {
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
  return {
    request: (door, status) => requests.inc({ door, status: String(status) }),
    turn: (outcome, ms) => {
      turns.inc({ outcome });
      turnSeconds.observe(ms / 1000);
    },
    accessDenied: operation => accessDenied.inc({ operation }),
    authenticationRefused: (door, reason) => authRefused.inc({ door, reason }),
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
