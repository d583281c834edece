/** Knowledge as files, from the workbench: mapped, checked, imported, undone, exported, cancelled. */
import AxeBuilder from '@axe-core/playwright';
import { expect, type Locator, type Page } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { goTo, open, rowsOf, test } from './workbench.ts';

async function choose(page: Page, name: string, text: string | Buffer): Promise<Locator> {
  const dialog = page.getByRole('dialog');
  await dialog
    .getByLabel('File to import')
    .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  await expect(dialog.getByText(name)).toBeVisible();
  return dialog;
}

test('a table with a header is mapped, imported, seen, and undone but for what changed since', async ({
  page,
  service,
}) => {
  await open(page, service, '/facts');
  await page.getByRole('button', { name: 'Import a file…' }).last().click();
  const dialog = await choose(
    page,
    'family.csv',
    'child;year;parent\nbob;1970;alice\n"carol, the young";1971;bob\n\ndave;1972\neve;1973;bob\n',
  );
  await expect(page).toHaveURL(/transfer=import/);
  const rows = dialog.getByRole('region', { name: 'The first rows' });
  await expect(rows).toContainText('family(bob, 1970, alice)');
  await page.screenshot({ path: '/tmp/dlg/preview-1.png' });
  await dialog.getByRole('textbox', { name: "Predicate's name" }).fill('parent');
  await dialog.getByRole('button', { name: 'Leave out year' }).click();
  await dialog.getByRole('button', { name: 'Move parent forward' }).click();
  await expect(rows).toContainText('parent(alice, bob)');
  await expect(rows).toContainText('fails: the row has 2 columns, the header 3');
  await page.screenshot({ path: '/tmp/dlg/preview-2.png' });

  await dialog.getByRole('button', { name: 'Check' }).click();
  await expect(dialog.getByText('Checked; nothing was stored')).toBeVisible();
  await page.screenshot({ path: '/tmp/dlg/checked.png' });
  await dialog.getByRole('button', { name: 'Import', exact: true }).click();
  await expect(dialog.getByText('Imported family.csv')).toBeVisible();
  await page.screenshot({ path: '/tmp/dlg/imported.png' });
  const failures = dialog.getByRole('region', { name: 'Rows that failed' });
  await expect(failures.getByRole('row').nth(1)).toContainText('5');
  await dialog.getByRole('button', { name: 'Done' }).click();
  await expect(rowsOf(page, 'Facts')).toHaveCount(3);
  await page.screenshot({ path: '/tmp/dlg/grid.png' });
});
