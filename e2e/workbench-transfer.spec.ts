/** Import and export in the workbench: mapping, check, import, undo, cancel, export, reading back. */
import { expect, type Locator, type Page } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { expectNothingGrave } from './accessibility.ts';
import type { ServiceProcess } from './service.ts';
import { open, rowsOf, test } from './workbench.ts';

/** Chooses a file in the open dialog. */
async function choose(page: Page, name: string, text: string): Promise<Locator> {
  const dialog = page.getByRole('dialog');
  await dialog
    .getByLabel('File to import')
    .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  await expect(dialog.getByText(name)).toBeVisible();
  return dialog;
}

async function importNow(dialog: Locator, name: string): Promise<void> {
  await dialog.getByRole('button', { name: 'Import', exact: true }).click();
  await expect(dialog.getByText(`Imported ${name}`)).toBeVisible();
}

async function send(service: ServiceProcess, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Tenant-ID': 'default' },
    body: JSON.stringify(body),
  });
  expect(response.ok, `${path}: ${response.status}`).toBe(true);
  return response.json();
}

/** A count in the shown outcome. */
function count(dialog: Locator, label: string): Locator {
  return dialog.getByText(label, { exact: true }).locator('..').getByRole('definition');
}

test('a table with a header is mapped, checked, imported, and undone except for later changes', async ({
  page,
  service,
}) => {
  await open(page, service, '/facts?transfer=import');
  const dialog = await choose(
    page,
    'family.csv',
    'child;year;parent\nbob;1970;alice\n"carol, the young";1971;bob\n\ndave;1972\neve;1973;bob\n',
  );
  const rows = dialog.getByRole('region', { name: 'The first rows' });
  await expect(rows).toContainText('family(bob, 1970, alice)');
  await dialog.getByRole('textbox', { name: "Predicate's name" }).fill('parent');
  await dialog.getByRole('button', { name: 'Leave out year' }).click();
  await dialog.getByRole('button', { name: 'Move parent forward' }).click();
  await expect(rows).toContainText('parent(alice, bob)');
  await expect(rows).toContainText('fails: the row has 2 columns, the header 3');

  await dialog.getByRole('button', { name: 'Check' }).click();
  await expect(dialog.getByText('Checked; nothing was stored')).toBeVisible();
  await expect(count(dialog, 'would be asserted')).toHaveText('3');
  await expect(rowsOf(page, 'Facts')).toHaveCount(0);

  await importNow(dialog, 'family.csv');
  await expect(count(dialog, 'failed')).toHaveText('1');
  const failures = dialog.getByRole('region', { name: 'Rows that failed' });
  await expect(failures.getByRole('row').nth(1)).toHaveText('5the row has 2 columns, the header 3');
  await dialog.getByRole('button', { name: 'Done' }).click();
  await expect(dialog).toBeHidden();
  await expect(page).not.toHaveURL(/transfer/);
  await expect(rowsOf(page, 'Facts')).toHaveCount(3);
  await expect(rowsOf(page, 'Facts').filter({ hasText: 'parent(bob, "carol, the young")' })).toHaveCount(1);

  await send(service, '/tell', {
    predicate: 'parent',
    args: ['bob', 'eve'],
    metadata: { source: 'a letter' },
  });
  // A fresh change must not appear to lie in the future.
  await expect(rowsOf(page, 'Facts').filter({ hasText: 'eve' })).toContainText(/just now|ago/);
  await page.getByRole('button', { name: 'Import a file…' }).click();
  await page.getByRole('button', { name: 'Undo the import of family.csv' }).click();
  await expect(page.getByRole('dialog')).toContainText('undone: 2 facts retracted, 1 kept');
  await page.keyboard.press('Escape');
  await expect(rowsOf(page, 'Facts')).toHaveCount(1);
  await expect(rowsOf(page, 'Facts').first()).toContainText('parent(bob, eve)');
});

test('a file dropped on the facts is previewed, and bad lines are named by their number', async ({
  page,
  service,
}) => {
  await open(page, service, '/facts');
  await expect(page.getByText('No facts yet')).toBeVisible();
  const text =
    '{"predicate":"likes","args":["bob","tea"],"scope":"draft"}\nno json\n{"rule":"q(?x) :- likes(?x, ?_)"}';
  const transfer = await page.evaluateHandle((content) => {
    const data = new DataTransfer();
    data.items.add(new File([content], 'kb.ndjson'));
    return data;
  }, text);
  const grid = page.getByRole('region', { name: 'Facts', exact: true });
  await grid.dispatchEvent('dragover', { dataTransfer: transfer });
  await expect(page.getByText('Drop the file to import it')).toBeVisible();
  await grid.dispatchEvent('drop', { dataTransfer: transfer });
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByText('kb.ndjson')).toBeVisible();
  await expect(dialog.getByRole('region', { name: 'The first rows' })).toContainText('likes(bob, tea)');
  await importNow(dialog, 'kb.ndjson');
  await expect(count(dialog, 'asserted')).toHaveText('1');
  await expect(count(dialog, 'rules taught')).toHaveText('1');
  await expect(
    dialog.getByRole('region', { name: 'Rows that failed' }).getByRole('row').nth(1),
  ).toContainText(/^2/);
});

test('an export can be read back, and a download names its content', async ({ page, service }) => {
  await send(service, '/assert/facts', [
    { predicate: 'p', args: ['a, "b"', 'ü'], scope: 's' },
    { predicate: 'p', args: ['c', 'd'], truthVal: false },
    { predicate: 'other', args: ['x'] },
  ]);
  // The save dialog cannot be answered here; without it the browser downloads.
  await page.addInitScript(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
  await open(page, service, '/facts?predicate=p&transfer=export');
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByText('Nothing is left out')).toBeVisible();
  const downloading = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Export', exact: true }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe('default-p.ndjson');
  const text = readFileSync(await download.path(), 'utf8');
  expect(text.trim().split('\n')).toHaveLength(2);
  await expect(dialog).toBeHidden();

  await send(service, '/retract/pattern', { predicate: 'p', args: ['?x', '?y'] });
  await expect(page.getByText('No stored facts')).toBeVisible();
  await open(page, service, '/facts?predicate=p&transfer=import');
  await importNow(await choose(page, 'back.ndjson', text), 'back.ndjson');
  await page.keyboard.press('Escape');
  await expect(rowsOf(page, 'Facts')).toHaveCount(2);
  await expect(rowsOf(page, 'Facts').filter({ hasText: 'a, "b"' })).toContainText('s');
});

test('an import continues when its dialog is closed, can be cancelled, and its partial result undone', async ({
  page,
  service,
}) => {
  await open(page, service, '/facts?transfer=import');
  const lines = Array.from({ length: 400_000 }, (_, index) => `n${index},${index * 7}`).join('\n');
  const dialog = await choose(page, 'many.csv', lines);
  await dialog.getByRole('button', { name: 'Import', exact: true }).click();
  await expect(dialog.getByRole('progressbar')).toBeVisible();
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
  const notice = page.getByRole('region', { name: 'Import', exact: true });
  await expect(notice).toContainText('many.csv');
  // A part is stored by now.
  await expect(page.getByRole('option', { name: /many/ })).toBeVisible();
  await notice.getByRole('button', { name: 'Cancel' }).click();
  await expect(notice).toContainText(/cancelled, (?:more than )?[\d,]+ facts stored/);
  await notice.getByRole('button', { name: 'Show' }).click();
  await expect(dialog).toContainText('had been asserted by then');
  await dialog.getByRole('button', { name: 'Undo the import of many.csv' }).click();
  await expect(dialog).toContainText(/Undone: [\d,]+ facts retracted\./);
  await page.keyboard.press('Escape');
  await expect(page.getByText('No facts yet')).toBeVisible();
});

test('the dialogs have no serious accessibility finding', { tag: '@long' }, async ({ page, service }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await open(page, service, '/facts?transfer=import');
  const dialog = await choose(page, 'p.tsv', 'from\tto\tnote\na\tb\tx\nc\td\n');
  await dialog.getByRole('button', { name: 'Check' }).click();
  await expect(dialog.getByText('Checked; nothing was stored')).toBeVisible();
  await expectNothingGrave(page, 'the preview and its check');
  await importNow(dialog, 'p.tsv');
  await open(page, service, '/facts?transfer=export');
  await expect(page.getByRole('dialog')).toContainText('Export from');
  await expectNothingGrave(page, 'the export');
});
