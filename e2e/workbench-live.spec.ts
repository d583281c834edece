/** The workbench stays current: with changes made elsewhere, a service that restarts, and many facts. */
import { expect } from '@playwright/test';
import { clearEditor, forgive, goTo, open, openSample, outage, rowsOf, test } from './workbench.ts';

const headers = { 'X-Tenant-ID': 'default' };

test('a change made elsewhere appears in facts, answers and the age of a proof', async ({
  page,
  service,
}) => {
  await openSample(page, service);
  await open(page, service, '/ask?question=parent(ruth, ?who)&why=parent(ruth, anna)');
  await expect(rowsOf(page, 'Answers')).toHaveCount(3);
  await expect(page.getByRole('tree', { name: 'Proof' })).toBeVisible();

  await page.request.post(`${service.url}/tell`, {
    headers,
    data: { predicate: 'mother', args: ['ruth', 'zoe'] },
  });
  await expect(rowsOf(page, 'Answers').filter({ hasText: 'zoe' })).toBeVisible();
  await expect(page.getByText('The knowledge has moved on since this was proved')).toBeVisible();
  await page.getByRole('button', { name: 'Prove again' }).click();
  await expect(page.getByText('The knowledge has moved on since this was proved')).toBeHidden();

  await open(page, service, '/facts?predicate=mother&q=zoe');
  await expect(rowsOf(page, 'Facts')).toHaveCount(1);
  await page.request.post(`${service.url}/forget`, {
    headers,
    data: { predicate: 'mother', args: ['ruth', 'zoe'] },
  });
  await expect(page.getByText('No fact matches')).toBeVisible();
});

test('the workbench reports an unreachable service, and recovers when it is back', async ({
  page,
  service,
  watched,
}) => {
  await openSample(page, service);
  await open(page, service, '/facts?predicate=mother');
  await expect(rowsOf(page, 'Facts').first()).toBeVisible();
  // It stops while the page fetches a change.
  let go: () => void = () => undefined;
  const written = new Promise<void>((resolve) => (go = resolve));
  await page.route('**/facts?*', async (route) => {
    await written;
    await service.stop();
    await route.abort('connectionrefused');
  });
  await page.request.post(`${service.url}/tell`, {
    headers,
    data: { predicate: 'mother', args: ['ruth', 'zoe'] },
  });
  go();
  await expect(page.getByText('The service cannot be reached.').first()).toBeVisible();
  await expect(page.getByText('Not connected')).toBeVisible();
  // Shown data stays; new requests report the failure with its request id.
  await expect(page.getByText('These facts may be out of date.')).toContainText('Request workbench-');
  await expect(rowsOf(page, 'Facts').first()).toBeVisible();
  await page.getByRole('option', { name: /^father/ }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'Request workbench-' })).toBeVisible();

  await page.unroute('**/facts?*');
  await service.start();
  await expect(page.getByText('The service cannot be reached.')).toBeHidden();
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await expect(rowsOf(page, 'Facts').first()).toBeVisible();
  forgive(watched, outage);
});

test('ten thousand facts have correct counts, and the last row is one key away', async ({
  page,
  service,
}) => {
  const facts = Array.from({ length: 10_000 }, (_, index) => ({
    predicate: 'item',
    args: [String(index).padStart(5, '0')],
  }));
  await page.request.post(`${service.url}/assert/facts`, { headers, data: { facts } });
  await open(page, service, '/facts?predicate=item');
  const grid = page.getByRole('grid', { name: 'Facts' });
  await expect(grid).toHaveAttribute('aria-rowcount', '10001');
  await expect(rowsOf(page, 'Facts').first()).toContainText('00000');
  expect(await rowsOf(page, 'Facts').count()).toBeLessThan(120);

  await grid.focus();
  await page.keyboard.press('ControlOrMeta+End');
  const last = grid.locator('[aria-rowindex="10001"]');
  await expect(last).toContainText('09999');
  await page.keyboard.press('PageUp');
  await expect(grid.locator('[aria-selected="true"]')).not.toHaveAttribute('aria-rowindex', '10001');
  await page.keyboard.press('ControlOrMeta+Home');
  await expect(grid.locator('[aria-rowindex="2"]')).toContainText('00000');
});

test('an outline of a proof of thousands of steps renders only visible lines @long', async ({
  page,
  service,
}) => {
  const length = 2_000;
  const facts = Array.from({ length }, (_, index) => ({
    predicate: 'next',
    args: [`p${index}`, `p${index + 1}`],
  }));
  await page.request.post(`${service.url}/assert/facts`, { headers, data: { facts } });
  for (const text of ['reach(?x, ?y) :- next(?x, ?y)', 'reach(?x, ?z) :- next(?x, ?y), reach(?y, ?z)'])
    await page.request.post(`${service.url}/teach`, { headers, data: { text } });
  await open(page, service, `/proof?question=reach(p0, p${length})`);
  const tree = page.getByRole('tree', { name: 'Proof' });
  await expect(tree.getByRole('treeitem').first()).toContainText(`reach(p0, p${length})`);
  await page.getByRole('button', { name: 'Unfold all' }).click();
  await tree.focus();
  await page.keyboard.press('End');
  await expect(tree.locator('[aria-selected="true"]')).toContainText(`next(p${length - 1}, p${length})`);
  expect(await tree.getByRole('treeitem').count()).toBeLessThan(120);
});

test('the typed question is asked, however quickly it is sent @long', async ({ page, service }) => {
  await openSample(page, service);
  for (const who of ['ada', 'emil', 'jonas', 'clio']) {
    await open(page, service, '/ask');
    await clearEditor(page, 'Question');
    await page.keyboard.type(`ancestor(?who, ${who})`);
    await page.keyboard.press('Control+Enter');
    await expect(page).toHaveURL(new RegExp(`question=ancestor.*${who}`));
    await expect(page.getByLabel('Question').first()).toContainText(`ancestor(?who, ${who})`);
    await expect(rowsOf(page, 'Answers')).not.toHaveCount(0);
  }

  // With the editor loaded, the dialog opens at once.
  await goTo(page, 'Facts');
  await page.getByRole('button', { name: 'Add facts', exact: true }).click();
  await expect(page.getByRole('textbox', { name: 'Facts as statements' })).toBeFocused();
  await page.keyboard.type('mother(zoe, pia).');
  await page.keyboard.press('Control+Enter');
  await expect(page.getByText('1 fact asserted')).toBeVisible();

  await page.keyboard.press('Control+k');
  await page.keyboard.type('settings');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/settings/);
});
