import { OPERATIONS } from '@patchbay/contract/operations';
import { listAgents } from '@patchbay/contract/operations/agents';
import { chatWithAgent, listConversations } from '@patchbay/contract/operations/conversation';
import { listDocs } from '@patchbay/contract/operations/docs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseArguments } from './invoke.ts';

describe('arguments', () => {
  it('name a required one that is left out (E-09)', () => {
    expect(() => parseArguments(chatWithAgent, { message: 'x' })).toThrow(
      'Missing required argument: agentId',
    );
  });

  it('name a required one that is null the same way (E-10)', () => {
    expect(() => parseArguments(chatWithAgent, { agentId: null, message: 'x' })).toThrow(
      'Missing required argument: agentId',
    );
  });

  it('apply a published default when absent or null (E-15)', () => {
    for (const environment of [undefined, null, '', 'unrestricted', 'restricted']) {
      expect(parseArguments(listAgents, { environment })).toEqual({ environment: 'production' });
    }
  });

  it('refuse an unknown value and list the valid ones (E-23)', () => {
    expect(() => parseArguments(listAgents, { environment: 'prod' })).toThrow(
      'Invalid argument environment: valid values are production, test',
    );
    expect(() => parseArguments(listConversations, { agentId: 'a', conversationState: 'DONE' })).toThrow(
      /READY, IN_PROGRESS/,
    );
  });

  it.each([
    ['a number for a text', { agentId: 5, message: 'x' }, /Invalid argument agentId/],
    [
      'an unknown argument',
      { agentId: 'a', message: 'x', agent_id: 'b' },
      /Unknown argument: agent_id\. chat_with_agent takes: agentId, message/,
    ],
    [
      'a member of every object',
      { agentId: 'a', message: 'x', constructor: 'b' },
      /Unknown argument: constructor/,
    ],
  ])('refuse %s', (_name, args, message) => {
    expect(() => parseArguments(chatWithAgent, args)).toThrow(message);
  });

  it.each([0, 101, 1.5, '20'])('refuse the limit %j instead of correcting it', limit => {
    expect(() => parseArguments(listConversations, { agentId: 'a', limit })).toThrow(
      /Invalid argument limit/,
    );
  });

  it('say that an operation without arguments takes none', () => {
    expect(() => parseArguments(listDocs, { name: 'x' })).toThrow(
      'Unknown argument: name. list_docs takes none.',
    );
  });
});

/** The contract every definition is held to (E-26; platform.md 11.1). */
describe.each(OPERATIONS.map(definition => [definition.name, definition] as const))(
  'the contract of %s',
  (_name, definition) => {
    const schema = z.toJSONSchema(definition.input, { io: 'input' }) as {
      properties?: Record<string, { description?: string; default?: unknown }>;
      required?: string[];
    };
    const properties = Object.entries(schema.properties ?? {});
    const required = new Set(schema.required ?? []);

    it('describes every argument', () => {
      expect(properties.filter(([, property]) => !property.description)).toEqual([]);
    });

    it('requires no argument whose description calls it optional, and says so of every other one (E-14, E-26)', () => {
      for (const [name, { description = '' }] of properties) {
        const saysOptional = /optional|default|deprecated|if omitted/i.test(description);
        expect(saysOptional, `${name}: ${description}`).toBe(!required.has(name));
      }
    });

    it('names each published default in its description (E-15, E-26)', () => {
      for (const [name, property] of properties) {
        if (property.default === undefined) continue;
        const literal = Array.isArray(property.default)
          ? property.default.join(', ')
          : String(property.default);
        expect(property.description, name).toContain(`default: ${literal}`);
      }
    });

    it('takes its examples', () => {
      for (const example of definition.examples) parseArguments(definition, example);
      expect(definition.title).not.toBe('');
    });
  },
);
