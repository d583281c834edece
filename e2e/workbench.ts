/**
 * The workbench in a browser, watched: every request must go to the service itself, and the console must say
 * nothing of errors or of a violated content security policy.
 */
import { expect, type Locator, type Page } from '@playwright/test';
import { type ServiceProcess, test as base } from './service.ts';

interface Watch {
  /** Addresses that were asked for and are not the service's. */
  readonly foreign: string[];
  /** What the console said that is no plain message. */
  readonly complaints: string[];
}

function watch(page: Page, service: ServiceProcess): Watch {
  const seen: Watch = { foreign: [], complaints: [] };
  page.on('request', (request) => {
    const url = new URL(request.url());
    // Data and blobs are made by the page; nothing is sent anywhere for them.
    if (url.protocol !== 'data:' && url.protocol !== 'blob:' && url.origin !== service.url)
      seen.foreign.push(request.url());
  });
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      seen.complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => seen.complaints.push(String(error.stack ?? error)));
  return seen;
}

/** Tests with a service and a workbench of their own. What is watched is checked when a test has passed. */
export const test = base.extend<{ watched: Watch }>({
  watched: [
    async ({ page, service }, use) => {
      const seen = watch(page, service);
      await use(seen);
      // A request that is held back is nobody's once the test is over.
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      expect(seen.foreign, 'requests that leave the service').toEqual([]);
      expect(seen.complaints, 'complaints in the console').toEqual([]);
    },
    { auto: true },
  ],
});

/** What the browser itself reports of a service that is stopped, or not yet ready. */
export const outage =
  /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|status of 503/;

/** Drops the complaints that a test expects, in the middle of it or at its end. */
export function forgive(watched: { readonly complaints: string[] }, expected: RegExp): void {
  const others = watched.complaints.filter((text) => !expected.test(text));
  watched.complaints.splice(0, Number.POSITIVE_INFINITY, ...others);
}

/** Opens a view by its address. */
export async function open(page: Page, service: ServiceProcess, address = ''): Promise<void> {
  await page.goto(`${service.url}/${address === '' ? '' : `#${address}`}`);
}

export async function openSample(page: Page, service: ServiceProcess, title = 'A family'): Promise<void> {
  await open(page, service);
  await page.getByRole('button', { name: `Open the sample ${title}` }).click();
  await expect(page.getByRole('heading', { name: `${title} is open` })).toBeVisible();
}

export async function goTo(
  page: Page,
  tool:
    | 'Facts'
    | 'Rules'
    | 'Ask'
    | 'Proof'
    | 'Why not'
    | 'What if'
    | 'Trace'
    | 'Context'
    | 'Scopes'
    | 'Memory'
    | 'Agents'
    | 'Admin'
    | 'Settings',
): Promise<void> {
  await page.getByRole('navigation', { name: 'Tools' }).getByRole('link', { name: tool }).click();
}

/** The editor with that label, empty and with the focus. */
export async function clearEditor(page: Page, label: string): Promise<Locator> {
  const editor = page.getByRole('textbox', { name: label });
  await editor.waitFor({ state: 'attached' });
  await editor.focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
  return editor;
}

/** Writes into an editor as a person does who closes brackets by typing them. */
export async function write(page: Page, label: string, text: string): Promise<void> {
  await clearEditor(page, label);
  await page.keyboard.type(text, { delay: 8 });
  // Suggestions take the keys that follow; where there are none, Escape would close a dialog around the editor.
  if (await page.locator('.suggest-widget.visible').isVisible()) await page.keyboard.press('Escape');
}

export async function ask(page: Page, question: string): Promise<void> {
  await write(page, 'Question', question);
  await page.keyboard.press('ControlOrMeta+Enter');
}

/** The rows of a grid without its header. */
export function rowsOf(page: Page, grid: string): Locator {
  return page
    .getByRole('grid', { name: grid })
    .getByRole('row')
    .filter({ has: page.getByRole('gridcell') });
}
