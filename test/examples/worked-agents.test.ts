import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createClient } from '@patchbay/contract/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type ServiceDesk, startServiceDesk } from '../../examples/service-desk-server.ts';
import { newCanary, placesWith } from '../canary.ts';
import { platforms } from '../doors/platforms.ts';

describe.each(platforms)('the worked agents on $kind', ({ start }) => {
  const canary = newCanary();
  let platform: TestPlatform;
  let desk: ServiceDesk;
  let client: ReturnType<typeof createClient>;
  beforeAll(async () => {
    desk = await startServiceDesk({ port: 0, key: canary.value });
    const { port } = desk.server.address() as AddressInfo;
    platform = await start({
      env: {
        PATCHBAY_VAULT_KEY: randomBytes(32).toString('hex'),
        PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1',
      },
    });
    client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    await client.call('put_secret', { name: 'service-desk-key', value: canary.value });
    await client.call('put_variable', { name: 'service-desk-url', value: `http://127.0.0.1:${port}` });
    await client.call('put_secret', { name: 'librarian-key', value: platform.operatorKey });
    await client.call('put_variable', { name: 'librarian-url', value: platform.operatorUrl });
    for (const name of ['opening-hours', 'order-desk', 'service-desk', 'librarian']) {
      const text = await readFile(new URL(`../../examples/${name}.yaml`, import.meta.url), 'utf8');
      await client.call('deploy_agent_file', { file: parse(text) });
    }
  });
  afterAll(async () => {
    await platform?.close();
    desk?.server.close();
    if (desk) await once(desk.server, 'close');
  });

  /** Says all of it in one conversation and answers what the agent said to each. */
  async function talk(agentId: string, ...messages: readonly string[]) {
    const { conversationId } = await client.call('create_conversation', { agentId });
    const answers: string[] = [];
    for (const message of messages) {
      const answer = await client.call('talk_to_agent', { agentId, conversationId, message });
      answers.push(answer.agentResponse ?? '');
    }
    return { conversationId, answers };
  }

  const read = (conversationId: string) => client.call('read_conversation', { conversationId });
  const settled = (conversationId: string) =>
    expect
      .poll(async () => (await read(conversationId)).conversationState, { timeout: 10_000 })
      .toBe('READY');

  it('opening-hours answers misspelled questions, and what is special before what is general', async () => {
    const { answers } = await talk(
      'opening-hours',
      'When do you open?',
      'Opning houres on sundey?',
      'adress please',
      'Parking',
      'Do you sell bicycles?',
      'But bicycles?',
    );
    expect(answers).toEqual([
      'We are open from 9 to 18 on weekdays and from 10 to 14 on Saturdays.',
      'On Sundays we are closed.',
      'We are at 12 Station Road, two minutes from the station.',
      'There are twenty places behind the house.',
      'I know the opening hours, the address, the parking and how to reach us.',
      'That I do not know. People do: call 555 0100.',
    ]);
  });

  it('order-desk asks for what is missing, in any order, and forgets when it is told to', async () => {
    const { answers, conversationId } = await talk('order-desk', 'Tea', 'Large', 'Ada', 'Yes');
    expect(answers).toEqual([
      'Small or large?',
      'A large tea. On which name?',
      'A large tea for Ada: is that right?',
      'Thank you, Ada! Your tea will be ready in five minutes.',
    ]);
    expect(await read(conversationId)).toMatchObject({
      conversationState: 'ENDED',
      conversationProperties: { drink: 'tea', size: 'large', customer: 'Ada' },
    });
    expect((await talk('order-desk', 'a small cofee', 'Bob')).answers).toEqual([
      'A small coffee. On which name?',
      'A small coffee for Bob: is that right?',
    ]);
    const again = await talk('order-desk', 'large', 'espresso', 'Eve', 'Start again', 'yes', 'tea');
    expect(again.answers).toEqual([
      'What would you like to drink?',
      'A large espresso. On which name?',
      'A large espresso for Eve: is that right?',
      'What would you like to drink?',
      'I take orders for coffee, espresso and tea, small or large.',
      'Small or large?',
    ]);
  });

  it('order-desk takes a turn back with what it kept', async () => {
    const { conversationId } = await talk('order-desk', 'Tea', 'Large');
    expect(await client.call('undo_turn', { conversationId })).toMatchObject({ redoAvailable: true });
    expect((await read(conversationId)).conversationProperties).toEqual({ drink: 'tea' });
    const call = { agentId: 'order-desk', conversationId };
    const other = await client.call('talk_to_agent', { ...call, message: 'Small' });
    expect(other.agentResponse).toBe('A small tea. On which name?');
  });

  it('librarian reads the documentation through the door of its own platform', async () => {
    const { answers } = await talk(
      'librarian',
      'Which pages are there?',
      'Please read keys',
      'read nothing',
      'hi',
    );
    expect(answers).toEqual([
      expect.stringMatching(/^There are \d+ pages: .*getting-started.*keys/),
      expect.stringMatching(/^# .*Keys/i),
      expect.stringMatching(/^That I cannot read: .*nothing/),
      'Ask me which pages there are, or say: read keys.',
    ]);
  });

  it('service-desk reads tickets with a key that nobody sees', async () => {
    const { answers, conversationId } = await talk('service-desk', 'Status of ticket 1?', 'ticket', '99');
    expect(answers).toEqual([
      'Ticket 1, "The printer is out of paper", is solved.',
      'Which number has the ticket?',
      'I cannot find ticket 99.',
    ]);
    const full = { conversationId, currentStepOnly: false, returnDetailed: true };
    const exported = await client.call('export_agent', { agentId: 'service-desk', includeVariables: true });
    const seen = { conversation: await client.call('read_conversation', full), exported };
    expect(placesWith(canary, seen)).toEqual([]);
    expect(exported).toMatchObject({ secrets: ['service-desk-key'] });
  });

  it('service-desk files a ticket once somebody has approved, and none otherwise', async () => {
    const before = desk.tickets.length;
    const { conversationId } = await talk(
      'service-desk',
      'report a problem',
      'The "lift" \\ to floor 2 is a problem',
    );
    expect(await read(conversationId)).toMatchObject({ conversationState: 'AWAITING_HUMAN' });
    expect(desk.tickets).toHaveLength(before);
    const { pauseReason } = await client.call('get_approval_status', { conversationId });
    expect(pauseReason).toBe('A new ticket is about to be filed.');
    await client.call('resume_conversation', { conversationId, verdict: 'APPROVED' });
    await settled(conversationId);
    expect(desk.tickets.slice(before).map(({ title }) => title)).toEqual([
      'The "lift" \\ to floor 2 is a problem',
    ]);
    expect((await read(conversationId)).conversationOutputs![0]!.output).toMatchObject([
      { text: `It is filed as ticket ${before + 1}.` },
    ]);

    const rejected = (await talk('service-desk', 'report', 'Nothing works')).conversationId;
    await client.call('resume_conversation', {
      conversationId: rejected,
      verdict: 'REJECTED',
      note: 'Please call us instead.',
    });
    await settled(rejected);
    expect(desk.tickets).toHaveLength(before + 1);
    const { log } = await client.call('read_conversation_log', { conversationId: rejected });
    expect(log).toContain('Please call us instead.');
  });
});
