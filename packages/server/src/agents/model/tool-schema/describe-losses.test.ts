import { describe, expect, it } from 'vitest';
import { compileTools } from './compile-tools.ts';
import { describeLosses } from './describe-losses.ts';

const schema = {
  type: 'object',
  properties: {
    a: { type: 'string', pattern: '^a' },
    b: { type: 'string', pattern: '^b', format: 'email' },
  },
};
const offer = (name: string, inputSchema: Readonly<Record<string, unknown>> = schema) => ({
  ...{ name, description: '', inputSchema },
});

describe('what became of the tools of an agent', () => {
  it('is a line a tool, those that are not offered first', () => {
    expect(describeLosses(compileTools('plain', [offer('s__a'), offer('s__b', { type: 'string' })]))).toEqual(
      [
        's__b is not offered: Its inputSchema is not the schema of an object.',
        's__a is simplified: pattern (/properties/a and 1 more), format (/properties/b).',
      ],
    );
    const atRoot = { type: 'object', properties: {}, not: { required: ['a'] } };
    expect(describeLosses(compileTools('openai', [offer('s__a', atRoot)]))).toEqual([
      's__a is simplified: not (its arguments).',
    ]);
    expect(describeLosses(compileTools('anthropic', [offer('s__a')]))).toEqual([]);
  });

  it('is said of twenty tools, and how many there are besides', () => {
    const lines = describeLosses(
      compileTools(
        'plain',
        Array.from({ length: 30 }, (_, index) => offer(`t${index}`)),
      ),
    );
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toBe('and 10 more tools.');
  });
});
