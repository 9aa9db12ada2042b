import { describe, expect, it } from 'vitest';
import { createTestIo } from './testing/test-io.ts';

const COMMANDS = ['up', 'chat', 'connect', 'agents', 'keys', 'call', 'doctor', 'stdio'];
const BELOW = ['agents list', 'agents show', 'agents deploy', 'keys create', 'keys list', 'keys revoke'];

describe('patchbay', () => {
  it.each([[[]], [['--help']]])('shows its commands, examples and exit codes for %j', async argv => {
    const io = createTestIo({ home: '/nowhere' });
    expect(await io.run(...argv)).toBe(0);
    for (const command of COMMANDS) expect(io.out()).toMatch(new RegExp(`^  ${command}\\b`, 'm'));
    expect(io.out()).toContain('Examples:');
    expect(io.out()).toContain(
      'Exit codes: 0 ok, 1 failed, 2 wrong command line, 3 not allowed, 4 platform not reachable.',
    );
    expect(io.err()).toBe('');
  });

  it.each([...COMMANDS, ...BELOW])('teaches %s with examples', async command => {
    const io = createTestIo({ home: '/nowhere' });
    expect(await io.run(...command.split(' '), '--help')).toBe(0);
    expect(io.out()).toMatch(/Examples?:\n {2}/);
  });

  it('exits 2 with one sentence for a command it does not know', async () => {
    const io = createTestIo({ home: '/nowhere' });
    expect(await io.run('keyz')).toBe(2);
    expect(io.out()).toBe('');
    expect(io.err()).toMatch(/^patchbay: unknown command 'keyz'/);
  });
});
