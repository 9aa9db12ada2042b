import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startBrowser, type TestBrowser, type TestPage } from '@patchbay/testing/browser';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const PASSWORD = 'seven brown lanterns';

let platform: TestPlatform;
let browser: TestBrowser;
beforeAll(async () => {
  [platform, browser] = await Promise.all([startTestPlatform(), startBrowser()]);
}, 60_000);
afterAll(() => Promise.all([browser?.close(), platform?.close()]));

/** Types where the cursor is, once it is in a field, and goes on to the next. */
async function type(page: TestPage, ...texts: string[]): Promise<void> {
  await page.waitForSelector('input:focus');
  for (const text of texts) {
    await page.keyboard.type(text);
    await page.keyboard.press('Tab');
  }
}

describe('a person without a mouse and without JavaScript', () => {
  it('chooses a password, signs out, mistypes, signs in and ends where they were going (attack 8)', async () => {
    const page = await browser.open();
    const link = await platform.platform.links.make(platform.platform.owner.id, 'password');

    await page.goto(link.url);
    await type(page, PASSWORD, PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${platform.url}/account`);
    expect(await page.textContent('dl')).toContain('patchbay-admin');

    // Past the link to the content, which a keyboard meets first, and the link to the password.
    for (let place = 0; place < 3; place += 1) await page.keyboard.press('Tab');
    expect(await page.textContent(':focus')).toBe('Sign out');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${platform.url}/sign-out`);

    await page.goto(`${platform.url}/account/password`);
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    await type(page, 'owner', 'not that one');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[role=alert]:focus');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.getAttribute(':focus', 'name')).toBe('login');
    await page.keyboard.press('Tab');
    await type(page, PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${platform.url}/account/password`);
    expect(page.complaints).toEqual([]);
  }, 60_000);
});

/** A page of somebody else on another port of this machine, which browsers take for the same site: our cookies go along. */
async function servePage(html: string): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end(html);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

describe('a page of somebody else', () => {
  it('sends no form of ours, though the cookies of the person go along (attack 8)', async () => {
    await using evil = await servePage(
      `<form method="post" action="${platform.url}/sign-out"><button>Win a prize</button></form>`,
    );
    const page = await browser.open();
    await page.goto((await platform.platform.links.make(platform.platform.owner.id, 'sign-in')).url);
    await page.waitForSelector('button:focus');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${platform.url}/account`);
    await page.goto(evil.url);
    const [request] = await Promise.all([page.waitForRequest('**/sign-out'), page.click('button')]);
    expect((await request.allHeaders()).cookie).toContain('patchbay=');
    expect((await request.response())?.status()).toBe(403);
    await page.goto(`${platform.url}/account`);
    expect(await page.textContent('h1')).toBe('Your account');
  });

  it('frames none of ours (attack 8)', async () => {
    await using evil = await servePage(`<iframe src="${platform.url}/sign-in"></iframe>`);
    const page = await browser.open();
    await page.goto(evil.url);
    expect(page.complaints.join('\n')).toMatch(/frame-ancestors|X-Frame-Options|ERR_BLOCKED/);
    expect(await page.frameLocator('iframe').locator('form').count()).toBe(0);
  });
});

describe('a page', () => {
  it('names each field, fits a narrow screen, and shows where the keyboard is', async () => {
    const page = await browser.open({ viewport: { width: 320, height: 600 } });
    const { url } = await platform.platform.links.make(platform.platform.owner.id, 'password');
    for (const address of [`${platform.url}/sign-in`, url]) {
      await page.goto(address);
      await page.waitForSelector('input:focus');
      expect(
        await page.evaluate(`({
          unnamed: [...document.querySelectorAll('input:not([type=hidden], [hidden])')].filter(each => each.labels.length === 0).length,
          isWider: document.documentElement.scrollWidth > window.innerWidth,
          outline: getComputedStyle(document.activeElement).outlineStyle,
          language: document.documentElement.lang,
        })`),
      ).toEqual({ unnamed: 0, isWider: false, outline: 'solid', language: 'en' });
    }
    expect(page.complaints).toEqual([]);
  });

  it.each([
    ['light', 'hu-HU', 'Bejelentkezés'],
    ['dark', 'fr-FR', 'Sign in'],
  ] as const)(
    'is drawn by its own style, %s, in the language of the browser or English',
    async (colorScheme, locale, title) => {
      const page = await browser.open({ colorScheme, locale });
      await page.goto(`${platform.url}/sign-in`);
      expect(await page.textContent('h1')).toBe(title);
      const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      expect(ground).toBe(colorScheme === 'dark' ? 'rgb(16, 22, 29)' : 'rgb(243, 245, 248)');
      expect(page.complaints).toEqual([]);
    },
  );
});
