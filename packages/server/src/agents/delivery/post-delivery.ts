import { sha256OfJson } from '../../kernel/digest.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Db, Store } from '../../store/store.ts';
import {
  countOpenDeliveries,
  type Delivery,
  findDelivery,
  findDeliveryByKey,
  forgetDeliveryKey,
  insertDelivery,
  type NewDelivery,
} from '../../store/tables/deliveries.ts';
import { addJob } from '../../store/tables/jobs.ts';
import { appendMessages } from '../../store/tables/message-logs.ts';
import { deliverJobOf, messageIdOf } from './end-delivery.ts';

/** The job that ends what has not ended by its deadline. */
export const END_DELIVERY = 'end-delivery';

/** Of one person, so that nobody fills the queue of all. */
const MAX_OPEN = 1_000;

/** Another request with the same idempotency key is being stored. */
class KeyTaken extends Error {}

/**
 * Puts a message into the queue: its row, its first line in the log and its jobs in one unit; `prepare` makes what they need. The
 * same idempotency key with the same arguments answers the first delivery again. Rejects with a `PlatformError` of kind
 * `conflict` for the same key with other arguments, and when too many of the owner's are open.
 */
export async function postDelivery(
  store: Store,
  delivery: Omit<NewDelivery, 'digest'>,
  options: { readonly keyLifeMs: number; readonly prepare?: (db: Db) => Promise<void> },
): Promise<Delivery> {
  const digest = digestOf(delivery);
  const post = async (db: Db): Promise<Delivery> => {
    const earlier = await earlierWithKey(db, delivery, options.keyLifeMs);
    if (earlier) return sameOrConflict(earlier, digest);
    await refuseTooMany(db, delivery.ownerId);
    await options.prepare?.(db);
    if (!(await insertDelivery(db, { ...delivery, digest }))) throw new KeyTaken();
    await begin(db, delivery);
    return (await findDelivery(db, delivery.id))!;
  };
  try {
    return await store.commit(post);
  } catch (thrown) {
    if (!(thrown instanceof KeyTaken)) throw thrown;
    return store.commit(post);
  }
}

async function begin(db: Db, delivery: Omit<NewDelivery, 'digest'>): Promise<void> {
  const { id, logId, message, createdAt, deadlineAt } = delivery;
  await appendMessages(db, logId, [
    { id: messageIdOf(delivery), type: 'chat_message', state: 'completed', body: message, createdAt },
  ]);
  await addJob(db, { ...deliverJobOf(id), payload: { id } });
  await addJob(db, {
    id: `${END_DELIVERY}/${id}`,
    kind: END_DELIVERY,
    payload: { id },
    delayMs: deadlineAt - createdAt,
  });
}

async function earlierWithKey(
  db: Db,
  delivery: Omit<NewDelivery, 'digest'>,
  keyLifeMs: number,
): Promise<Delivery | undefined> {
  const { ownerId, keyScope, idempotencyKey, createdAt } = delivery;
  if (idempotencyKey === undefined) return undefined;
  const earlier = await findDeliveryByKey(db, { ownerId, keyScope, idempotencyKey });
  if (!earlier || earlier.endedAt === undefined || earlier.createdAt > createdAt - keyLifeMs) return earlier;
  await forgetDeliveryKey(db, earlier.id);
  return undefined;
}

function sameOrConflict(earlier: Delivery, digest: string): Delivery {
  if (earlier.digest === digest) return earlier;
  throw new PlatformError(
    'conflict',
    'duplicate idempotency key: it was used with other arguments; use a new key for another message.',
  );
}

async function refuseTooMany(db: Db, ownerId: string): Promise<void> {
  if ((await countOpenDeliveries(db, ownerId)) < MAX_OPEN) return;
  throw new PlatformError(
    'conflict',
    `You have ${MAX_OPEN} messages in the background that have not ended; wait for some, or cancel them.`,
  );
}

function digestOf({ contextId, message, attachments, metadata }: Omit<NewDelivery, 'digest'>): string {
  return sha256OfJson({ contextId: contextId ?? null, message, attachments, metadata: metadata ?? {} });
}
