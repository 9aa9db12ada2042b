import { describe, expect, it } from 'vitest';
import { httpcallsDocument } from './httpcalls.ts';
import { parseDocument } from './parse-document.ts';

const save = (body: unknown) => parseDocument(httpcallsDocument, body);
const withCall = (call: object) => ({
  targetServerUrl: 'https://api.example.org/v1',
  httpCalls: [{ name: 'weather', request: { path: '/today' }, ...call }],
});

describe('an httpcalls document', () => {
  it('fills in the documented defaults', () => {
    expect(save(withCall({})).httpCalls[0]).toEqual({
      name: 'weather',
      actions: [],
      saveResponse: false,
      fireAndForget: false,
      isBatchCalls: false,
      continueOnError: false,
      timeoutInMillis: 30_000,
      maxResponseSizeInBytes: 2_000_000,
      request: { path: '/today', headers: {}, queryParams: {}, method: 'GET', contentType: '', body: '' },
    });
  });

  it('takes every field of the reference platform', () => {
    const call = {
      description: 'Weather of a place',
      parameters: { place: 'Where' },
      actions: ['ask_weather', '*'],
      saveResponse: true,
      responseObjectName: 'weather',
      responseHeaderObjectName: 'weatherHeaders',
      isBatchCalls: true,
      iterationObjectName: 'place',
      timeoutInMillis: 5_000,
      maxResponseSizeInBytes: 10_000,
      preRequest: {
        propertyInstructions: [{ name: 'asked', valueBoolean: true }],
        batchRequests: {
          pathToTargetArray: 'properties.places',
          iterationObjectName: 'place',
          maxBatchSize: 1000,
        },
      },
      request: {
        path: '/today/{{ place }}',
        headers: { 'X-Key': 'key' },
        queryParams: { q: '{{ input }}' },
        method: 'post',
        contentType: 'application/json; charset=utf-8',
        body: '{"a": "{{ input }}"}',
      },
      postResponse: {
        propertyInstructions: [
          {
            name: 'sky',
            fromObjectPath: 'httpCalls.weather.sky',
            httpCodeValidator: { runOnHttpCode: [200] },
          },
        ],
        outputBuildInstructions: [
          {
            pathToTargetArray: 'httpCalls.weather.days',
            iterationObjectName: 'day',
            outputValue: '{{ day }}',
          },
        ],
        qrBuildInstructions: [{ quickReplyValue: 'Again', quickReplyExpressions: 'again' }],
        retryApiCallInstruction: {
          retryOnHttpCodes: [503],
          responseValuePathMatchers: [{ valuePath: 'httpCalls.weather.state', equals: 'pending' }],
        },
      },
    };
    const [saved] = save(withCall(call)).httpCalls;
    expect(saved).toMatchObject({ ...call, request: { ...call.request, method: 'POST' } });
    expect(saved!.postResponse!.retryApiCallInstruction!.maxRetries).toBe(3);
  });

  it.each([
    ['an unknown field', { retries: 3 }, 'field "retries"'],
    [
      'a batch over 1000',
      { preRequest: { batchRequests: { pathToTargetArray: 'input', maxBatchSize: 1001 } } },
      'maxBatchSize',
    ],
    ['a batch without a list', { isBatchCalls: true }, 'needs preRequest.batchRequests'],
    ['a response without a name', { saveResponse: true }, 'needs a responseObjectName'],
    [
      'a forgotten call whose answer is used',
      { fireAndForget: true, saveResponse: true, responseObjectName: 'x' },
      'nobody waits',
    ],
    ['a method there is not', { request: { method: 'TRACE' } }, 'field "method"'],
    ['a body that would not be sent', { request: { body: 'x' } }, 'has no body'],
    ['a header of the connection', { request: { headers: { Host: 'evil' } } }, 'connection sets itself'],
    ['the mark of agents', { request: { headers: { 'X-Patchbay-Called-By': '' } } }, 'sets itself'],
    ['a header that is no name', { request: { headers: { 'a b': 'x' } } }, 'not the name'],
    ['a response name that is no name', { responseObjectName: 'a.b' }, 'plain name'],
    ['no time', { timeoutInMillis: 0 }, 'timeoutInMillis'],
  ])('refuses %s', (_what, call, problem) => {
    expect(() => save(withCall(call))).toThrow(problem);
  });

  it('refuses an address without a host, and a name that is there twice', () => {
    expect(() => save({ targetServerUrl: '/v1', httpCalls: [] })).toThrow('targetServerUrl');
    expect(() => save({ targetServerUrl: 'ftp://a', httpCalls: [] })).toThrow('targetServerUrl');
    const [call] = withCall({}).httpCalls;
    expect(() => save({ targetServerUrl: 'https://a', httpCalls: [call, call] })).toThrow('twice');
  });
});
