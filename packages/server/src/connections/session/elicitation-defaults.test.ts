import { describe, expect, it } from 'vitest';
import { fillingInDefaults } from './elicitation-defaults.ts';
import type { Members } from './wire.ts';

const form = {
  message: 'Who?',
  requestedSchema: {
    type: 'object',
    properties: { name: { type: 'string', default: 'Ada' }, age: { type: 'integer', default: 0 }, mail: {} },
  },
};
const answering = (answer: Members) => fillingInDefaults(async () => answer);

describe('defaults of a form', () => {
  it('are filled in where the answer leaves a field out', async () => {
    const answer = answering({ action: 'accept', content: { name: 'Grace' } });
    expect(await answer('elicitation/create', form)).toEqual({
      action: 'accept',
      content: { name: 'Grace', age: 0 },
    });
  });

  it.each([
    ['declined', 'elicitation/create', form, { action: 'decline' }],
    ['of a page', 'elicitation/create', { ...form, mode: 'url' }, { action: 'accept' }],
    ['to something else', 'roots/list', form, { action: 'accept', roots: [] }],
  ])('stay out of an answer that is %s', async (_, method, params, answer) => {
    expect(await answering(answer)(method, params)).toEqual(answer);
  });

  it('of a form that is none are none', async () => {
    const answer = answering({ action: 'accept' });
    expect(await answer('elicitation/create', { requestedSchema: [1] })).toEqual({
      action: 'accept',
      content: {},
    });
  });
});
