import { type Client, createClient } from '@patchbay/contract/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { type Conversation, conversationWith, heardOf } from './talk.ts';
import { INJECTED, startToolServer, type ToolServer } from './tool-server.ts';

describe.each(platforms)('what a call came to at $kind', ({ start }) => {
  describe.each(['legacy', 'modern'] as const)('with a server of the %s era', era => {
    let platform: TestPlatform;
    let client: Client;
    let server: ToolServer;
    beforeAll(async () => {
      server = await startToolServer(era);
      platform = await start({
        env: {
          PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1',
          PATCHBAY_TURN_TIMEOUT_SECONDS: '20',
          PATCHBAY_CONNECTIONS_CALLS_PER_MINUTE: '0',
        },
      });
      client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    });
    afterAll(async () => {
      await platform?.close();
      await server?.[Symbol.asyncDispose]();
    });

    interface Call {
      readonly toolName: string;
      readonly toolArguments?: unknown;
      readonly [member: string]: unknown;
    }

    /** Has an agent make the call, and answers what its templates know of it. */
    const made = async (call: Call, document: object = {}) =>
      heardOf(client, await agentWith(call, document), 'go');

    const agentWith = (call: Call, document: object = {}, more: object = {}) =>
      conversationWith(
        client,
        { mcpServerUrl: server.url, mcpCalls: [{ name: 'go', ...call }], ...document },
        more,
      );

    const said = (conversation: Conversation, message: string) =>
      client.call('talk_to_agent', { ...conversation, message });

    it('is about the first of two tools of one name, and the log says so once (EX-05)', async () => {
      for (const _ of [1, 2]) expect(await made({ toolName: 'echo' })).toEqual({ answer: { received: {} } });
      const about = platform
        .logLines()
        .filter(({ message }) => message === 'Tools of an MCP server are not used')
        .map(({ level, tools }) => ({ level, tools }));
      expect(new Set(about.map(line => JSON.stringify(line)))).toEqual(
        new Set([JSON.stringify({ level: 'warn', tools: ['echo: An earlier tool has the same name.'] })]),
      );
      expect(about.length).toBeLessThanOrEqual(2);
    });

    it('has arguments with templates at any depth, and values as they are', async () => {
      const { answer } = await made({
        toolName: 'echo',
        toolArguments: {
          said: '{{ input }}!',
          list: [{ deep: ['{{ memory.current.actions }}', 1, true, null] }],
          number: 1.5,
        },
      });
      expect(answer).toEqual({
        received: { said: 'go!', list: [{ deep: [['go', 'speak'], 1, true, null] }], number: 1.5 },
      });
    });

    it('has numbers and truth values where the tool takes those and a template makes a text', async () => {
      const { answer } = await made({
        toolName: 'typed',
        toolArguments: {
          count: '4{{ "2" }}',
          price: '{{ "1" }}.50',
          sure: 't{{ "rue" }}',
          word: '42',
          free: '42',
          lines: [{ n: '{{ 7 }}' }],
        },
      });
      expect(answer).toEqual({
        count: 42,
        price: 1.5,
        sure: true,
        word: '42',
        free: '42',
        lines: [{ n: 7 }],
      });
    });

    it('is a refusal, and nothing is sent, where the arguments are not what the tool takes', async () => {
      const before = server.calls.length;
      const { answerError } = await made({ toolName: 'typed', toolArguments: { count: 'four' } });
      expect(answerError).toMatchObject({
        code: 'INVALID_ARGUMENTS',
        sent: false,
        message: expect.stringContaining('count'),
      });
      expect(server.calls).toHaveLength(before);
    });

    it('takes no pattern and no reference of a schema for granted (attack 42)', async () => {
      const word = `${'a'.repeat(60)}!`;
      expect(await made({ toolName: 'patterned', toolArguments: { word } })).toEqual({ answer: { word } });
      expect(await made({ toolName: 'leads', toolArguments: { word } })).toEqual({ answer: { word } });
    });

    it('can be stored, whatever characters it holds', async () => {
      const conversation = await agentWith({ toolName: 'odd' });
      expect(await heardOf(client, conversation, 'go')).toEqual({
        answer: { 'k\ufffd': ['\ufffd', '\ufffd', 'é'] },
      });
      expect(await said(conversation, 'again')).toMatchObject({ conversationState: 'READY' });
    });

    it('is a failure where it is nested without end', async () => {
      expect(await made({ toolName: 'deep' })).toEqual({
        answerError: {
          code: 'PROTOCOL_ERROR',
          sent: true,
          message: expect.stringContaining('nested deeper'),
        },
      });
    });

    it('is cut where it is long, and says so', async () => {
      const { answerLength, note } = await cut(6_000_000);
      expect(answerLength).toBeGreaterThan(900_000);
      expect(answerLength).toBeLessThan(1_000_200);
      expect(note).toBe('It is longer than it may be, and was cut.');
    });

    async function cut(characters: number): Promise<{ answerLength: number; note: unknown }> {
      const text = '{{ mcpCalls.answer | size }} {{ mcpCalls.answerNote }}';
      const output = {
        outputSet: [{ action: 'speak', outputs: [{ valueAlternatives: [{ type: 'text', text }] }] }],
      };
      const call = { toolName: 'huge', toolArguments: { characters } };
      const { agentResponse } = await said(await agentWith(call, {}, { output }), 'go');
      const [, length, note] = /^(\d+) (.*)$/.exec(agentResponse!)!;
      return { answerLength: Number(length), note };
    }

    it('is data, whatever it says, and is noted where it looks like instructions (attack 38)', async () => {
      const before = server.calls.length;
      const { answer, answerNote, ...rest } = await made({ toolName: 'injected' });
      expect({ answer, rest }).toEqual({ answer: INJECTED, rest: {} });
      expect(answerNote).toMatch(/from outside.*instructions.*role_marks.*terminal_escapes/);
      expect(server.calls.slice(before).map(({ tool }) => tool)).toEqual(['injected']);
    });

    it('is an error of at most 500 characters where the tool fails (W-47, EX-11)', async () => {
      const { answer, answerError } = await made({ toolName: 'refuses' });
      expect(answer).toBeUndefined();
      const { code, message, sent } = answerError as { code: string; message: string; sent: boolean };
      expect({ code, sent, length: message.length }).toEqual({ code: 'TOOL_ERROR', sent: true, length: 500 });
      expect(message.isWellFormed()).toBe(true);
    });

    it('ends the turn where the call fails and nothing else is said', async () => {
      const conversation = await agentWith({ toolName: 'refuses', continueOnError: false });
      await expect(said(conversation, 'go')).rejects.toThrow('the call "go" failed: no');
      expect(await client.call('read_conversation', conversation)).toMatchObject({
        conversationState: 'ERROR',
      });
    });

    it('runs the instructions for 500 where it fails, and those for 200 where it does not', async () => {
      const postResponse = {
        propertyInstructions: [
          { name: 'good', valueString: 'yes', scope: 'conversation' },
          {
            name: 'bad',
            valueString: 'yes',
            scope: 'conversation',
            httpCodeValidator: { runOnHttpCode: [500] },
          },
        ],
      };
      const properties = async (toolName: string) =>
        (await client.call('read_conversation', await spoken({ toolName, postResponse })))
          .conversationProperties;
      expect(Object.keys((await properties('echo')) ?? {})).toEqual(['good']);
      expect(Object.keys((await properties('refuses')) ?? {})).toEqual(['bad']);
    });

    async function spoken(call: Call): Promise<Conversation> {
      const conversation = await agentWith(call);
      await said(conversation, 'go');
      return conversation;
    }

    it.each(['no-such-tool', 'left-out'])('is a warning where there is no tool: %s', async toolName => {
      const left = toolName === 'left-out' ? 'echo' : toolName;
      const { answerError } = await made(
        { toolName: left, continueOnError: false },
        { toolsBlacklist: ['echo'] },
      );
      expect(answerError).toMatchObject({ code: 'TOOL_NOT_FOUND', sent: false });
    });

    it('is a warning where nobody can be connected to, and the turn goes on (E-102)', async () => {
      const nobody = { mcpServerUrl: 'http://127.0.0.1:9/mcp' };
      const conversation = await agentWith({ toolName: 'echo', continueOnError: false }, nobody);
      expect(await heardOf(client, conversation, 'go')).toMatchObject({
        answerError: { code: 'SERVER_UNAVAILABLE', sent: false },
      });
      expect(platform.logLines()).toContainEqual(
        expect.objectContaining({
          level: 'warn',
          message: 'A call of an MCP tool has no answer',
          conversationId: conversation.conversationId,
        }),
      );
    });

    it.each(['broken', 'reads'])(
      'is sent once where nobody knows what came of it: %s (A-67, A-68)',
      async toolName => {
        const before = server.calls.length;
        const { answerError } = await made({ toolName });
        expect(answerError).toMatchObject({ code: 'TRANSPORT_ERROR', sent: true });
        expect(server.calls.length - before).toBe(1);
      },
    );

    it('is sent again as often as the call declares (A-69)', async () => {
      const before = server.calls.length;
      const retry = { maxAttempts: 2, backoffDelayMs: 1 };
      const { answerError } = await made({ toolName: 'broken', retry });
      expect(answerError).toMatchObject({ code: 'TRANSPORT_ERROR', sent: true });
      expect(server.calls.length - before).toBe(2);
    });

    it('is a time limit of the call, and its turn goes on (W-26, W-27, E-82)', async () => {
      const { answerError } = await made({ toolName: 'silent' }, { timeoutMs: 300 });
      expect(answerError).toMatchObject({ code: 'TIMEOUT', sent: true });
    });
  });
});
