import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import { redactText } from '../../kernel/redact.ts';
import { shownAddress } from './server-address.ts';

/**
 * An installation's own rule for addresses of servers: answers why one is refused, or nothing where it is not (W-62). What it throws refuses
 * the address, too.
 */
export type AddressCheck = (url: string) => unknown;

const MAX_WAIT_MS = 10_000;
const MAX_REASON = 300;

/**
 * Asks the rule about an address. Rejects with a `PlatformError` that reads `<url> can't be reached: <reason>` (W-65), without the query of the
 * address.
 */
export async function askCheck(
  check: AddressCheck,
  url: string,
  { clock, logger }: { readonly clock: Pick<Clock, 'sleep'>; readonly logger: Logger },
): Promise<void> {
  const reason = await answerOf(check, url, clock).catch(error => {
    logger.error('The check of addresses failed, so the address is refused', { error });
    return 'the check of addresses failed; the log says why';
  });
  if (reason === undefined) return;
  const cut = redactText(reason.slice(0, MAX_REASON)).replace(/\.$/, '');
  throw new PlatformError('invalid', `${shownAddress(url)} can't be reached: ${cut}`);
}

async function answerOf(
  check: AddressCheck,
  url: string,
  clock: Pick<Clock, 'sleep'>,
): Promise<string | undefined> {
  const done = new AbortController();
  const late = clock.sleep(MAX_WAIT_MS, done.signal).then(
    () => 'the check of addresses took too long',
    () => undefined,
  );
  try {
    const answer = await Promise.race([Promise.resolve(url).then(check), late]);
    if (answer === undefined || answer === null || answer === true) return undefined;
    return typeof answer === 'string' && answer.trim() !== '' ? answer : 'the check of addresses refuses it';
  } finally {
    done.abort();
  }
}
