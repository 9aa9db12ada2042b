import { OPERATIONS, type Operation, type OperationName } from '@patchbay/contract/operations';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../kernel/logger.ts';
import type { Principal } from '../kernel/principal.ts';
import type { Audit } from '../records/audit/audit.ts';
import { createChangeNotes } from './note-changes.ts';

type Event = Parameters<Audit['note']>[0];

const operation = (name: OperationName): Operation =>
  (OPERATIONS as readonly Operation[]).find(definition => definition.name === name)!;

const person = (id: string): Principal => ({
  id,
  roles: new Set(),
  via: 'user-key',
  credential: `key of ${id}`,
  agents: { kind: 'own' },
});

function rig(note?: Audit['note']) {
  const events: Event[] = [];
  const lines: string[] = [];
  const clock = { now: () => clock.at, at: 1_000_000 };
  const logger = createLogger({
    level: 'info',
    format: 'json',
    destination: { write: line => lines.push(line) },
    clock,
  });
  const audit = { note: note ?? (async (event: Event) => void events.push(event)) };
  return { events, lines, clock, notes: createChangeNotes({ audit, clock, logger }) };
}

describe('changes', () => {
  it('are noted with ids of what they are about, by argument, address and answer', async () => {
    const { events, notes } = rig();
    await notes.done(
      operation('delete_agent'),
      { agentId: 'a', version: 2, cascade: true },
      {},
      person('ann'),
    );
    await notes.done(operation('delete_secret'), { name: 'smtp' }, {}, person('ann'));
    await notes.done(
      operation('create_key'),
      { name: 'laptop' },
      { id: 'key_1', key: 'oag_1' },
      person('ann'),
    );
    expect(events).toEqual(
      [
        ['delete_agent', { agentId: 'a', version: 2, cascade: true }],
        ['delete_secret', { name: 'smtp' }],
        ['create_key', { id: 'key_1' }],
      ].map(([name, subject]) => ({
        ...{ userId: 'ann', via: 'user-key', outcome: 'done' },
        ...{ operation: name, subject },
      })),
    );
  });

  it('hold no text and no secret, wherever somebody has put it', async () => {
    const { events, lines, notes } = rig();
    const secret = `oag_${'5'.repeat(64)}`;
    await notes.done(
      operation('put_secret'),
      { name: 'smtp', value: 'hunter2', description: 'for mail' },
      { id: 'a sentence of somebody', agentId: 'x'.repeat(300) },
      person('ann'),
    );
    await notes.done(operation('deploy_agent'), { agentId: secret }, {}, person('ann'));
    expect(events.map(({ subject }) => subject)).toEqual([{ name: 'smtp' }, { agentId: 'oag_[redacted]' }]);
    expect(lines.join('')).not.toMatch(/hunter2|for mail|sentence|5555/);
  });

  it('are neither reads, nor turns, nor the coming and going of files', async () => {
    const { events, notes } = rig();
    for (const name of ['list_agents', 'chat_with_agent', 'presign_upload'] as const)
      await notes.done(operation(name), {}, {}, person('ann'));
    expect(events).toEqual([]);
  });

  it('stay done when they cannot be noted, and the log has them', async () => {
    const { lines, notes } = rig(() => Promise.reject(new Error('no room')));
    await notes.done(operation('deploy_agent'), { agentId: 'a' }, {}, person('ann'));
    expect(lines.map(line => JSON.parse(line))).toMatchObject([
      { level: 'info', message: 'Something was changed', operation: 'deploy_agent', agentId: 'a' },
      { level: 'error', message: 'What was done could not be noted in the audit trail', agentId: 'a' },
    ]);
  });
});

describe('refusals', () => {
  it('are noted up to ten a minute for a caller; the rest is counted', async () => {
    const { clock, events, notes } = rig();
    for (let call = 0; call < 25; call += 1)
      await notes.refused(operation('list_agents'), {}, person('ann'), 'missing-role');
    expect(events).toHaveLength(10);
    await notes.refused(operation('get_agent'), { agentId: 'a' }, person('bob'), 'not-allowed');
    expect(events.at(-1)).toMatchObject({
      outcome: 'refused',
      userId: 'bob',
      subject: { agentId: 'a', reason: 'not-allowed', unwritten: 15 },
    });
    clock.at += 60_000;
    await notes.refused(operation('list_agents'), {}, person('ann'), 'missing-role');
    expect(events.at(-1)).toMatchObject({ userId: 'ann', subject: { reason: 'missing-role' } });
  });

  it('are noted up to a hundred a minute for all together', async () => {
    const { events, notes } = rig();
    for (let call = 0; call < 300; call += 1)
      await notes.refused(operation('list_agents'), {}, person(`person ${call}`), 'missing-role');
    expect(events).toHaveLength(100);
  });
});
