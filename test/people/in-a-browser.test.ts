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

describe('a page', () => {
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
