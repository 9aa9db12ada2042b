import { describe, expect, it } from 'vitest';
import { createProgramLog } from './program-log.ts';

function log() {
  const told: string[] = [];
  const clock = { time: 0, now: () => clock.time };
  const clean = (text: string) => text.replaceAll('hunter2', '[redacted]');
  const program = createProgramLog({ clock, clean, onLine: line => told.push(line) });
  return { program, told, clock, write: (text: string) => program.write(Buffer.from(text, 'utf8')) };
}

describe('what a program says', () => {
  it('is one line each, without terminal codes, controls and secrets', () => {
    const { program, told, write } = log();
    write('\u001b[31mred\u001b[0m\r\n\n\u001b[2K\n  two\u0007\u2028words \r\nBearer abcdefghij and hun');
    write('ter2');
    program.end();
    expect(told).toEqual(['red', '  two\\u0007\\u2028words', 'Bearer [redacted] and [redacted]']);
    expect(program.lines).toEqual(told);
  });

  it('is bounded in length', () => {
    const { told, write } = log();
    write('x'.repeat(1_000_000));
    write('x\nnext\n');
    expect(told.map(line => line.length)).toEqual([4_096 + '... (cut)'.length, 4]);
  });

  it('is bounded in number, and it is said how much was left out', () => {
    const { program, told, clock, write } = log();
    for (let count = 0; count < 1_000; count++) write(`line ${count}\n`);
    expect(told).toHaveLength(200);
    clock.time = 10_000;
    write('later\n');
    expect(told.slice(200)).toEqual(['... 800 more lines were dropped', 'later']);
    expect(program.lines).toHaveLength(50);
    expect(program.lines.at(-1)).toBe('later');
  });

  it('counts what was dropped until the end', () => {
    const { program, told } = log();
    for (let count = 0; count < 201; count++) program.note(`noise ${count}`);
    program.end();
    expect(told.at(-1)).toBe('... 1 more line was dropped');
  });
});
