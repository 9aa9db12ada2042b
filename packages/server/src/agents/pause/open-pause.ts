import type { Db } from '../../store/store.ts';
import { addJob } from '../../store/tables/jobs.ts';
import { insertPause, type NewPause } from '../../store/tables/pauses.ts';
import { putCheckpoint } from '../../store/tables/turn-checkpoints.ts';
import { parseDuration } from '../language/duration.ts';
import { EXPIRE_PAUSE } from './jobs.ts';

/** Begins to wait: the pause, where its turn goes on, and its end if it has one, in the unit that commits the turn so far. */
export async function openPause(db: Db, pause: NewPause, checkpoint: string): Promise<void> {
  await insertPause(db, pause);
  await putCheckpoint(db, pause.conversationId, checkpoint);
  const delayMs = parseDuration(pause.approvalTimeout);
  if (pause.timeoutPolicy === 'WAIT_INDEFINITELY' || delayMs === undefined) return;
  await addJob(db, {
    id: `${EXPIRE_PAUSE}/${pause.id}`,
    kind: EXPIRE_PAUSE,
    payload: { pauseId: pause.id },
    delayMs,
  });
}
