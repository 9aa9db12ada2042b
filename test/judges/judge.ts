import { spawn } from 'node:child_process';

/** One of the two MCP doors of a running platform, and a key that opens it. */
export interface Door {
  readonly name: 'operator' | 'agent';
  readonly url: string;
  readonly key: string;
}

export interface Verdict {
  /** Which judge, door and variant, such as `conformance 2026-07-28 at the operator door`. */
  readonly judge: string;
  /** What was proved, in a few words. */
  readonly summary: string;
  /** One sentence for each thing that is wrong; none when the judge is satisfied. */
  readonly complaints: readonly string[];
}

/** Runs a script of a judge on this very Node and resolves when it ends; a judge that hangs is stopped after `timeoutMs`. */
export async function runNode(
  args: readonly string[],
  options: {
    env?: Record<string, string>;
    timeoutMs: number;
    /** Sees all that was written to standard output so far, each time something is. */
    onOutput?: (stdout: string) => void;
  },
): Promise<{ exitCode: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: options.timeoutMs,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    options.onOutput?.(stdout);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  return { exitCode, stdout, stderr };
}
