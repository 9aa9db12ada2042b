import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectTo, newMark } from './fault-rig.ts';
import { type FaultEra, type FaultName, type FaultServer, startFaultServer } from './servers/fault-server.ts';

const ANSWERED = 'answered';
const PROTOCOL_ERROR = 'PROTOCOL_ERROR yes';
const TRANSPORT_ERROR = 'TRANSPORT_ERROR unknown';
const TIMEOUT = 'TIMEOUT unknown';
const REFUSED = 'AUTHENTICATION_FAILED no';

/** What a call comes to, whatever its server does, and whether the server was asked for nothing but this. */
const EXPECTED: readonly (readonly [fault: FaultName, comesTo: string])[] = [
  ['none', ANSWERED],
  ['streamed', ANSWERED],
  ['html', PROTOCOL_ERROR],
  ['html called JSON', PROTOCOL_ERROR],
  ['half a JSON', PROTOCOL_ERROR],
  ['empty', PROTOCOL_ERROR],
  ['empty JSON', PROTOCOL_ERROR],
  ['a number', PROTOCOL_ERROR],
  ['accepted', PROTOCOL_ERROR],
  ['no content', PROTOCOL_ERROR],
  ['no answers', PROTOCOL_ERROR],
  ['a list of one', ANSWERED],
  ['a list as result', PROTOCOL_ERROR],
  ['no result', PROTOCOL_ERROR],
  ['null as result', PROTOCOL_ERROR],
  ['result and error', PROTOCOL_ERROR],
  ['another id', PROTOCOL_ERROR],
  ['the id as text', PROTOCOL_ERROR],
  ['no id', PROTOCOL_ERROR],
  ['an error without id', PROTOCOL_ERROR],
  ['an error', PROTOCOL_ERROR],
  ['wrong arguments', 'INVALID_ARGUMENTS yes'],
  ['another id, streamed', TRANSPORT_ERROR],
  ['another id first', ANSWERED],
  ['two answers', ANSWERED],
  ['an event that is no JSON', PROTOCOL_ERROR],
  ['ten million brackets', PROTOCOL_ERROR],
  ['compressed', PROTOCOL_ERROR],
  ['status 400', PROTOCOL_ERROR],
  ['status 400 with an error', PROTOCOL_ERROR],
  ['status 405', PROTOCOL_ERROR],
  ['status 409', PROTOCOL_ERROR],
  ['status 413', PROTOCOL_ERROR],
  ['status 422', PROTOCOL_ERROR],
  ['status 429', PROTOCOL_ERROR],
  ['status 500', TRANSPORT_ERROR],
  ['status 500 with an error', TRANSPORT_ERROR],
  ['status 502', TRANSPORT_ERROR],
  ['status 503', TRANSPORT_ERROR],
  ['status 504', TRANSPORT_ERROR],
  ['status 401', REFUSED],
  ['status 403', REFUSED],
  ['redirected', ANSWERED],
  ['redirected for good', ANSWERED],
  ['redirected elsewhere', PROTOCOL_ERROR],
  ['redirected to metadata', PROTOCOL_ERROR],
  ['redirected as GET', PROTOCOL_ERROR],
  ['redirected for ever', PROTOCOL_ERROR],
  ['reset', TRANSPORT_ERROR],
  ['hangup', TRANSPORT_ERROR],
  ['half a body', TRANSPORT_ERROR],
  ['no HTTP', TRANSPORT_ERROR],
  ['too many headers', TRANSPORT_ERROR],
  ['a stream without answer', TRANSPORT_ERROR],
  ['a stream that breaks', TRANSPORT_ERROR],
];

/** Those that end by the call's time limit. */
const SLOW: readonly FaultName[] = [
  'silent',
  'silent after the headers',
  'drip',
  'comments without end',
  'events without end',
  'a line of carriage returns',
];

describe.each<FaultEra>(['legacy', 'modern'])('a server of the %s era', era => {
  let server: FaultServer;
  beforeAll(async () => {
    server = await startFaultServer(era);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it.each([
    ...EXPECTED,
    ...SLOW.map(fault => [fault, TIMEOUT] as const),
    ['status 404', era === 'legacy' ? 'SERVER_UNAVAILABLE no' : PROTOCOL_ERROR] as const,
    ['resumed', era === 'legacy' ? ANSWERED : TRANSPORT_ERROR] as const,
  ])(
    'that answers with "%s": the call is %s, sent once, and the next one works (A-67, A-77, A-78, A-82)',
    async (fault, comesTo) => {
      await using rig = connectTo(server);
      const mark = newMark();
      await rig.connection.ready();
      const timeoutMs = comesTo === TIMEOUT ? 300 : 5_000;
      const heard = await rig.call(fault, { mark, timeoutMs });
      if (comesTo === ANSWERED) expect(heard).toEqual({ text: mark });
      else expect('kind' in heard ? `${heard.kind} ${heard.reached}` : heard).toBe(comesTo);
      expect(server.executions(mark)).toBeLessThanOrEqual(1);
      if (comesTo.endsWith(' no')) expect(server.executions(mark)).toBe(0);
      const next = newMark();
      expect(await rig.call('none', { mark: next })).toEqual({ text: next });
      expect(server.executions(next)).toBe(1);
    },
  );
});
