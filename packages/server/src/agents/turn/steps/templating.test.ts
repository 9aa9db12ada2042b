import { describe, expect, it } from 'vitest';
import { Fault } from '../../../kernel/errors.ts';
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
      last: pastStep({ input: 'before', actions: ['ask'] }),
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
  const templates = createTemplateCache(10);
  const render = (template: string, context: Record<string, unknown> = {}) =>
    templates.render(template, { context }, NOON);

  it.each([
    ['long output', '{% for i in (1..3000) %}{{ context.big }}{% endfor %}', 'longer than 2000000'],
    [
      'endless loops',
      '{% for i in (1..9999) %}{% for j in (1..9999) %}{{ i }}{% endfor %}{% endfor %}',
      'could not',
    ],
    ['much memory', '{% for i in (1..100000000) %}x{% endfor %}', 'could not'],
    [
      'doubling',
      `{% assign a = context.big %}${'{% capture a %}{{ a }}{{ a }}{% endcapture %}'.repeat(40)}{{ a }}`,
      '',
    ],
  ])('is stopped: %s', (_, template, message) => {
    const from = performance.now();
    expect(() => render(template, { big: 'x'.repeat(1000) })).toThrow(Fault);
    expect(() => render(template, { big: 'x'.repeat(1000) })).toThrow(message);
    expect(performance.now() - from).toBeLessThan(5000);
  });

  it('leaves the next one alone, and keeps no more than its number of parsed texts', () => {
    for (let i = 0; i < 50; i++) expect(render(`${i} {{ context.a }}`, { a: i })).toBe(`${i} ${i}`);
    expect(render('0 {{ context.a }}', { a: 'again' })).toBe('0 again');
  });
});
