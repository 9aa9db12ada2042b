import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startBrowser, type TestBrowser } from '@patchbay/testing/browser';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newClient } from './rig.ts';

let platform: TestPlatform;
let browser: TestBrowser;
let callback: Server;
let redirect: string;
beforeAll(async () => {
  platform = await startTestPlatform();
  browser = await startBrowser();
  // A callback that goes on by itself, as those of many hosts do.
  callback = createServer((request, response) => {
    if (request.url?.startsWith('/callback'))
      response.writeHead(302, { location: `/done${request.url}` }).end();
    else
      response.writeHead(200, { 'content-type': 'text/html' }).end('<title>back</title>back at the client');
  }).listen(0, '127.0.0.1');
  await once(callback, 'listening');
  redirect = `http://127.0.0.1:${(callback.address() as AddressInfo).port}/callback`;
}, 120_000);
afterAll(async () => {
  await browser?.close();
  callback?.closeAllConnections();
  callback?.close();
  await platform?.close();
});

describe('a person in a real browser, without JavaScript', () => {
  async function asked() {
    const client = await newClient(platform, { redirect, description: { redirect_uris: [redirect] } });
    const page = await browser.open();
    const { url } = await platform.platform.links.make(platform.platform.owner.id, 'sign-in');
    await page.goto(url);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.goto(client.authorizeUrl());
    return { page, client };
  }

  it('is shown who asks, chooses an agent, allows it, and is back at the client', async () => {
    const { page, client } = await asked();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
      'An application asks for access',
    );
    expect(await page.getByText(new URL(redirect).host).count()).toBe(1);
    await page.getByRole('button', { name: 'Allow' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('Choose one agent at least');
    await page.getByRole('checkbox').first().check();
    await page.getByRole('button', { name: 'Allow' }).click();
    expect(await page.textContent('body')).toContain('back at the client');
    const code = new URL(page.url()).searchParams.get('code')!;
    expect((await client.redeem(code)).status).toBe(200);
    expect(page.complaints).toEqual([]);
    await page.goto(`${platform.url}/account`);
    await page.getByRole('button', { name: 'Disconnect' }).first().click();
    expect(new URL(page.url()).pathname).toBe('/account');
  });

  it('does it with the keyboard alone, and denies it so, too', async () => {
    const { page } = await asked();
    const press = async (key: string, until: string) => {
      for (let count = 0; count < 20; count += 1) {
        await page.keyboard.press(key);
        if ((await page.locator(`${until}:focus`).count()) > 0) return;
      }
      throw new Error(`${until} is not reached with ${key}.`);
    };
    await press('Tab', 'input[type=checkbox]');
    await page.keyboard.press('Space');
    await press('Tab', 'button[value=allow]');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/done/);
    expect(new URL(page.url()).searchParams.get('code')).toBeTruthy();

    const again = await asked();
    await again.page.locator('button[value=deny]').focus();
    await again.page.keyboard.press('Enter');
    await again.page.waitForURL(/\/done/);
    expect(new URL(again.page.url()).searchParams.get('error')).toBe('access_denied');
    expect([...page.complaints, ...again.page.complaints]).toEqual([]);
  });

  it('pressed Back after deciding, is told that it was answered, and nothing more is allowed', async () => {
    const { page } = await asked();
    await page.getByRole('checkbox').first().check();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(/\/done/);
    await page.goBack();
    await page.reload();
    expect(await page.textContent('h1')).toContain('This request does not go on here');
  });
});
