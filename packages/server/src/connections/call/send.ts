import { BY_AGENT, CALLED_BY_META } from '@patchbay/contract/called-by';
import type { Clock } from '../../kernel/clock.ts';
import { SessionError, scrubbed } from '../session/failure.ts';
import { type CallInProgress, type CallStep, waitBeforeNext } from './outbound-call.ts';
import type { BridgeSend } from './resource-bridge.ts';

export interface SendParts {
  readonly clock: Clock;
}

/**
 * Ensures that a request is sent once: what may have arrived is sent again only where the call says so; that it never arrived is the
 * connection's business. Hints of the tool play no part.
 */
export function createSendStep({ clock }: SendParts): CallStep {
  return {
    name: 'send',
    async run(state) {
      for (;;) {
        try {
          state.raw = await sendOnce(state, clock).catch(withoutSecrets(state));
          return undefined;
        } catch (error) {
          const wait = waitBeforeRetry(state, error);
          if (wait === undefined) throw error;
          await clock.sleep(wait, state.call.signal);
        }
      }
    },
  };
}

function sendOnce(state: CallInProgress, clock: Clock): Promise<NonNullable<CallInProgress['raw']>> {
  const { call } = state;
  state.attempts += 1;
  const until = clock.now() + call.server.callTimeoutMs;
  const request: BridgeSend = part =>
    state.connection!.request({
      ...part,
      headers: state.headers,
      timeoutMs: Math.max(1, until - clock.now()),
      signal: call.signal,
      onProgress: call.onProgress,
      beforeSend: state.beforeSend,
    });
  if (state.bridge) return state.bridge.run(request, state.arguments);
  const meta = call.driver === 'person' ? {} : { _meta: { [CALLED_BY_META]: BY_AGENT } };
  return request({
    method: 'tools/call',
    params: { name: call.tool, arguments: state.arguments, ...meta },
  });
}

/** What the connection shows to everybody is out of its failures already. */
function withoutSecrets({ headers, scrub }: CallInProgress): (thrown: unknown) => never {
  return thrown => {
    throw headers && scrub ? scrubbed(thrown, scrub) : thrown;
  };
}

const MAY_HAVE_ARRIVED = new Set(['TIMEOUT', 'TRANSPORT_ERROR', 'SERVER_UNAVAILABLE']);

function waitBeforeRetry({ call: { retry }, attempts }: CallInProgress, error: unknown): number | undefined {
  if (!(error instanceof SessionError) || !MAY_HAVE_ARRIVED.has(error.kind)) return undefined;
  return retry && waitBeforeNext(retry, attempts);
}
