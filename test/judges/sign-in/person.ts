import type { TestBrowser } from '@patchbay/testing/browser';

/** Somebody with an account, who does what pages ask. */
interface Person {
  readonly login: string;
  readonly password: string;
}

/** What a person came across on the way. */
export interface Visit {
  /** What the page said on which they allowed the client something. */
  readonly consent: string;
  /** Where the client waited. */
  readonly cameBackTo: string;
  /** What the browser complained of. */
  readonly complaints: readonly string[];
}

/**
 * Opens an address in a browser of its own, without JavaScript, signs in, allows what is asked for and follows to where the client
 * waits. Rejects when a page does not have what a person looks for.
 */
export async function visitAs(browser: TestBrowser, person: Person, address: string): Promise<Visit> {
  const page = await browser.open();
  try {
    await page.goto(address);
    await page.getByLabel('User name').fill(person.login);
    await page.getByLabel('Password').fill(person.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const consent = (await page.getByRole('main').textContent()) ?? '';
    for (const box of await page.getByRole('checkbox').all()) await box.check();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(url => url.searchParams.has('code'));
    return { consent, cameBackTo: page.url(), complaints: page.complaints };
  } catch (cause) {
    throw new Error(`${cause} The browser says: ${page.complaints.join('; ') || 'nothing'}`, { cause });
  } finally {
    await page.context().close();
  }
}
