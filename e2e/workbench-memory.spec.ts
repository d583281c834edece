/** Memory: fading facts are shown, kept or evicted; nothing goes that was not listed; runs can be reviewed. */
import { expect, type Locator, type Page } from '@playwright/test';
import { expectNothingGrave } from './accessibility.ts';
import type { ServiceProcess } from './service.ts';
import { forgive, goTo, open, rowsOf, test } from './workbench.ts';

const headers = { 'X-Tenant-ID': 'default' };
const hourMs = 3_600_000;

async function post(page: Page, service: ServiceProcess, path: string, data: unknown): Promise<unknown> {
  const response = await page.request.post(`${service.url}${path}`, { headers, data });
  expect(response.ok(), `${path}: ${await response.text()}`).toBe(true);
  return response.json();
}

/** Right after its assertion, a fact's salience equals its confidence to two digits. */
function seen(name: string, confidence: number, metadata: object = {}) {
  return { predicate: 'seen', args: [name], metadata: { confidence, source: 'field', ...metadata } };
}

/** Ten facts: eight salient, one faint, and one fainter. */
async function knowBirds(page: Page, service: ServiceProcess): Promise<void> {
  const present = Array.from({ length: 8 }, (_, index) => seen(`finch${index + 1}`, 1));
  await post(page, service, '/assert/facts', [...present, seen('heron', 0.2), seen('owl', 0.02)]);
}

interface Stored {
  readonly id: string;
  readonly args: string[];
  readonly metadata: Record<string, unknown>;
  readonly validUntil: number | null;
}

async function stored(page: Page, service: ServiceProcess, predicate: string): Promise<Stored[]> {
  const response = await page.request.get(`${service.url}/facts?predicate=${predicate}&limit=1000`, {
    headers,
  });
  return ((await response.json()) as { facts: Stored[] }).facts;
}

async function storedBird(page: Page, service: ServiceProcess, name: string): Promise<Stored | undefined> {
  return (await stored(page, service, 'seen')).find(({ args }) => args[0] === name);
}

function overview(page: Page): Locator {
  return page.getByRole('region', { name: 'Overview' });
}

function detail(page: Page): Locator {
  return page.getByRole('region', { name: 'Detail' });
}

function row(page: Page, grid: string, text: string): Locator {
  return rowsOf(page, grid).filter({ hasText: text });
}

test('an empty memory says so, and follows what others assert @long', async ({ page, service }) => {
  await open(page, service, '/facts');
  await goTo(page, 'Memory');
  await expect(page.getByRole('heading', { name: 'Nothing to remember yet' })).toBeVisible();
  await knowBirds(page, service);
  await expect(page.getByRole('heading', { name: 'Salience of 10 facts' })).toBeVisible();
  await expect(rowsOf(page, 'Most salient facts')).toHaveCount(10);
  await expect(rowsOf(page, 'Most salient facts').last()).toContainText('seen(owl)');
});

test('the histogram shows how salient facts will be if none is used', { tag: '@long' }, async ({
  page,
  service,
}) => {
  await knowBirds(page, service);
  await post(page, service, '/tell', { predicate: 'seen', args: ['swift'], ttl: 2 * 24 * hourMs });
  await open(page, service, '/memory');
  const bars = overview(page).getByRole('img', { name: /^Salience of/ });
  await expect(bars).toHaveAccessibleName(/^Salience of 11 facts\. .*0\.95 to 1: 9$/);
  await overview(page).getByText('7 days', { exact: true }).click();
  await expect(bars).toHaveAccessibleName(/^Salience of 10 facts in 7 days, if none is used\. /);
  await expect(bars).not.toHaveAccessibleName(/0\.95 to 1/);
  await page.reload();
  await expect(overview(page).getByRole('heading')).toHaveText(
    'Salience of 10 facts in 7 days, if none is used',
  );
  await overview(page).getByText('Now', { exact: true }).click();
  await expect(overview(page).getByRole('heading')).toHaveText('Salience of 11 facts');
});

test('facts to be evicted are listed beforehand, and the run reports its effect', async ({
  page,
  service,
}) => {
  await knowBirds(page, service);
  await open(page, service, '/memory');
  await expect(overview(page)).toContainText('Would evict 1 fact');

  await test.step('the threshold is changed by number and by slider', async () => {
    await page.getByRole('textbox', { name: 'Evict below' }).fill('0.25');
    await expect(overview(page)).toContainText('Would evict 2 facts');
    await expect(page).toHaveURL(/threshold=0\.25/);
    await page.getByRole('slider', { name: 'Threshold of salience' }).focus();
    for (let times = 0; times < 5; times++) await page.keyboard.press('ArrowRight');
    await expect(page.getByRole('textbox', { name: 'Evict below' })).toHaveValue('0.3');
    await expect(page).toHaveURL(/threshold=0\.3/);
  });

  const grid = page.getByRole('grid', { name: 'Facts that would be evicted' });
  await test.step('a listed fact is opened and pinned, and leaves the list', async () => {
    await overview(page).getByRole('button', { name: 'List them' }).click();
    await expect(rowsOf(page, 'Facts that would be evicted')).toHaveCount(2);
    await row(page, 'Facts that would be evicted', 'heron').click();
    await grid.focus();
    await page.keyboard.press('Enter');
    await expect(detail(page)).toContainText('seen(heron)');
    await detail(page).getByRole('button', { name: 'Pin' }).click();
    await expect(rowsOf(page, 'Facts that would be evicted')).toHaveCount(1);
    await expect(overview(page)).toContainText('Would evict 1 fact');
    const heron = await storedBird(page, service, 'heron');
    expect(heron?.metadata).toEqual({ confidence: 0.2, source: 'field', pinned: true });
  });

  await test.step('it asks for confirmation, and does nothing if cancelled', async () => {
    await page.getByRole('button', { name: 'Evict 1 fact…' }).click();
    const dialog = page.getByRole('dialog');
    await expect(dialog).toContainText('This retracts 1 faded fact from all scopes');
    await expect(dialog.getByRole('button', { name: 'Keep them' })).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(dialog).toBeHidden();
    expect(await stored(page, service, 'seen')).toHaveLength(10);
  });

  await test.step('it is evicted, with the numbers before and after', async () => {
    await page.getByRole('button', { name: 'Evict 1 fact…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Evict 1 fact' }).click();
    await expect(page.getByText('Evicted 1 faded fact below 0.3.')).toBeVisible();
    await expect(page.getByRole('heading', { name: 'Nothing is below 0.3' })).toBeVisible();
    await expect(page.getByRole('tab', { name: 'Would be evicted' })).toBeFocused();
    await expect(page.getByRole('heading', { name: 'Salience of 9 facts' })).toBeVisible();
    expect(await storedBird(page, service, 'owl')).toBeUndefined();
    expect(await storedBird(page, service, 'heron')).toBeDefined();
    await page.getByRole('tab', { name: 'Runs' }).click();
    await expect(rowsOf(page, 'Runs')).toHaveCount(1);
    await expect(rowsOf(page, 'Runs').first()).toContainText('10 → 9');
    const run = page.getByRole('region', { name: 'Run', exact: true });
    await expect(run.getByRole('img', { name: /^Before: salience of 10 facts/ })).toBeVisible();
    await expect(run.getByRole('img', { name: /^After: salience of 9 facts/ })).toBeVisible();
    await expect(rowsOf(page, 'Evicted facts')).toHaveText(['seen(owl)']);
  });
});

test('a fading fact is boosted, weighed and pinned, and its other metadata stays', { tag: '@long' }, async ({
  page,
  service,
}) => {
  await knowBirds(page, service);
  await open(page, service, '/memory?part=fading');
  await expect(rowsOf(page, 'Fading facts').first()).toContainText('seen(owl)');
  await row(page, 'Fading facts', 'owl').click();
  await expect(detail(page)).toContainText('Uses1');

  await page.getByRole('grid', { name: 'Fading facts' }).focus();
  await page.keyboard.press('b');
  await expect(detail(page)).toContainText('Uses2');
  await page.keyboard.press('p');
  await expect(detail(page).getByText('pinned', { exact: true }).first()).toBeVisible();
  // A pinned fact is not listed as fading.
  await expect(row(page, 'Fading facts', 'owl')).toHaveCount(0);

  // The detail refetches slowly; the next change must not be refused for that.
  await page.route(/\/facts\/[^/?]+$/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 700));
    await route.continue();
  });
  await detail(page).getByRole('textbox', { name: 'Importance' }).fill('0.9');
  await detail(page).getByRole('button', { name: 'Set' }).click();
  await expect
    .poll(async () => (await storedBird(page, service, 'owl'))?.metadata)
    .toEqual({ confidence: 0.02, source: 'field', pinned: true, importance: 0.9 });
  await detail(page).getByRole('button', { name: 'Unpin' }).click();
  await expect(row(page, 'Fading facts', 'owl')).toHaveCount(1);
  expect((await storedBird(page, service, 'owl'))?.metadata).toEqual({
    confidence: 0.02,
    source: 'field',
    importance: 0.9,
  });
});

test('a concurrent change is shown, not overwritten', { tag: '@long' }, async ({
  page,
  service,
  watched,
}) => {
  await knowBirds(page, service);
  await open(page, service, '/memory?part=fading');
  await row(page, 'Fading facts', 'owl').click();
  await expect(detail(page)).toContainText('seen(owl)');
  await page.route('**/assert/fact', async (route) => {
    await post(page, service, '/tell', seen('owl', 0.02, { source: 'book' }));
    await route.continue();
  });
  await detail(page).getByRole('button', { name: 'Pin' }).click();
  const notice = page.getByRole('region', { name: 'Memory', exact: true }).getByRole('alert');
  await expect(notice).toContainText('Request');
  forgive(watched, /409/);
  expect((await storedBird(page, service, 'owl'))?.metadata).toEqual({ confidence: 0.02, source: 'book' });

  await page.unroute('**/assert/fact');
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await expect(notice).toBeHidden();
  await expect(detail(page)).toContainText('book');
  await detail(page).getByRole('button', { name: 'Pin' }).click();
  await expect
    .poll(async () => (await storedBird(page, service, 'owl'))?.metadata)
    .toEqual({ confidence: 0.02, source: 'book', pinned: true });
});

test('forgetting a fact first shows what would no longer be true', async ({ page, service }) => {
  await knowBirds(page, service);
  await post(page, service, '/teach', { text: 'rare(?x) :- seen(?x)' });
  await open(page, service, '/memory?part=fading');
  await row(page, 'Fading facts', 'owl').click();
  await expect(detail(page)).toContainText('seen(owl)');
  await page.getByRole('grid', { name: 'Fading facts' }).focus();
  await page.keyboard.press('Delete');
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('1 conclusion would no longer hold');
  await expect(dialog).toContainText('rare(owl)');
  await dialog.getByRole('button', { name: 'Retract' }).click();
  await expect(dialog).toBeHidden();
  await expect(detail(page)).toHaveCount(0);
  await expect(row(page, 'Fading facts', 'owl')).toHaveCount(0);
});

test('expiring facts are counted by time left, listed, and can be made permanent @long', async ({
  page,
  service,
}) => {
  await knowBirds(page, service);
  const visit = (name: string, ttl: number) => ({ ...seen(name, 1), ttl });
  await post(page, service, '/assert/facts', [
    visit('gull', hourMs / 2),
    visit('tern', 5 * hourMs),
    visit('stork', 72 * hourMs),
    visit('crane', 1_000 * hourMs),
  ]);
  await open(page, service, '/memory');
  const counts = overview(page).getByRole('group', { name: 'Facts that expire' }).getByRole('button');
  await expect(counts).toHaveText(['an hour 1', 'a day 2', 'a week 3']);
  await counts.nth(2).click();
  await expect(page).toHaveURL(/part=expiring.*within=week|within=week.*part=expiring/);
  await expect(rowsOf(page, 'Expiring facts')).toHaveCount(3);
  await expect(rowsOf(page, 'Expiring facts').first()).toContainText('gull');
  await page.getByRole('button', { name: 'Keep seen(gull) for good' }).click();
  await expect(rowsOf(page, 'Expiring facts')).toHaveCount(2);
  await expect(counts).toHaveText(['an hour 0', 'a day 1', 'a week 2']);
  const gull = await storedBird(page, service, 'gull');
  expect(gull?.validUntil).toBeNull();
  expect(gull?.metadata).toEqual({ confidence: 1, source: 'field' });
});

test('similar episodes become a summary that can be restored', async ({ page, service }) => {
  const visits = ['2026-01-01', '2026-01-02', '2026-01-03'].flatMap((day) => [
    { predicate: 'visited', args: ['ada', day], metadata: { mood: 'good' } },
    { predicate: 'visited', args: ['bob', day] },
  ]);
  await post(page, service, '/assert/facts', [
    ...visits,
    { predicate: 'visited', args: ['ada', '2026-01-04'] },
    { predicate: 'likes', args: ['ada', 'tea'] },
    { predicate: 'likes', args: ['ada', 'jam'] },
  ]);
  await open(page, service, '/memory?part=consolidate');

  await test.step('each summary is shown with its members', async () => {
    await expect(page.getByText('7 facts would become 2 summaries')).toBeVisible();
    await row(page, 'Summaries there would be', 'ada').click();
    await expect(row(page, 'Summaries there would be', 'ada')).toContainText('visited_summary(ada, 4)');
    await expect(rowsOf(page, 'Facts that would be replaced')).toHaveCount(4);
    await row(page, 'Summaries there would be', 'bob').click();
    await expect(rowsOf(page, 'Facts that would be replaced')).toHaveCount(3);
  });

  await test.step('the minimum size of a pattern is chosen, and is in the address', async () => {
    await page.getByRole('textbox', { name: 'How many alike make a pattern' }).fill('at least 4');
    await expect(page.getByText('4 facts would become 1 summary')).toBeVisible();
    await expect(page).toHaveURL(/least=4/);
  });

  await test.step('the facts are replaced after confirmation', async () => {
    await page.getByRole('button', { name: 'Consolidate…' }).click();
    const dialog = page.getByRole('dialog');
    await expect(dialog).toContainText('1 summary would take the place of 4 facts');
    await dialog.getByRole('button', { name: 'Consolidate' }).click();
    await expect(page.getByText('Consolidated 4 facts into 1 summary.')).toBeVisible();
    await expect(page.getByRole('heading', { name: 'Nothing to consolidate' })).toBeVisible();
    expect(await stored(page, service, 'visited')).toHaveLength(3);
  });

  await test.step('the facts return unchanged', async () => {
    await page.getByRole('tab', { name: 'Summaries' }).click();
    await row(page, 'Summaries', 'visited_summary(ada, 4)').click();
    await expect(detail(page)).toContainText('4 facts of visited that differ in argument 2');
    await expect(detail(page)).toContainText('2026-01-04');
    await page.getByRole('button', { name: 'Restore visited_summary(ada, 4)' }).click();
    await expect(page.getByRole('heading', { name: 'No summaries' })).toBeVisible();
    await expect(detail(page)).toContainText('This fact is gone');
    const back = await stored(page, service, 'visited');
    expect(back).toHaveLength(7);
    expect(back.find(({ args }) => args.join() === 'ada,2026-01-02')?.metadata).toEqual({ mood: 'good' });
    await page.getByRole('tab', { name: 'Runs' }).click();
    await expect(rowsOf(page, 'Runs')).toHaveCount(2);
    await expect(rowsOf(page, 'Runs').first()).toContainText('Restored 4 facts');
  });

  await test.step('a predicate that rules use is named with a warning', async () => {
    await post(page, service, '/teach', { text: 'fond(?x) :- likes(?x, ?_)' });
    await open(page, service, '/memory?part=consolidate&episodes=likes&least=2');
    await expect(page.getByText('Rules ask for likes')).toBeVisible();
    await expect(page.getByText('2 facts would become 1 summary')).toBeVisible();
  });
});

test('the scope of the space applies, and an address opens its view', async ({ page, service }) => {
  await knowBirds(page, service);
  await post(page, service, '/assert/facts', [
    { ...seen('wren', 1), scope: 'draft' },
    { ...seen('kite', 0.01), scope: 'draft' },
  ]);
  const all = await stored(page, service, 'seen');
  const kite = all.find(({ args }) => args[0] === 'kite');
  await open(page, service, `/memory?scope=draft&part=evict&threshold=0.02&fact=${kite?.id}`);
  await expect(page.getByRole('heading', { name: 'Salience of 2 facts' })).toBeVisible();
  await expect(page.getByRole('tab', { name: 'Would be evicted' })).toHaveAttribute('aria-selected', 'true');
  await expect(rowsOf(page, 'Facts that would be evicted')).toHaveText([/^seen\(kite\)/]);
  await expect(detail(page)).toContainText('scope draft');
  await page.getByRole('tab', { name: 'Most salient' }).click();
  await expect(rowsOf(page, 'Most salient facts')).toHaveCount(2);
  await page.getByRole('button', { name: 'Evict' }).waitFor({ state: 'detached' });
});

test('facts evicted elsewhere disappear at once', async ({ page, service }) => {
  await knowBirds(page, service);
  await open(page, service, '/memory?part=fading');
  await row(page, 'Fading facts', 'owl').click();
  await expect(detail(page)).toContainText('seen(owl)');
  await post(page, service, '/memory/decay', { threshold: 0.05 });
  await expect(detail(page)).toContainText('This fact is gone');
  await expect(page.getByRole('heading', { name: 'Salience of 9 facts' })).toBeVisible();
});

test('the commands of memory are in the palette and on the keyboard', async ({ page, service }) => {
  await knowBirds(page, service);
  await open(page, service, '/facts');
  await expect(page.getByRole('link', { name: 'Memory' })).toBeVisible();
  await page.keyboard.press('Alt+6');
  await expect(page.getByRole('heading', { name: 'Memory', level: 1 })).toBeVisible();
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('would be evicted');
  await page.keyboard.press('Enter');
  await expect(rowsOf(page, 'Facts that would be evicted')).toHaveCount(1);
});

test('a failure says what happened and where to look', async ({ page, service, watched }) => {
  await knowBirds(page, service);
  await page.route('**/memory/stats*', (route) =>
    route.fulfill({
      status: 507,
      contentType: 'application/problem+json',
      json: { code: 'StorageUnavailable', status: 507, detail: 'no room is left', requestId: 'r-507' },
    }),
  );
  await open(page, service, '/memory');
  await expect(page.getByRole('alert')).toContainText('no room is left');
  await expect(page.getByRole('alert')).toContainText('r-507');
  await page.unroute('**/memory/stats*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('heading', { name: 'Salience of 10 facts' })).toBeVisible();
  forgive(watched, /507/);
});

test('Memory has no serious accessibility finding', { tag: '@long' }, async ({ page, service }) => {
  await knowBirds(page, service);
  await post(
    page,
    service,
    '/assert/facts',
    [1, 2, 3].map((day) => ({ predicate: 'visited', args: ['ada', `2026-01-0${day}`] })),
  );
  await open(page, service, '/memory');
  await rowsOf(page, 'Most salient facts').first().click();
  await expect(detail(page).getByRole('heading', { name: 'Salience' })).toBeVisible();
  const shown = {
    'Most salient': page.getByRole('grid', { name: 'Most salient facts' }),
    Fading: page.getByRole('grid', { name: 'Fading facts' }),
    Expiring: page.getByRole('heading', { name: 'Nothing expires so soon' }),
    Consolidate: page.getByText('3 facts would become 1 summary'),
    'Would be evicted': page.getByRole('grid', { name: 'Facts that would be evicted' }),
  };
  for (const [part, content] of Object.entries(shown)) {
    await page.getByRole('tab', { name: part }).click();
    await expect(content).toBeVisible();
    await expectNothingGrave(page, part);
  }
  await page.getByRole('button', { name: 'Evict 1 fact…' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await expectNothingGrave(page, 'the question before an eviction');
  await page.getByRole('dialog').getByRole('button', { name: 'Evict 1 fact' }).click();
  await expect(page.getByRole('dialog')).toBeHidden();
  await page.getByRole('tab', { name: 'Runs' }).click();
  await expect(rowsOf(page, 'Runs')).toHaveCount(1);
  await page.getByText('Table', { exact: true }).click();
  await expectNothingGrave(page, 'Runs');
});
