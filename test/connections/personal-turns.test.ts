import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { toolCallingAgent } from '../mcpcalls/calling-agent.ts';
import { conversationOf, heardOf } from '../mcpcalls/talk.ts';
import { type Rig, rigsOn } from './live-rig.ts';
import { guard, isToolCall, PERSONAL_ENV, personAt } from './personal-rig.ts';
import { faultServers } from './servers/fault-servers.ts';

const { serverWith } = faultServers();

type Person = Awaited<ReturnType<typeof personAt>>;
type Client = Rig['client'];

describe.each(platforms)(
  'An agent at a server that each person reaches by themselves, at $kind',
  ({ start }) => {
    let platform: TestPlatform;
    let rig: Rig;
    beforeAll(async () => {
      platform = await start({ env: PERSONAL_ENV });
      rig = rigsOn(platform)[0]!;
    });
    afterAll(() => platform?.close());
    const nodes = () => (platform as { nodes?: readonly TestPlatform[] }).nodes ?? [platform];

    /** A server, and an agent of somebody's that asks it who is there and that everyone may use. */
    async function sharedAgent(name: string, author: Client = rig.client) {
      const server = await serverWith('whoami');
      const guarded = guard(server);
      await rig.add(name, { url: server.url, credentialName: name });
      for (const { platform: one } of nodes())
        await expect.poll(() => one.registry.find(rig.refOf(name))).toBeDefined();
      const file = toolCallingAgent(name, {
        mcpServerUrl: `patchbay:servers/${name}`,
        mcpCalls: [{ name: 'ask', toolName: 'whoami' }],
      });
      await author.call('deploy_agent_file', { file });
      await author.call('share_agent', { agentId: name, with: 'everyone' });
      return guarded;
    }

    it('is everybody who talks to it, each in their own turns, at once and on every node (W-70) (W-89) (attack 19)', async () => {
      const { knows } = await sharedAgent('crew');
      const people = await Promise.all([0, 1, 2].map(() => personAt(platform, nodes())));
      for (const person of people) await person.give('crew', knows(person.userId));
      const heard = await Promise.all(
        people.flatMap(person =>
          nodes().flatMap((_, at) =>
            [0, 1].map(async () => {
              const client = person.clients[at]!;
              const conversation = await conversationOf(client, 'crew');
              return [person.userId, await heardOf(client, conversation, 'ask')] as const;
            }),
          ),
        ),
      );
      for (const [userId, said] of heard) expect(said).toEqual({ answer: userId });
    });

    it('is nobody for who speaks in the conversation of somebody else, whatever their role (W-89)', async () => {
      const { knows, shown } = await sharedAgent('desk');
      const [ann, admin] = [await personAt(platform, nodes()), await personAt(platform, nodes())];
      await ann.give('desk', knows('ann'));
      await admin.give('desk', knows('admin'));
      const conversation = await conversationOf(ann.client, 'desk');
      const refused = {
        code: 'AUTHENTICATION_FAILED',
        message: expect.stringContaining('somebody else speaks here'),
        sent: false,
      };
      expect(await heardOf(admin.client, conversation, 'ask')).toEqual({ answerError: refused });
      expect(shown(isToolCall)).toEqual([]);
      expect(await heardOf(ann.client, conversation, 'ask')).toEqual({ answer: 'ann' });
    });

    it('is nobody for whom somebody shares an agent who is no admin: what its author has it do is not theirs to have done (our own)', async () => {
      const author = await personAt(platform, nodes(), 'patchbay-editor');
      const { knows, shown } = await sharedAgent('lure', author.client);
      const ann = await personAt(platform, nodes(), 'patchbay-user');
      for (const person of [ann, author]) await person.give('lure', knows(person.userId));
      const refused = {
        code: 'AUTHENTICATION_FAILED',
        message: expect.stringContaining('agents of somebody else do not get'),
        sent: false,
      };
      const asked = async ({ client }: Person) =>
        heardOf(client, await conversationOf(client, 'lure'), 'ask');
      expect(await asked(ann)).toEqual({ answerError: refused });
      expect(shown()).toEqual([]);
      expect(await asked(author)).toEqual({ answer: author.userId });
    });
  },
);
