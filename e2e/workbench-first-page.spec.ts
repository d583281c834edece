/**
 * What the first page costs: the requests and bytes on the wire, answers included, until the facts are shown, and that a page at which nobody
 * does anything asks for nothing.
 */
import { expect, type Page } from '@playwright/test';
import { prepareKnowledge } from './screens.ts';
import type { ServiceProcess } from './service.ts';
import { open, test as shared } from './workbench.ts';

/** With an empty cache, and a clock that no other test meets. */
const test = shared.extend({
  context: async ({ browser }, provide) => {
    const own = await browser.newContext();
    await provide(own);
    await own.close();
  },
});

interface Fetched {
  readonly path: string;
  /** Bytes on the wire, headers included. */
  bytes: number;
  hasEnded: boolean;
}

/** Records what the page fetches, as the browser counts it. */
async function recordFetched(page: Page, service: ServiceProcess): Promise<readonly Fetched[]> {
  const fetched: Fetched[] = [];
  const byId = new Map<string, Fetched>();
  const browser = await page.context().newCDPSession(page);
  await browser.send('Network.enable');
  browser.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (!request.url.startsWith(service.url)) return;
    const entry = { path: request.url.slice(service.url.length), bytes: 0, hasEnded: false };
    byId.set(requestId, entry);
    fetched.push(entry);
  });
  browser.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const entry = byId.get(requestId);
    if (entry !== undefined) Object.assign(entry, { bytes: encodedDataLength, hasEnded: true });
  });
  return fetched;
}

async function expectFacts(page: Page): Promise<void> {
  await expect(page.getByRole('grid', { name: 'Facts' }).getByRole('gridcell').first()).toBeVisible();
  await expect(page.getByRole('button', { name: /^Service: Live/ })).toBeVisible();
}

const mostRequests = 12;
const mostBytes = 250_000;

test('the first page is few files and small, and has no editor', async ({ page, service }) => {
  await prepareKnowledge(page, service);
  const fetched = await recordFetched(page, service);
  await open(page, service, '/facts?predicate=mother');
  await expectFacts(page);
  // The stream of events does not end.
  await expect.poll(() => fetched.every(({ path, hasEnded }) => hasEnded || path === '/events')).toBe(true);

  const seen = [...fetched];
  const paths = seen.map(({ path }) => path);
  expect(new Set(paths).size, paths.join('\n')).toBeLessThanOrEqual(mostRequests);
  expect(paths.filter((path) => /monaco|editor|codicon/.test(path))).toEqual([]);
  const sent = seen.reduce((sum, { bytes }) => sum + bytes, 0);
  test.info().annotations.push({
    type: 'first page',
    description: `${seen.length} requests, ${Math.round(sent / 1000)} kB`,
  });
  expect(sent, JSON.stringify(seen, null, 1)).toBeLessThanOrEqual(mostBytes);
});

test('the editor is fetched where a text is edited, not with the views that have none', async ({
  page,
  service,
}) => {
  await prepareKnowledge(page, service);
  const fetched = await recordFetched(page, service);
  const editors = () => fetched.map(({ path }) => path).filter((path) => path.includes('monaco'));
  for (const [address, heading] of [
    ['/start', 'Knowledge, and what follows from it'],
    ['/memory', 'Memory'],
    ['/history', 'History'],
    ['/schema', 'Schema'],
  ] as const) {
    await open(page, service, address);
    await expect(page.getByRole('heading', { name: heading }).first()).toBeVisible();
    // A view asks for its code before it shows anything.
    await expect.poll(() => fetched.every(({ path, hasEnded }) => hasEnded || path === '/events')).toBe(true);
    expect(editors(), address).toEqual([]);
  }
  await open(page, service, '/ask');
  await expect.poll(editors).not.toEqual([]);
});

const settling = '/health';

/** Waits for an answer of the service: what the page has asked for before it precedes it. */
async function settled(page: Page): Promise<void> {
  await page.evaluate((path) => fetch(path).then((response) => response.text()), settling);
}

/** Longer than any list that follows the service waits, and short enough that the stream of changes is not taken for broken. */
const idleMs = 31_000;

test('an idle page asks for nothing twice', async ({ page, service }) => {
  await prepareKnowledge(page, service);
  await page.clock.install();
  const fetched = await recordFetched(page, service);
  await open(page, service, '/facts?predicate=mother');
  await expectFacts(page);
  // While counts of conclusions are incomplete, they are asked for again.
  const predicates = async () =>
    (await (
      await page.request.get(`${service.url}/predicates`, { headers: { 'X-Tenant-ID': 'default' } })
    ).json()) as { predicates: { derivedComplete: boolean }[] };
  await expect
    .poll(async () => (await predicates()).predicates.every(({ derivedComplete }) => derivedComplete))
    .toBe(true);
  // From here on the time of the page passes only when it is told to, however slow the machine is.
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1_000);
  // The page learns it by asking once more.
  await page.clock.runFor(5_000);
  await settled(page);

  const before = fetched.length;
  await page.clock.runFor(idleMs);
  await settled(page);
  expect(fetched.slice(before).map(({ path }) => path)).toEqual([settling]);
});
