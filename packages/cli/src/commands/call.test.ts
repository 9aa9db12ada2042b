import { OPERATIONS } from '@patchbay/contract/operations';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakePlatform, Refusal, startFakePlatform } from '../testing/fake-platform.ts';
import { createTestIo, type TestIo } from '../testing/test-io.ts';

let platform: FakePlatform;
let io: TestIo;

beforeAll(async () => {
  platform = await startFakePlatform();
  for (const { name } of OPERATIONS) platform.handlers[name] = args => ({ name, args });
});
afterAll(() => platform.stop());
beforeEach(() => {
  platform.calls.length = 0;
  io = createTestIo({ home: platform.home });
});

async function argsOf(...words: string[]): Promise<unknown> {
  expect(await io.run('call', ...words)).toBe(0);
  return platform.calls.at(-1)!.args;
}

describe('call', () => {
  it('reaches every operation by its name', async () => {
    for (const { name, input } of OPERATIONS) {
      const required = input.toJSONSchema({ io: 'input' }).required ?? [];
      const args = Object.fromEntries(required.map(argument => [argument, 'x']));
      expect(await io.run('call', name, '--json', JSON.stringify(args))).toBe(0);
      expect(platform.calls.at(-1)!.name).toBe(name);
    }
  });

  it('prints the result as JSON', async () => {
    await io.run('call', 'list_agents');
    expect(JSON.parse(io.out())).toEqual({ name: 'list_agents', args: {} });
  });

  it('keeps text text, also when it looks like something else', async () => {
    const words = ['chat_with_agent', '--arg', 'agentId=demo', '--arg', 'message=1 = {true}'];
    expect(await argsOf(...words)).toEqual({ agentId: 'demo', message: '1 = {true}' });
  });

  it('sends numbers, truth values and lists as what the definition says', async () => {
    const made = [
      'create_key',
      '--arg',
      'expiresInDays=7',
      '--arg',
      'scopes=agents',
      '--arg',
      'scopes=operator',
    ];
    expect(await argsOf(...made)).toEqual({ expiresInDays: 7, scopes: ['agents', 'operator'] });
    expect(await argsOf('create_key', '--arg', 'scopes=["operator"]')).toEqual({ scopes: ['operator'] });
    expect(await argsOf('deploy_agent_file', '--arg', 'file={"id":"demo"}')).toEqual({
      file: { id: 'demo' },
    });
  });

  it('puts --arg over --json', async () => {
    const words = ['chat_with_agent', '--json', '{"agentId":"a","message":"m"}', '--arg', 'agentId=b'];
    expect(await argsOf(...words)).toEqual({ agentId: 'b', message: 'm' });
  });

  it.each([
    [['nope'], 'There is no operation nope'],
    [['chat_with_agent', '--arg', 'agentId=demo'], 'Missing required argument: message'],
    [['list_agents', '--arg', 'colour=red'], 'list_agents has no argument colour; it takes environment.'],
    [['create_key', '--arg', 'expiresInDays=soon'], "'soon' is no integer"],
    [['create_key', '--arg', 'name=a', '--arg', 'name=b'], 'given 2 times'],
    [['create_key', '--arg', 'name'], 'name=value'],
    [['create_key', '--json', '[]'], 'one JSON object'],
    [[], 'Name an operation'],
  ])('exits 2 for %j', async (words, sentence) => {
    expect(await io.run('call', ...words)).toBe(2);
    expect(io.err()).toContain(sentence);
    expect(platform.calls).toEqual([]);
  });

  it("passes on the platform's own refusal", async () => {
    platform.handlers.get_agent = () => {
      throw new Refusal(404, 'not_found', 'There is no agent x.');
    };
    expect(await io.run('call', 'get_agent', '--arg', 'agentId=x')).toBe(1);
    expect(io.err()).toBe('patchbay: There is no agent x.\n');
  });
});

describe('help of call', () => {
  it('lists every operation with its route, as a table and as JSON', async () => {
    await io.run('call', '--list');
    const lines = io
      .out()
      .split('\n')
      .map(line => line.split(/ {2,}/));
    for (const { name, title, rest } of OPERATIONS)
      expect(lines).toContainEqual([name, `${rest.method} /api/v1${rest.path}`, title]);
    const json = createTestIo({ home: platform.home });
    await json.run('call', '--list', '--json');
    const { count, operations } = JSON.parse(json.out());
    expect(count).toBe(OPERATIONS.length);
    expect(operations).toContainEqual(
      expect.objectContaining({ name: 'get_agent', method: 'GET', path: '/api/v1/agent-configs/{agentId}' }),
    );
  });

  it('shows every argument with its description', async () => {
    for (const { name, input } of OPERATIONS) {
      const help = createTestIo({ home: platform.home });
      expect(await help.run('call', name, '--help')).toBe(0);
      for (const [argument, schema] of Object.entries(input.shape)) {
        expect(help.out(), name).toContain(`  ${argument} `);
        expect(help.out(), name).toContain(schema.description);
      }
    }
  });

  it('ends with an example that is a complete command line', async () => {
    await io.run('call', 'chat_with_agent', '--help');
    expect(io.out().trimEnd().split('\n').at(-1)).toBe(
      '  npx patchbay call chat_with_agent --arg agentId=demo --arg message=hello',
    );
  });
});
