import { describe, expect, it } from 'vitest';
import { Fault, PlatformError } from '../../../kernel/errors.ts';
import { inSlices } from './in-slices.ts';
import { createTemplateCache } from './template.ts';
import { templatingStep } from './templating.ts';
import { NOON, pastStep, rememberedAs, testMemory, testTools } from './test-turn.ts';

const text = (value: string) => ({ type: 'text', text: value });

/** What one text becomes in a turn. */
async function render(
  template: string,
  start: Parameters<typeof testMemory>[0] = {},
): Promise<string | undefined> {
  const compiled = await templatingStep.compile({ type: 'templating' }, async () => undefined);
  const memory = testMemory({ input: 'Ada', ...start, output: [text(template)] });
  expect(await compiled.run(memory, testTools())).toBe('continue');
  return memory.output[0]!.text;
}

describe('templating', () => {
  it('renders every root of the data', async () => {
    const start = {
      context: { mcp: 'true', shop: { items: [{ name: 'tea' }, { name: 'cake' }] } },
      properties: { lang: 'hu' },
      expressions: ['greeting(hello)'],
      intents: ['greeting'],
      actions: ['greet'],
      last: pastStep({ input: 'before', actions: ['ask'], output: [text('Really?')] }),
      past: [pastStep({ input: 'first' }), pastStep({ output: [text('Welcome!'), text('Hello.')] })],
    };
    const cases: [template: string, rendered: string][] = [
      ['Hello {{ input }}!', 'Hello Ada!'],
      ['{{ context.mcp }} {{ context.shop.items[1].name }}', 'true cake'],
      [
        '{% for item in context.shop.items %}{{ forloop.index }}:{{ item.name }} {% endfor %}',
        '1:tea 2:cake ',
      ],
      ['{% if properties.lang == "hu" %}Szia{% else %}Hi{% endif %}', 'Szia'],
      [
        '{{ memory.current.actions | join: "," }} {{ memory.current.expressions[0] }}',
        'greet greeting(hello)',
      ],
      ['{{ memory.current.intents.first }} {{ memory.current.input }}', 'greeting Ada'],
      ['{{ memory.last.input }} {{ memory.last.actions.size }}', 'before 1'],
      ['{{ memory.previous.input }} {{ memory.previous.output[0].text }}', 'before Really?'],
      ['{{ memory.past[0].input }} {{ memory.past[1].input }} {{ memory.past.size }}', 'before first 3'],
      ['{{ vars.shop }}{{ vars.missing }}', 'Tea House'],
      ['{{ conversationLog }}', 'Agent: Welcome! Hello.\nUser: first\nUser: before\nAgent: Really?'],
      [
        '{{ userInfo.userId }} {{ conversationInfo.agentId }} {{ conversationInfo.agentVersion }}',
        'user_one demo 3',
      ],
      ['{{ conversationInfo.environment }} {{ conversationInfo.conversationId | size }}', 'production 31'],
      ['{{ input | upcase }} {{ "now" | date: "%Y-%m-%d %H:%M" }}', 'ADA 2026-11-30 12:00'],
      ['{{ context.shop.items | where_exp: "item", "item.name == \'tea\'" | map: "name" }}', 'tea'],
    ];
    for (const [template, rendered] of cases) expect(await render(template, start)).toBe(rendered);
  });

  it('writes JSON and Base64, reads references, and makes ids that stay the same for the turn', async () => {
    const start = { context: { a: [1], uri: 'patchbay://rules/hello?version=3' } };
    expect(
      await render('{{ context.a | json }} {{ "ő" | base64_encode }} {{ "xZE=" | base64_decode }}', start),
    ).toBe('[1] xZE= ő');
    expect(await render('{{ context.uri | extract_id }} {{ context.uri | extract_version }}', start)).toBe(
      'hello 3',
    );
    expect(await render('[{{ input | extract_id }}{{ nothing | extract_version }}]')).toBe('[]');
    const ids = (await render('{{ "a" | uuid }} {{ "a" | uuid }} {{ "b" | uuid }} {{ nil | uuid }}'))!.split(
      ' ',
    );
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(ids[0]).toBe(ids[1]);
    expect(new Set(ids).size).toBe(3);
  });

  it('renders what is missing as nothing', async () => {
    expect(
      await render('[{{ context.a.b.c }}{{ properties.x }}{{ memory.last.input }}{{ context.a[3] }}]'),
    ).toBe('[]');
  });

  it('reaches own plain data only', async () => {
    const start = { context: { list: [1], text: 'x' } };
    for (const path of [
      'constructor',
      'constructor.constructor',
      '__proto__',
      'toString',
      'list.constructor',
      'list.map',
    ]) {
      expect(await render(`[{{ context.${path} }}]`, start)).toBe('[]');
    }
  });

  it('does not render what a person said', async () => {
    expect(await render('You said {{ input }}', { input: '{{ userInfo.userId }}' })).toBe(
      'You said {{ userInfo.userId }}',
    );
  });

  it('renders no text twice, so that what a person said is never rendered', async () => {
    const compiled = await templatingStep.compile({ type: 'templating' }, async () => undefined);
    const memory = testMemory({ input: '{{ userInfo.userId }}', output: [text('You said {{ input }}')] });
    memory.quickReplies = [{ value: '{{ input }}' }];
    for (let i = 0; i < 2; i++) await compiled.run(memory, testTools());
    memory.output.push(text('More: {{ memory.current.actions.size }}'));
    await compiled.run(memory, testTools());
    expect(memory.output).toEqual([text('You said {{ userInfo.userId }}'), text('More: 0')]);
    expect(memory.quickReplies).toEqual([{ value: '{{ userInfo.userId }}' }]);
  });

  it('renders items of any type and the values of quick replies, and what was remembered of them', async () => {
    const compiled = await templatingStep.compile({ type: 'templating' }, async () => undefined);
    const plain = text('plain');
    const hello = text('Hi {{ input }}');
    const button = {
      type: 'button {{ input }}',
      label: '{{ input }}',
      on: [{ say: '{{ input }}!' }],
      big: true,
    };
    const replies = [{ value: 'Be {{ input }}', expressions: 'be(x)' }, { value: 'No' }];
    const memory = testMemory({ input: 'Ada', output: [plain, hello, button], quickReplies: replies });
    memory.remember('output:text:a:0', hello);
    memory.remember('quickReplies:a', replies);
    memory.remember('other', '{{ input }}');
    await compiled.run(memory, testTools());
    const rendered = [{ value: 'Be Ada', expressions: 'be(x)' }, { value: 'No' }];
    expect(memory.output).toEqual([
      plain,
      text('Hi Ada'),
      { type: 'button {{ input }}', label: 'Ada', on: [{ say: 'Ada!' }], big: true },
    ]);
    expect(memory.output[0]).toBe(plain);
    expect(memory.quickReplies).toEqual(rendered);
    expect(rememberedAs(memory, 'output:text:a:0')).toEqual([text('Hi Ada')]);
    expect(rememberedAs(memory, 'quickReplies:a')).toEqual([rendered]);
    expect(rememberedAs(memory, 'other')).toEqual(['{{ input }}']);
    // The documents of the agent, shared by all turns, are untouched.
    expect([hello.text, replies[0]!.value]).toEqual(['Hi {{ input }}', 'Be {{ input }}']);
  });

  it('takes no options', async () => {
    const step = { type: 'templating', config: { engine: 'qute' } };
    await expect(templatingStep.compile(step, async () => undefined)).rejects.toThrow(
      'templating step: field "config" at $.config is unknown (known fields there: type)',
    );
  });
});

describe('a template that costs too much', () => {
  /** What is thrown when it is rendered; in slices, as in a turn. */
  async function failureOf(template: string, context: Record<string, unknown> = {}) {
    const tools = testTools();
    const templates = createTemplateCache(10);
    const rendering = templates.render(template, { context }, { now: NOON, budget: tools.budget });
    try {
      await inSlices(rendering, tools.budget);
      return 'nothing';
    } catch (error) {
      return error as Error;
    }
  }

  const big = 'x'.repeat(1_000);
  const nested = '{% assign a = "x" | split: "" %}';
  const nest = '{% assign b = "" | split: "" | push: a | push: a %}{% assign a = b %}';
  it.each([
    ['long output', '{% for i in (1..3000) %}{{ context.big }}{% endfor %}', 'steps'],
    ['much output of no data', `{% for i in (1..3000) %}${big}{% endfor %}`, 'characters'],
    [
      'endless loops',
      '{% for i in (1..9999) %}{% for j in (1..9999) %}{{ i }}{% endfor %}{% endfor %}',
      'steps',
    ],
    ['much memory', '{% for i in (1..100000000) %}x{% endfor %}', 'steps'],
    [
      'doubling',
      `{% assign a = context.big %}${'{% capture a %}{{ a }}{{ a }}{% endcapture %}'.repeat(40)}{{ a }}`,
      'steps',
    ],
    ['doubling of lists in lists, written out', `${nested}${nest.repeat(40)}{{ a }}`, 'steps'],
    ['doubling of lists in lists, joined', `${nested}${nest.repeat(40)}{{ a | join: "," }}`, 'steps'],
    [
      'doubling of lists in lists, in a capture',
      `${nested}${nest.repeat(40)}{% capture c %}{{ a | raw }}{% endcapture %}`,
      'steps',
    ],
    ['doubling of lists in lists, echoed', `${nested}${nest.repeat(40)}{% echo a %}`, 'steps'],
    ['escaping what is escaped', `{{ context.percent${' | url_encode'.repeat(700)} }}`, 'steps'],
    [
      'long texts looked for in long ones',
      '{% if context.long contains context.part %}x{% endif %}',
      'steps',
    ],
    [
      'lists made of large objects again and again',
      '{% for i in (1..99999) %}{% for member in context.members limit: 1 %}{% endfor %}{% endfor %}',
      'steps',
    ],
    [
      'tables made of large objects again and again',
      '{% for i in (1..99999) %}{% tablerow member in context.members limit: 1 %}{% endtablerow %}{% endfor %}',
      'steps',
    ],
    ['long texts looked for backwards', '{{ context.long | remove_last: context.part }}', 'steps'],
    ['long texts looked for in lists', '{{ context.long | split: context.parts }}', 'steps'],
    [
      'calculating without end',
      '{% for i in (1..99999) %}{% assign n = n | plus: i | times: 2 %}{% endfor %}',
      'steps',
    ],
  ])('is stopped: %s', async (_, template, limit) => {
    const half = 'a'.repeat(50_000);
    const context = {
      big,
      percent: '%'.repeat(1_000),
      long: half.repeat(4),
      part: `${half}b${half}`,
      parts: [half, 'b', half],
      members: Object.fromEntries(Array.from({ length: 20_000 }, (_member, i) => [`m${i}`, i])),
    };
    const from = performance.now();
    const error = await failureOf(template, context);
    expect(error).toBeInstanceOf(PlatformError);
    expect((error as Error).message).toContain(
      limit === 'steps' ? '2000000 steps of work' : '1000000 characters',
    );
    // Takes a fifth of a second; what it would take without limits is minutes, or the memory of the process.
    expect(performance.now() - from).toBeLessThan(5_000);
  });

  it('is a fault when it is no matter of size', async () => {
    expect(
      await failureOf('{{ "x" | date: "%Y", "No/Zone" }}{{ context.a | where_exp: "x", "((" }}', { a: [1] }),
    ).toBeInstanceOf(Fault);
    expect(
      await failureOf(
        `${nested}{% for i in (1..101) %}{% assign b = "" | split: "" | push: a %}{% assign a = b %}{% endfor %}{{ a | json }}`,
      ),
    ).toMatchObject({
      code: 'TEMPLATE_FAILED',
      cause: expect.objectContaining({ message: expect.stringContaining('nested deeper than 100') }),
    });
  });

  it('writes JSON without the indentation that would multiply it', async () => {
    expect(await render('{{ context | json: 10 }}', { context: { a: [1] } })).toBe('{"a":[1]}');
  });

  it('leaves the next one alone, and keeps no more than its number of parsed texts', () => {
    const templates = createTemplateCache(10);
    const renderNow = (template: string, a: unknown) =>
      inSlices(
        templates.render(template, { context: { a } }, { now: NOON, budget: testTools().budget }),
        testTools().budget,
      );
    for (let i = 0; i < 50; i++) expect(renderNow(`${i} {{ context.a }}`, i)).toBe(`${i} ${i}`);
    expect(renderNow('0 {{ context.a }}', 'again')).toBe('0 again');
  });
});
