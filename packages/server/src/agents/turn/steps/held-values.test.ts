import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fillJson, fillText, HeldValues, textOf } from './held-values.ts';
import { inSlices } from './in-slices.ts';
import { createTemplateCache } from './template.ts';
import { testTools } from './test-turn.ts';

/** Renders a template and gives its text with marks, and the values they stand for. */
async function hold(template: string, properties: unknown) {
  const held = new HeldValues();
  const { budget } = testTools();
  const turn = { now: 0, budget, hold: held.hold };
  const text = await inSlices(createTemplateCache(1).render(template, { properties }, turn), budget);
  return { held, text };
}

const json = async (template: string, properties: unknown) => {
  const { held, text } = await hold(template, properties);
  return fillJson(text, [held]);
};

/** Texts with all that could end a string, begin another, or pass for a mark. */
const hostile = fc.string({
  unit: fc.constantFrom('"', '\\', '\n', '{', '}', ',', ':', 'a', '\uE000', '\uE001', '0', 'é', '😀'),
});

describe('values in JSON', () => {
  it('are parts of the string or whole values, whatever they are', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, fc.jsonValue(), async (text, value) => {
        const body = await json(
          '{"a": "x{{ properties.text }}y", "b": {{ properties.value }}, "c": {{ properties.value | json }}, "{{ properties.text }}k": [{{ properties.text }}]}',
          { text, value },
        );
        const same = JSON.parse(JSON.stringify(value ?? null)) as unknown;
        expect(JSON.parse(body)).toEqual({ a: `x${text}y`, b: same, c: same, [`${text}k`]: [text] });
      }),
    );
  });

  it('stay values through captures, assignments and loops', async () => {
    const text = 'a"b\\';
    const body = await json(
      '{% capture both %}{{ properties.text }}-{{ properties.text }}{% endcapture %}{% assign more = both %}{"a": "{{ more }}", "b": [{% for x in properties.list %}{% unless forloop.first %},{% endunless %}"{{ x }}"{% endfor %}], "c": "{% cycle properties.text %}{% echo properties.text %}"}',
      { text, list: [text, 2] },
    );
    expect(JSON.parse(body)).toEqual({ a: `${text}-${text}`, b: [text, '2'], c: text + text });
  });

  it('that are nothing are null outside of a string and empty inside', async () => {
    expect(JSON.parse(await json('{"a": {{ properties.none }}, "b": "{{ properties.none }}"}', {}))).toEqual({
      a: null,
      b: '',
    });
  });
});

describe('values in a text', () => {
  it('are written as the place needs, one by one', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, async value => {
        const { held, text } = await hold('/a/{{ properties.value }}/b', { value });
        const path = fillText(text, [held], part => encodeURIComponent(textOf(part)));
        expect(path.split('/').map(decodeURIComponent)).toEqual(['', 'a', value, 'b']);
      }),
    );
  });
});
