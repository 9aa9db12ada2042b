import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../testing/eventually.ts';
import { demoAgent, type FakePlatform, startFakePlatform } from '../testing/fake-platform.ts';
import { createTestIo, type TestIo } from '../testing/test-io.ts';

let platform: FakePlatform;

/** Echoes, and offers choices after `menu`. */
function talk({ message, conversationId = 'conv_new' }: Record<string, unknown>): unknown {
  if (message === 'busy') return { status: 'BUSY', message: 'Still working on the message before.' };
  if (message === 'gone') return { status: 'CONVERSATION_NOT_ACTIVE', message: 'It has ended.' };
  return {
    conversationId,
    agentId: 'demo',
    agentResponse: `echo ${message}`,
    agentResponseParts: [`echo ${message}`, '\u001b[2Jsecond part'],
    quickReplies: message === 'menu' ? ['Tea', 'Coffee', '3'] : [],
    conversationState: message === 'bye' ? 'ENDED' : 'READY',
  };
}

beforeAll(async () => {
  platform = await startFakePlatform();
  platform.handlers.create_conversation = ({ agentId }) => ({ conversationId: 'conv_new', agentId });
  platform.handlers.read_conversation = () => ({
    conversationOutputs: [{ output: [{ type: 'text', text: 'Welcome!' }], quickReplies: [{ value: 'Yes' }] }],
  });
  platform.handlers.talk_to_agent = talk;
  platform.handlers.chat_with_agent = talk;
});
afterAll(() => platform.stop());
beforeEach(() => {
  platform.calls.length = 0;
});

const said = (): unknown[] => platform.calls.flatMap(call => call.args.message ?? []);

describe('chat --message', () => {
  it('prints the answer, one part a line, and nothing that could move the cursor', async () => {
    const io = createTestIo({ home: platform.home });
    expect(await io.run('chat', 'demo', '--message', 'hello')).toBe(0);
    expect(io.out()).toBe('echo hello\n[2Jsecond part\n');
    expect(platform.calls.map(call => call.name)).toEqual(['chat_with_agent']);
  });

  it('prints the whole result with --json and goes on with --conversation', async () => {
    const io = createTestIo({ home: platform.home });
    await io.run('chat', 'demo', '--message', 'hello', '--conversation', 'conv_old', '--json');
    expect(JSON.parse(io.out())).toMatchObject({ conversationId: 'conv_old', agentResponse: 'echo hello' });
  });

  it('exits 1 when the message was not processed', async () => {
    const io = createTestIo({ home: platform.home });
    expect(await io.run('chat', 'demo', '--message', 'busy')).toBe(1);
    expect(io.err()).toBe('patchbay: Still working on the message before.\n');
  });
});

describe('chat without an agent', () => {
  it('talks to the only one, and asks for a name where there are more', async () => {
    const io = createTestIo({ home: platform.home });
    expect(await io.run('chat', '--message', 'hi')).toBe(0);
    expect(platform.calls.at(-1)!.args.agentId).toBe('demo');

    const discover = platform.handlers.discover_agents!;
    platform.handlers.discover_agents = () => ({
      count: 2,
      agents: [demoAgent, { ...demoAgent, agentId: 'other' }],
    });
    try {
      expect(await io.run('chat', '--message', 'hi')).toBe(2);
      expect(io.err()).toContain('there are: demo, other.');
    } finally {
      platform.handlers.discover_agents = discover;
    }
  });
});

describe('chat with piped input', () => {
  it('sends every line into one conversation, in order, numbers as they are', async () => {
    const io = createTestIo({ home: platform.home });
    io.stdin.end('menu\n\n1\r\nbye');
    expect(await io.run('chat', 'demo')).toBe(0);
    expect(said()).toEqual(['menu', '1', 'bye']);
    expect(new Set(platform.calls.slice(1).map(call => call.args.conversationId))).toEqual(
      new Set(['conv_new']),
    );
    expect(io.out()).toBe(['menu', '1', 'bye'].map(message => `echo ${message}\n[2Jsecond part\n`).join(''));
  });
});

describe('chat at a terminal', () => {
  /** Types a message and waits for the prompt of the next one, which comes after the answer. */
  async function type(io: TestIo, text: string): Promise<void> {
    const before = said().length;
    io.stdin.write(text);
    await eventually(() => {
      expect(said()).toHaveLength(before + 1);
      expect(io.out().endsWith('you> \u001b[6G')).toBe(true);
    });
  }

  it('greets, numbers the quick replies, and takes a number, a text or Ctrl-D', async () => {
    const io = createTestIo({ home: platform.home, terminal: true });
    const ended = io.run('chat', 'demo');
    await eventually(() => expect(io.out()).toContain('you> '));
    expect(io.out()).toContain('Welcome!\n  1) Yes\n');

    await type(io, '1\r');
    await type(io, 'menu\r');
    expect(io.out()).toContain('  1) Tea\n  2) Coffee\n  3) 3\n');
    await type(io, '2\r');
    // Nothing is offered now, so a number is a number.
    await type(io, '2\r');
    expect(said()).toEqual(['Yes', 'menu', 'Coffee', '2']);

    io.stdin.write('\u0004');
    expect(await ended).toBe(0);
    expect(io.err()).toContain('npx patchbay chat demo --conversation conv_new');
  });

  it('sends a number that is itself a quick reply as it is', async () => {
    const io = createTestIo({ home: platform.home, terminal: true });
    const ended = io.run('chat', 'demo');
    await eventually(() => expect(io.out()).toContain('you> '));
    await type(io, 'menu\r');
    await type(io, '3\r');
    expect(said()).toEqual(['menu', '3']);
    io.stdin.write('\u0004');
    await ended;
  });

  it('goes on after a busy answer, and ends with one that is final', async () => {
    const io = createTestIo({ home: platform.home, terminal: true });
    const ended = io.run('chat', 'demo');
    await eventually(() => expect(io.out()).toContain('you> '));
    await type(io, 'busy\r');
    expect(io.err()).toContain('Still working on the message before.\n');
    io.stdin.write('gone\r');
    expect(await ended).toBe(1);
    expect(io.err()).toContain('patchbay: It has ended.\n');
  });

  it('says where to sign in, goes on by itself when they have, and takes what they type in place of it', async () => {
    const link = 'linear needs you to sign in: https://patchbay.test/connect/pause_1';
    const talkBefore = platform.handlers.talk_to_agent;
    const readBefore = platform.handlers.read_conversation;
    let read: Record<string, unknown> = {
      ...{ conversationState: 'AWAITING_HUMAN', hitlPauseType: 'SIGN_IN', hitlPausedAt: 1 },
      conversationOutputs: [{ output: [{ type: 'text', text: 'Let me see.' }] }],
    };
    platform.handlers.read_conversation = () => read;
    platform.handlers.talk_to_agent = ({ message }) =>
      message === 'Cancel'
        ? { conversationId: 'conv_new', agentResponse: 'Then not.', conversationState: 'READY' }
        : {
            ...{ conversationId: 'conv_new', agentResponse: `Let me see. ${link}`, pauseType: 'SIGN_IN' },
            ...{ agentResponseParts: ['Let me see.', link], conversationState: 'AWAITING_HUMAN' },
            ...{ quickReplies: ['Cancel'], message: link },
          };
    try {
      const io = createTestIo({ home: platform.home, terminal: true });
      const ended = io.run('chat', 'demo');
      await eventually(() => expect(io.out()).toContain('you> '));
      io.stdin.write('go\r');
      await eventually(() => expect(io.out()).toContain('Sign in with your browser, or type cancel: '));
      expect(io.out()).toContain(`${link}\n`);
      read = {
        conversationState: 'READY',
        conversationOutputs: [
          { output: ['Let me see.', 'Done.'].map(text => ({ type: 'text', text })), quickReplies: [] },
        ],
      };
      await eventually(() => expect(io.out()).toContain('Done.\n'));
      expect(io.out().split('Let me see.')).toHaveLength(3);
      read = { ...read, ...{ conversationState: 'AWAITING_HUMAN', hitlPausedAt: 2 } };
      io.stdin.write('go\r');
      await eventually(() => expect(io.out().split('or type cancel: ')).toHaveLength(3));
      io.stdin.write('Cancel\r');
      await eventually(() => expect(io.out()).toContain('Then not.\n'));
      expect(said()).toEqual(['go', 'go', 'Cancel']);
      io.stdin.write('\u0004');
      await ended;
    } finally {
      platform.handlers.talk_to_agent = talkBefore;
      platform.handlers.read_conversation = readBefore;
    }
  });

  it('ends when the agent ends the conversation', async () => {
    const io = createTestIo({ home: platform.home, terminal: true });
    const ended = io.run('chat', 'demo');
    await eventually(() => expect(io.out()).toContain('you> '));
    io.stdin.write('bye\r');
    expect(await ended).toBe(0);
    expect(io.err()).toContain('The conversation is over.');
  });

  it('says the answer that is awaited when Ctrl-D comes, and ends', async () => {
    const io = createTestIo({ home: platform.home, terminal: true });
    const ended = io.run('chat', 'demo');
    await eventually(() => expect(io.out()).toContain('you> '));
    io.stdin.write('hello\r\u0004');
    expect(await ended).toBe(0);
    expect(io.out()).toContain('echo hello\n');
    expect(io.err()).toContain('npx patchbay chat demo --conversation conv_new');
  });

  it('ends with Ctrl-C while an answer is awaited', async () => {
    const asked = Promise.withResolvers<void>();
    const io = createTestIo({
      home: platform.home,
      terminal: true,
      fetch: (url, init) => {
        if (!String(url).includes('/messages')) return fetch(url, init);
        asked.resolve();
        return new Promise((_, reject) => {
          init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason));
        });
      },
    });
    const ended = io.run('chat', 'demo');
    await eventually(() => expect(io.out()).toContain('you> '));
    io.stdin.write('hello\r');
    await asked.promise;
    io.stdin.write('\u0003');
    expect(await ended).toBe(0);
  });
});
