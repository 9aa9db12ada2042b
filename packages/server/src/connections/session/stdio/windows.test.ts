import { describe, expect, it } from 'vitest';
import { taskkillArguments, windowsCommand } from './windows.ts';

const NODE = String.raw`C:\Program Files\nodejs`;
const SYSTEM = String.raw`C:\Windows\System32`;
const files = new Set([
  String.raw`C:\Program Files\nodejs\node.EXE`,
  String.raw`C:\Program Files\nodejs\npx.CMD`,
  String.raw`C:\Windows\System32\cmd.exe`,
  String.raw`D:\work\node_modules\.bin\server.CMD`,
  String.raw`D:\work\npx.CMD`,
]);

function resolve(command: string, args: readonly string[] = [], path = `${NODE};"${SYSTEM}"`) {
  return windowsCommand({
    command,
    args,
    cwd: String.raw`D:\work`,
    path,
    isFile: candidate => files.has(candidate),
  });
}

describe('a command on Windows', () => {
  it('is found by the extensions of programs, and run as it is', () => {
    const expected = { file: String.raw`C:\Program Files\nodejs\node.EXE`, args: ['a b'], verbatim: false };
    expect(resolve('node', ['a b'])).toEqual(expected);
    expect(resolve(String.raw`C:\Program Files\nodejs\node`, ['a b'])).toEqual(expected);
  });

  it('that is a batch file is run by cmd, with arguments cmd passes on as they are', () => {
    expect(resolve('npx', ['-y', 'a&b', 'say "hi"\\', '%PATH%', '']).args).toEqual([
      '/d',
      '/s',
      '/c',
      String.raw`"C:\Program^ Files\nodejs\npx.CMD ^"-y^" ^"a^&b^" ^"say^ \^"hi\^"\\^" ^"^%PATH^%^" ^"^""`,
    ]);
    expect(resolve('npx')).toMatchObject({ file: String.raw`C:\Windows\System32\cmd.exe`, verbatim: true });
  });

  it('that npm made is escaped for the program behind it, too', () => {
    expect(resolve(String.raw`.\node_modules\.bin\server`, ['a&b']).args.at(-1)).toBe(
      String.raw`"D:\work\node_modules\.bin\server.CMD ^^^"a^^^&b^^^""`,
    );
  });

  it('with a line break for a batch file is refused: cmd would end the command there', () => {
    expect(() => resolve('npx', ['a\nb'])).toThrow('line break');
    expect(() => resolve('node', ['a\nb'])).not.toThrow();
  });

  it('is not taken from the working folder, and left as it is where it is not found', () => {
    expect(resolve('npx', [], SYSTEM)).toEqual({ file: 'npx', args: [], verbatim: false });
  });

  it('is ended with what it started', () => {
    expect(taskkillArguments(42)).toEqual(['/pid', '42', '/t', '/f']);
  });
});
