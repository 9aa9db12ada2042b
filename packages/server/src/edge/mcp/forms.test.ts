import { describe, expect, it } from 'vitest';
import {
  answerOf,
  answerTo,
  asksByResult,
  elicitationRequest,
  inputRequired,
  opensUrls,
  showsForms,
} from './forms.ts';

describe('a client shows forms', () => {
  it.each([
    [{ elicitation: {} }, true],
    [{ elicitation: { form: {} } }, true],
    [{ elicitation: { form: {}, url: {} } }, true],
    [{ elicitation: { url: {} } }, false],
    [{ elicitation: true }, false],
    [{ elicitation: null }, false],
    [{ elicitation: { form: true } }, false],
    [{}, false],
    [undefined, false],
    ['elicitation', false],
  ])('that declares %j: %s', (capabilities, shows) => {
    expect(showsForms(capabilities)).toBe(shows);
  });
});

describe('a client has its person open addresses', () => {
  it.each([
    [{ elicitation: { url: {} } }, true],
    [{ elicitation: { form: {}, url: {} } }, true],
    [{ elicitation: {} }, false],
    [{ elicitation: { form: {} } }, false],
    [{ elicitation: { url: true } }, false],
    [{ elicitation: null }, false],
    [undefined, false],
  ])('that declares %j: %s', (capabilities, opens) => {
    expect(opensUrls(capabilities)).toBe(opens);
    const body = { params: { _meta: { 'io.modelcontextprotocol/clientCapabilities': capabilities } } };
    const shows = { forms: showsForms(capabilities), urls: opens };
    expect(asksByResult(body)).toEqual(shows.forms || opens ? { by: 'result', shows } : undefined);
  });

  it('is asked in the mode of addresses, in both eras', () => {
    const question = { id: 'pause_1', message: 'Sign in', url: 'https://patchbay.test/connect/pause_1' };
    const params = { mode: 'url', elicitationId: 'pause_1', message: 'Sign in', url: question.url };
    expect(elicitationRequest(question)).toEqual({
      ...{ jsonrpc: '2.0', id: 'pause_1', method: 'elicitation/create', params },
    });
    expect(inputRequired(question, 'state')).toEqual({
      resultType: 'input_required',
      inputRequests: { pause_1: { method: 'elicitation/create', params } },
      requestState: 'state',
    });
  });
});

describe('an answer', () => {
  const response = (result: unknown) => ({ jsonrpc: '2.0', id: 'pause_1', result });

  it.each([
    [response({ action: 'accept', content: { a: 'b' } }), { action: 'accept', content: { a: 'b' } }],
    [response({ action: 'decline' }), { action: 'decline' }],
    [response({ action: 'cancel' }), { action: 'cancel' }],
    [response({ action: 'approve' }), { action: 'cancel' }],
    [response({}), { action: 'cancel' }],
    [{ jsonrpc: '2.0', id: 'pause_1', error: { code: -1, message: 'no' } }, { action: 'cancel' }],
    [{ jsonrpc: '2.0', id: 'pause_1', result: 'accept' }, { action: 'cancel' }],
  ])('of the older eras in %j', (sent, answer) => {
    expect(answerOf(sent)).toMatchObject(answer);
  });

  it.each([
    [{ pause_1: { action: 'decline' } }, { action: 'decline' }],
    [{ pause_1: 'accept' }, { action: 'cancel' }],
    [{ pause_2: { action: 'accept' } }, undefined],
    [JSON.parse('{"__proto__": {"pause_1": {"action": "accept"}}}'), undefined],
    [[], undefined],
    ['pause_1', undefined],
    [undefined, undefined],
  ])('of the stateless era in %j', (answers, answer) => {
    expect(answerTo('pause_1', answers)).toEqual(answer);
  });
});
