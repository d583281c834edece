/** Adding facts: leaving the dialog, keeping its draft, and tables from a spreadsheet. */
import { expect, type Page } from '@playwright/test';
import { clearEditor, open, rowsOf, test, write } from './workbench.ts';

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Add facts' });
const label = 'Facts as statements';

async function openDialog(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add facts' }).first().click();
  await expect(page.getByRole('textbox', { name: label })).toBeFocused();
}

/** Pastes into the focused element, as the browser does. */
async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate((pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', pasted);
    const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
    (document.activeElement ?? document.body).dispatchEvent(event);
  }, text);
}

test('Escape closes the dialog from its editor, after what is open in the editor', async ({
  page,
  service,
}) => {
  await open(page, service, '/facts');
  await openDialog(page);
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toBeHidden();
  await openDialog(page);
  await page.keyboard.press('ControlOrMeta+f');
  await expect(page.locator('.find-widget.visible')).toBeVisible();
  await clearEditor(page, label);
  await page.keyboard.press('Escape');
  await expect(page.locator('.find-widget.visible')).toHaveCount(0);
  await expect(dialog(page)).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toBeHidden();
});

test('a draft shows its age, and is deleted for good when it is cleared @long', async ({ page, service }) => {
  await open(page, service, '/facts');
  await openDialog(page);
  await write(page, label, 'parent(alice, bob).');
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toBeHidden();
  await page.reload();
  await openDialog(page);
  await expect(dialog(page).locator('.view-lines')).toContainText('parent(alice,');
  await expect(dialog(page)).toContainText(/Draft from /);
  await dialog(page).getByRole('button', { name: 'Clear' }).click();
  await expect(dialog(page).locator('.view-lines')).not.toContainText('parent');
  await expect(dialog(page)).not.toContainText('Draft from');
  await page.reload();
  await openDialog(page);
  await expect(dialog(page).locator('.view-lines')).not.toContainText('parent');
  await expect(dialog(page)).not.toContainText('Draft from');
});

const sheet = [
  'person\tpaid\tnote',
  'ann\t1,5\t"two\nlines"',
  'bob\t2,25\t5" pipe',
  'cyd\t3',
  'dan\t4\t',
].join('\r\n');

test('a spreadsheet pasted into the dialog becomes facts by its columns, and can be undone', async ({
  page,
  service,
}) => {
  await open(page, service, '/facts');
  await openDialog(page);
  await paste(page, sheet);
  await expect(dialog(page)).toContainText('This looks like a table of 5 rows and 3 columns');
  await dialog(page).getByRole('button', { name: 'Read as a table…' }).click();
  const importing = page.getByRole('dialog', { name: /^Import into/ });
  await expect(importing.getByRole('switch', { name: 'First row names the columns' })).toBeChecked();
  await importing.getByLabel("Predicate's name").fill('payment');
  await importing.getByRole('button', { name: 'Move paid forward' }).click();
  const rows = importing.getByRole('region', { name: 'The first rows' });
  await expect(rows).toContainText('payment("1,5", ann, "two\\nlines")');
  await expect(rows).toContainText('the row has 2 columns, the header 3');
  await importing.getByRole('button', { name: 'Import', exact: true }).click();
  await expect(importing).toContainText('1 row that failed');
  const headers = { 'X-Tenant-ID': 'default' };
  const listed = () => page.request.get(`${service.url}/facts?predicate=payment`, { headers });
  const told = await listed();
  const { facts } = (await told.json()) as { facts: { args: string[] }[] };
  expect(facts.map(({ args }) => args).sort(([a = ''], [b = '']) => (a < b ? -1 : 1))).toEqual([
    ['1,5', 'ann', 'two\nlines'],
    ['2,25', 'bob', '5" pipe'],
    ['4', 'dan', ''],
  ]);
  await importing.getByRole('button', { name: /^Undo the import/ }).click();
  await expect.poll(async () => (await (await listed()).json()) as object).toMatchObject({ total: 0 });
  await page.keyboard.press('Escape');
  await openDialog(page);
  await expect(dialog(page).locator('.view-lines')).not.toContainText('person');
  await expect(rowsOf(page, 'Facts')).toHaveCount(0);
});
