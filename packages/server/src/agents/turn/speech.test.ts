import { expect, it } from 'vitest';
import type { TurnEvent } from './run-turn.ts';
import { createSpeech } from './speech.ts';

function listen() {
  const events: TurnEvent[] = [];
  return { events, speech: createSpeech(event => events.push(event)) };
}

it('tells each piece at once', () => {
  const { events, speech } = listen();
  speech.say('One, ', 0);
  expect(events).toEqual([{ type: 'reply-delta', text: 'One, ', index: 0 }]);
  speech.say('two', 0);
  speech.say('Three', 1);
  speech.flush();
  expect(events.map(({ text, index }) => [text, index])).toEqual([
    ['One, ', 0],
    ['two', 0],
    ['Three', 1],
  ]);
});

it('joins pieces when there are very many, and loses and mixes up none', () => {
  const { events, speech } = listen();
  const letters = 1_000_000;
  for (let n = 0; n < letters; n += 1) speech.say(String(n % 10), 0);
  speech.say('next', 1);
  speech.flush();
  expect(events.length).toBeLessThan(20_000);
  const told = (index: number) =>
    events
      .filter(event => event.index === index)
      .map(({ text }) => text)
      .join('');
  expect(told(0)).toBe('0123456789'.repeat(letters / 10));
  expect(told(1)).toBe('next');
});
