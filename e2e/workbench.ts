/**
 * The workbench in a watched browser: every request must go to the service itself, and the console must show no error
 * and no violation of the content security policy.
 */
import { expect, type Locator, type Page } from '@playwright/test';
import { type ServiceProcess, test as base } from './service.ts';

interface Watch {
  /** Requests to other origins. */
  readonly foreign: string[];
  /** Console messages other than plain ones. */
  readonly complaints: string[];
}

function watch(page: Page, service: ServiceProcess): Watch {
  const seen: Watch = { foreign: [], complaints: [] };
  page.on('request', (request) => {
    const url = new URL(request.url());
    // data: and blob: URLs are made by the page and send nothing.
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

/** Tests with their own service and workbench. After a test passes, its observations are checked. */
export const test = base.extend<{ watched: Watch }>({
  watched: [
    async ({ page, service }, use) => {
      const seen = watch(page, service);
      await use(seen);
      // No held-back request may outlive its test.
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      expect(seen.foreign, 'requests that leave the service').toEqual([]);
      expect(seen.complaints, 'errors in the console').toEqual([]);
    },
    { auto: true },
  ],
});

/** The browser's messages about a service that is stopped or not ready. */
export const outage =
  /ERR_CONNECTION_REFUSED|ERR_SOCKET_NOT_CONNECTED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|status of 503/;

/** Removes expected errors, during a test or at its end. */
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
    | 'Schema'
    | 'Ask'
    | 'Proof'
    | 'Why not'
    | 'What if'
    | 'Trace'
    | 'Context'
    | 'Scopes'
    | 'Memory'
    | 'History'
    | 'Agents'
    | 'Admin'
    | 'Settings',
): Promise<void> {
  await page.getByRole('navigation', { name: 'Tools' }).getByRole('link', { name: tool }).click();
}

/** Empties and focuses the editor with that label. */
export async function clearEditor(page: Page, label: string): Promise<Locator> {
  const editor = page.getByRole('textbox', { name: label });
  await editor.waitFor({ state: 'attached' });
  await editor.focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
  return editor;
}

/** Types into an editor like a user who types closing brackets. */
export async function write(page: Page, label: string, text: string): Promise<void> {
  await clearEditor(page, label);
  await page.keyboard.type(text, { delay: 8 });
  // Suggestions would take the following keys; without any, Escape would close a surrounding dialog.
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
