import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type BrowserContextOptions, type Page, chromium as playwright } from 'playwright-core';
import manifest from '../package.json' with { type: 'json' };

/** A real browser without a screen. One a test file is enough: its pages share nothing. */
export interface TestBrowser {
  /** A person of their own: no cookies, no history. JavaScript is off unless it is asked for: pages work without it. */
  open(options?: BrowserContextOptions): Promise<TestPage>;
  close(): Promise<void>;
}

export interface TestPage extends Page {
  /** What the browser complained of so far: errors of the console, what the page's policy kept back, scripts that failed. */
  readonly complaints: readonly string[];
}

/** Takes a second, the first time on a machine some more. Runs as root, with nothing installed, and sees no environment. */
export async function startBrowser(): Promise<TestBrowser> {
  const folder = await unpackedChromium();
  const browser = await playwright.launch({
    executablePath: join(folder, 'chromium'),
    // Root may start it only so. Not the arguments that the package brings: they switch off what keeps sites apart, and one process for all ends
    // with the first page that is closed.
    args: ['--no-sandbox'],
    env: { HOME: folder, FONTCONFIG_FILE: join(folder, 'fonts.conf') },
  });
  return {
    async open(options = {}) {
      const context = await browser.newContext({ javaScriptEnabled: false, locale: 'en-GB', ...options });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', message => {
        // A page that says no is none: the browser complains of its status.
        const isStatus = message.text().startsWith('Failed to load resource');
        if (['error', 'warning'].includes(message.type()) && !isStatus) complaints.push(message.text());
      });
      page.on('response', response => {
        if (response.status() >= 400 && !response.request().isNavigationRequest())
          complaints.push(`${response.status()} ${response.url()}`);
      });
      page.on('requestfailed', request => {
        complaints.push(`${request.url()}: ${request.failure()?.errorText}`);
      });
      page.on('pageerror', error => complaints.push(error.message));
      return Object.assign(page, { complaints });
    },
    close: () => browser.close(),
  };
}

/**
 * Where the browser of this version is. The package unpacks into the temporary folder, file by file, and takes what it finds there
 * for whole: so it is given a folder of its own, which gets its name when it is whole.
 */
async function unpackedChromium(): Promise<string> {
  const folder = join(tmpdir(), `patchbay-chromium-${manifest.devDependencies['@sparticuz/chromium']}`);
  if (existsSync(folder)) return folder;
  const draft = await mkdtemp(`${folder}-`);
  await promisify(execFile)(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import chromium from ${JSON.stringify(import.meta.resolve('@sparticuz/chromium'))};
       await chromium.executablePath();`,
    ],
    { env: { TMPDIR: draft } },
  );
  await writeFile(
    join(draft, 'fonts.conf'),
    `<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>`,
  );
  // Whoever was quicker has the same.
  await rename(draft, folder).catch(() => rm(draft, { recursive: true }));
  return folder;
}
