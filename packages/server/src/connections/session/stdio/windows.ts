/**
 * How a program is started and ended on Windows, as arguments (field-reports 2.15). Pure: what is asked of the machine is passed in.
 */
import { win32 } from 'node:path';

export interface WindowsCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** The arguments are quoted already; Node must not do it again. */
  readonly verbatim: boolean;
}

/** Extensions of what can be run, where the environment names none. */
const DEFAULT_EXTENSIONS = '.COM;.EXE;.BAT;.CMD';

/**
 * The program behind a command, with the arguments as they have to be handed over. `npx` is `npx.cmd`, which no process can be made of: such files
 * are run by `cmd /d /s /c`, their arguments quoted so that `cmd` passes them on as they are. A command that is not found is left as it is, for
 * the system to refuse.
 */
export function windowsCommand(options: {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly path: string | undefined;
  readonly extensions?: string | undefined;
  readonly isFile: (path: string) => boolean;
}): WindowsCommand {
  const { command, args } = options;
  const file = findProgram(command, options) ?? command;
  if (!/\.(?:cmd|bat)$/i.test(file)) return { file, args, verbatim: false };
  if (args.some(arg => /[\r\n]/.test(arg)))
    throw new TypeError(`An argument of ${command} has a line break, which a batch file cannot be given.`);
  // The small scripts npm makes hand their arguments on, and the program behind them reads them again.
  const times = /node_modules[\\/]\.bin[\\/][^\\/]+\.cmd$/i.test(file) ? 2 : 1;
  const line = [escapeForCmd(win32.normalize(file), 1), ...args.map(arg => escapeForCmd(quote(arg), times))];
  const shell = findProgram('cmd.exe', options) ?? 'cmd.exe';
  return { file: shell, args: ['/d', '/s', '/c', `"${line.join(' ')}"`], verbatim: true };
}

/** Ends a process and all that it started. */
export function taskkillArguments(pid: number): readonly string[] {
  return ['/pid', String(pid), '/t', '/f'];
}

function findProgram(
  command: string,
  options: Pick<Parameters<typeof windowsCommand>[0], 'cwd' | 'path' | 'extensions' | 'isFile'>,
): string | undefined {
  const { cwd, path = '', extensions = DEFAULT_EXTENSIONS, isFile } = options;
  const endings = extensions.split(';').filter(ending => ending !== '');
  const hasEnding = endings.some(ending => command.toLowerCase().endsWith(ending.toLowerCase()));
  const names = [...(hasEnding ? [command] : []), ...endings.map(ending => command + ending)];
  // A program in the working folder is not what a bare name means: whoever can write there could put one before the real one.
  const folders = /[\\/]/.test(command)
    ? [cwd ?? '.']
    : path.split(';').flatMap(folder => folder.replaceAll('"', '').trim() || []);
  for (const folder of folders) {
    for (const name of names) {
      const candidate = win32.isAbsolute(name) ? name : win32.join(folder, name);
      if (isFile(candidate)) return candidate;
    }
  }
  return undefined;
}

/** As programs take their command line apart: quotes have a backslash before them, and backslashes before a quote are doubled. */
function quote(arg: string): string {
  return `"${arg.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`;
}

function escapeForCmd(text: string, times: number): string {
  let escaped = text;
  for (let time = 0; time < times; time++) escaped = escaped.replace(/[()\][%!^"`<>&|;, *?]/g, '^$&');
  return escaped;
}
