/** Details beside the rows on a wide screen, and the choice of columns in the tables of answers, rules and calls. */
import { expect } from '@playwright/test';
import { ask, goTo, open, openSample, rowsOf, test } from './workbench.ts';

test.use({ viewport: { width: 1920, height: 1080 } });

test('on a wide screen answers and rules have their details beside them until they are closed @long', async ({
  page,
  service,
}) => {
  await openSample(page, service);
  await goTo(page, 'Ask');
  await ask(page, 'ancestor(?who, ?of)');
  const detail = page.getByRole('region', { name: 'Detail' });
  await expect(detail.getByText('No answer is chosen')).toBeVisible();
  const first = rowsOf(page, 'Answers').first();
  const who = await first.getByRole('gridcell').first().innerText();
  await first.getByRole('gridcell').first().click();
  await expect(detail.getByRole('link', { name: who, exact: true }).first()).toBeVisible();
  await detail.getByRole('button', { name: 'Close the detail' }).click();
  await expect(detail).toBeHidden();
  await first.getByRole('gridcell').first().click();
  await expect(detail).toBeVisible();
  // A proof takes the place of the details.
  await detail.getByRole('button', { name: 'Why', exact: true }).click();
  await expect(page.getByRole('tree').getByRole('treeitem').first()).toBeVisible();
  await expect(detail).toBeHidden();

  await goTo(page, 'Rules');
  await expect(detail.getByText('No rule is chosen')).toBeVisible();
  await rowsOf(page, 'Rules').first().getByRole('gridcell').nth(1).click();
  await expect(detail.getByText('Concludes')).toBeVisible();
  await detail.getByRole('button', { name: 'Edit' }).click();
  await expect(page).toHaveURL(/rule=/);
});

test('columns of answers and rules are chosen, kept, and follow the rows again @long', async ({
  page,
  service,
}) => {
  await openSample(page, service);
  await goTo(page, 'Ask');
  await ask(page, 'ancestor(?who, ?of)');
  const heads = () => page.getByRole('grid').getByRole('columnheader').allInnerTexts();
  await expect
    .poll(heads)
    .toEqual([expect.stringContaining('?who'), expect.stringContaining('?of'), 'Proof']);
  const choose = page.getByRole('button', { name: 'Choose the columns' });
  await choose.click();
  await page.getByRole('menuitemcheckbox', { name: '?of' }).click();
  await expect.poll(heads).toEqual([expect.stringContaining('?who'), 'Proof']);
  await page.reload();
  await expect.poll(heads).toEqual([expect.stringContaining('?who'), 'Proof']);
  await choose.click();
  await page.getByRole('menuitem', { name: 'All variables' }).click();
  await expect.poll(heads).toHaveLength(3);

  await goTo(page, 'Rules');
  await expect.poll(heads).not.toContain('Scope');
  await choose.click();
  await page.getByRole('menuitemcheckbox', { name: 'Scope' }).click();
  await expect.poll(heads).toContain('Scope');
  await page.getByRole('menuitem', { name: 'Where rules differ' }).click();
  await expect.poll(heads).not.toContain('Scope');
});

test('without a wide screen there is no pane until it is asked for @long', async ({ page, service }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await openSample(page, service);
  await open(page, service, '/ask?question=ancestor(?who, ?of)');
  await rowsOf(page, 'Answers').first().click();
  await expect(page.getByRole('region', { name: 'Detail' })).toHaveCount(0);
});
