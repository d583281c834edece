/** Many facts at once: multiple selection, copy, paste, removal; persistent filters; concurrent edits. */
import { type BrowserContext, expect, type Locator, type Page } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { expectNothingGrave } from './accessibility.ts';
import type { ServiceProcess } from './service.ts';
import { forgive, open, outage, rowsOf, test } from './workbench.ts';

const headers = { 'X-Tenant-ID': 'default' };

async function know(page: Page, service: ServiceProcess, count: number): Promise<void> {
  const facts = Array.from({ length: count }, (_, at) => ({
    predicate: 'road',
    args: [`town${String(at).padStart(4, '0')}`, `town${String(at + 1).padStart(4, '0')}`],
  }));
  const response = await page.request.post(`${service.url}/assert/facts`, { headers, data: { facts } });
  expect(response.ok()).toBe(true);
}

async function stored(page: Page, service: ServiceProcess): Promise<number> {
  const response = await page.request.get(`${service.url}/facts?predicate=road&limit=1`, { headers });
  return ((await response.json()) as { total: number }).total;
}

const grid = (page: Page): Locator => page.getByRole('grid', { name: 'Facts' });
const staged = (page: Page): Locator => page.getByRole('region', { name: 'Staged edits' });
const chosen = (page: Page): Locator => page.getByRole('region', { name: 'Selected rows' });

async function mayCopy(context: BrowserContext, service: ServiceProcess): Promise<void> {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: service.url });
}

const clipboard = (page: Page): Promise<string> => page.evaluate(() => navigator.clipboard.readText());

async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate((words) => navigator.clipboard.writeText(words), text);
  await grid(page).focus();
  await page.keyboard.press('ControlOrMeta+v');
}

/** Edits the first argument of the first row. */
async function editFirst(page: Page, text: string): Promise<void> {
  await rowsOf(page, 'Facts').first().getByRole('gridcell').first().click();
  await grid(page).focus();
  await page.keyboard.press('F2');
  await grid(page).locator('input').fill(text);
  await page.keyboard.press('Enter');
  await expect(staged(page)).toContainText('1 staged');
}

test('rows are selected by keyboard and mouse, copied, saved and removed', async ({
  page,
  context,
  service,
}, testInfo) => {
  await mayCopy(context, service);
  await know(page, service, 1_200);
  await open(page, service, '/facts?predicate=road');

  await test.step('Shift extends from the cursor, and Mod+C copies the selection', async () => {
    await rowsOf(page, 'Facts').nth(1).click();
    await grid(page).focus();
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await expect(chosen(page)).toContainText('3 rows selected');
    await page.keyboard.press('ControlOrMeta+c');
    await expect(page.getByText('Copied 3 rows as TSV')).toBeVisible();
    expect(await clipboard(page)).toBe(
      'road\ttown0001\ttown0002\nroad\ttown0002\ttown0003\nroad\ttown0003\ttown0004\n',
    );
    await rowsOf(page, 'Facts')
      .nth(5)
      .click({ modifiers: ['Shift'] });
    await expect(chosen(page)).toContainText('5 rows selected');
    await page.screenshot({ path: testInfo.outputPath('chosen.png') });
  });

  await test.step('Mod adds and removes single rows, by click and by key', async () => {
    const row = (at: number) => rowsOf(page, 'Facts').nth(at);
    await row(3).click({ modifiers: ['ControlOrMeta'] });
    await row(7).click({ modifiers: ['ControlOrMeta'] });
    await expect(chosen(page)).toContainText('5 rows selected');
    await expect(row(3)).toHaveAttribute('aria-selected', 'false');
    await page.keyboard.press('ControlOrMeta+ArrowDown');
    await page.keyboard.press('ControlOrMeta+ArrowDown');
    await page.keyboard.press('Control+Space');
    await expect(chosen(page)).toContainText('6 rows selected');
    await page.keyboard.press('ControlOrMeta+Shift+ArrowDown');
    await expect(chosen(page)).toContainText('7 rows selected');
    await page.keyboard.press('ControlOrMeta+c');
    await expect(page.getByText('Copied 7 rows as TSV')).toBeVisible();
    const towns = (await clipboard(page)).trimEnd().split('\n');
    expect(towns.map((line) => line.split('\t')[1])).toEqual(
      [1, 2, 4, 5, 7, 9, 10].map((at) => `town${String(at).padStart(4, '0')}`),
    );
  });

  await test.step('rows never scrolled to are copied too, and saved', async () => {
    await grid(page).focus();
    await page.keyboard.press('ControlOrMeta+a');
    await expect(chosen(page)).toContainText('1,200 rows selected');
    await chosen(page).getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('menuitem', { name: 'As statements' }).click();
    await expect(page.getByText('Copied 1,200 rows as statements')).toBeVisible();
    const lines = (await clipboard(page)).trimEnd().split('\n');
    expect([lines.length, lines.at(-1)]).toEqual([1_200, 'road(town1199, town1200).']);
    const saving = page.waitForEvent('download');
    await chosen(page).getByRole('button', { name: 'Save to a file' }).click();
    await page.getByRole('menuitem', { name: 'As NDJSON' }).click();
    const file = await saving;
    expect(file.suggestedFilename()).toBe('road.ndjson');
    expect(
      readFileSync(await file.path(), 'utf8')
        .trimEnd()
        .split('\n'),
    ).toHaveLength(1_200);
  });

  await test.step('End at the end of a row goes to the last one; Escape clears the selection', async () => {
    await grid(page).focus();
    await page.keyboard.press('Escape');
    await expect(chosen(page)).toBeHidden();
    await page.keyboard.press('End');
    await page.keyboard.press('End');
    await expect(rowsOf(page, 'Facts').last()).toContainText('town1200');
    await page.keyboard.press('Shift+ArrowUp');
    await page.keyboard.press('Delete');
    await expect(staged(page)).toContainText('2 removed');
    await staged(page).getByRole('button', { name: 'Apply' }).click();
    await expect(page.getByText('Applied: 2 removed')).toBeVisible();
    expect(await stored(page, service)).toBe(1_198);
  });
});

test('pasted rows are staged, and errors are reported by line', async ({
  page,
  context,
  service,
}, testInfo) => {
  await mayCopy(context, service);
  await know(page, service, 3);
  await open(page, service, '/facts?predicate=road');
  await expect(rowsOf(page, 'Facts')).toHaveCount(3);
  await paste(page, 'here\tthere\nroad(far, away)\n');
  const dialog = page.getByRole('dialog', { name: 'Not all rows can be pasted' });
  await expect(dialog).toContainText('1 row can be staged, 1 cannot');
  await expect(dialog.getByRole('listitem')).toContainText('Line 2: 1 field, where road has 2');
  await page.screenshot({ path: testInfo.outputPath('pasted.png') });
  await expectNothingGrave(page, 'what cannot be pasted');
  await dialog.getByRole('button', { name: 'Stage 1 row' }).click();
  await expect(staged(page)).toContainText('1 added');
  await paste(page, 'road(x, y).\n-road(y, x).');
  await expect(staged(page)).toContainText('3 added');
  await page.keyboard.press('ControlOrMeta+z');
  await expect(staged(page)).toContainText('1 added');
  expect(await stored(page, service)).toBe(3);
});

test('a filter is switched off and on without being lost, even over a reload', async ({
  page,
  service,
}, testInfo) => {
  await know(page, service, 30);
  await open(page, service, '/facts?predicate=road');
  const chips = page.getByRole('list', { name: 'Filters' });
  await page.getByLabel('Filter facts by text').fill('town0007');
  await expect(rowsOf(page, 'Facts')).toHaveCount(2);
  await page.getByText('False', { exact: true }).click();
  await expect(page.getByText('No fact matches')).toBeVisible();
  await chips.getByRole('button', { name: 'is false', exact: true }).click();
  await expect(rowsOf(page, 'Facts')).toHaveCount(2);
  const text = chips.getByRole('button', { name: 'contains town0007', exact: true });
  await text.click();
  await expect(text).toHaveAttribute('aria-pressed', 'false');
  await expect(page.getByRole('status').filter({ hasText: '30 facts' })).toBeVisible();
  await page.reload();
  await expect(text).toHaveAttribute('aria-pressed', 'false');
  await page.screenshot({ path: testInfo.outputPath('chips.png') });
  await expectNothingGrave(page, 'chips of filters');
  await text.click();
  await expect(rowsOf(page, 'Facts')).toHaveCount(2);
  await expect(page).toHaveURL(/q=town0007/);
  await chips.getByRole('button', { name: 'Remove the filter: contains town0007' }).click();
  await expect(text).toBeHidden();
  await expect(page.getByRole('status').filter({ hasText: '30 facts' })).toBeVisible();
});

test('the second of two windows that edit the same fact is warned and overwrites nothing', async ({
  page,
  browser,
  service,
  watched,
}) => {
  await know(page, service, 3);
  const other = await (await browser.newContext()).newPage();
  for (const window of [page, other]) await open(window, service, '/facts?predicate=road');
  await editFirst(page, 'mine');
  await editFirst(other, 'theirs');
  await staged(other).getByRole('button', { name: 'Apply' }).click();
  await expect(other.getByText('Applied: 1 added, 1 removed')).toBeVisible();
  await expect(page.getByRole('region', { name: 'Conflicts' })).toContainText('met a change made elsewhere');
  await expect(staged(page).getByRole('button', { name: 'Apply' })).toBeDisabled();
  await expect(staged(page)).toContainText('1 staged');
  await other.context().close();
  // The browser reports that the dry run is refused: the fact has changed, and then is gone.
  const refused = /status of 40[49]/;
  expect(watched.complaints.splice(0).filter((text) => !refused.test(text))).toEqual([]);
});

test('a failed Apply changes nothing, says why, and can be retried', { tag: '@long' }, async ({
  page,
  service,
  watched,
}) => {
  await know(page, service, 3);
  await open(page, service, '/facts?predicate=road');
  await editFirst(page, 'changed');
  await expect(staged(page)).toContainText('No conclusion would change');
  await service.kill();
  await staged(page).getByRole('button', { name: 'Apply' }).click();
  await expect(staged(page).getByRole('alert')).toContainText('The service cannot be reached');
  await expect(staged(page)).toContainText('1 staged');
  await service.start();
  await expect(staged(page).getByRole('button', { name: 'Apply' })).toBeEnabled();
  expect(await stored(page, service)).toBe(3);
  await staged(page).getByRole('button', { name: 'Apply' }).click();
  await expect(page.getByText('Applied: 1 added, 1 removed')).toBeVisible();
  forgive(watched, outage);
});
