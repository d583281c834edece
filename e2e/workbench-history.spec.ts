/** One history of all changes: undo and redo from any view, each step by its name. */
import { expect, type Page } from '@playwright/test';
import { expectNothingGrave } from './accessibility.ts';
import type { ServiceProcess } from './service.ts';
import { goTo, open, rowsOf, test, write } from './workbench.ts';

const headers = { 'X-Tenant-ID': 'default' };

async function post(page: Page, service: ServiceProcess, path: string, data: object): Promise<void> {
  const response = await page.request.post(service.url + path, { headers, data });
  expect(response.ok(), await response.text()).toBe(true);
}

async function count(page: Page, service: ServiceProcess, predicate: string): Promise<number> {
  const response = await page.request.get(`${service.url}/facts?predicate=${predicate}`, { headers });
  return ((await response.json()) as { total: number }).total;
}

async function rules(page: Page, service: ServiceProcess): Promise<string[]> {
  const response = await page.request.get(`${service.url}/rules`, { headers });
  const { rules: found } = (await response.json()) as {
    rules: { text: string; name: string; enabled: boolean }[];
  };
  return found.map(({ name, enabled }) => `${name}${enabled ? '' : ' off'}`);
}

async function press(page: Page, keys: string): Promise<void> {
  await page.keyboard.press(keys);
}

/** Asserts through the dialog. */
async function assert(page: Page, statements: string): Promise<void> {
  await page.getByRole('button', { name: 'Add facts' }).first().click();
  await write(page, 'Facts as statements', statements);
  await page.getByRole('button', { name: /^Assert/ }).click();
  await expect(page.getByRole('dialog', { name: 'Add facts' })).toBeHidden();
}

test('asserted, disabled and deleted items are undone step by step, from any view', async ({
  page,
  service,
}) => {
  await post(page, service, '/tell', { predicate: 'parent', args: ['known', 'before'] });
  await post(page, service, '/teach', {
    text: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)',
    name: 'grand',
  });
  await open(page, service, '/facts?predicate=parent');
  await assert(page, 'parent(alice, bob). parent(bob, ann). parent(known, before).');
  expect(await count(page, service, 'parent')).toBe(3);

  await goTo(page, 'Rules');
  const row = rowsOf(page, 'Rules').first();
  await row.getByRole('gridcell').nth(2).click();
  await press(page, 'e');
  await expect.poll(() => rules(page, service)).toEqual(['grand off']);
  await expect(row.getByRole('switch')).not.toBeChecked();
  await page.getByRole('grid', { name: 'Rules' }).focus();
  await press(page, 'Delete');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect.poll(() => rules(page, service)).toEqual([]);

  await test.step('the palette and the list name each step', async () => {
    await press(page, 'ControlOrMeta+k');
    await page.getByPlaceholder('Commands, predicates, rules').fill('undo');
    await expect(page.getByRole('option', { name: 'Undo: deleted the rule grand' })).toBeVisible();
    await page.getByPlaceholder('Commands, predicates, rules').fill('history');
    await page.getByRole('option', { name: /^Undo history/ }).click();
    const steps = page.getByRole('list', { name: 'Steps, the newest first' }).getByRole('listitem');
    await expect(steps).toHaveText([
      'deleted the rule grand',
      'switched off the rule grand',
      'asserted 3 facts',
    ]);
    await expectNothingGrave(page, 'the history');
    await press(page, 'Escape');
  });

  await press(page, 'ControlOrMeta+z');
  await expect.poll(() => rules(page, service)).toEqual(['grand off']);
  await press(page, 'ControlOrMeta+z');
  await expect.poll(() => rules(page, service)).toEqual(['grand']);
  await goTo(page, 'Ask');
  await page.getByRole('heading').first().click();
  await goTo(page, 'Facts');
  await press(page, 'ControlOrMeta+z');
  // Facts known before stay.
  await expect.poll(() => count(page, service, 'parent')).toBe(1);
  for (let again = 0; again < 3; again += 1) {
    await press(page, 'ControlOrMeta+y');
    await expect(page.getByText(/^Redone/)).toHaveCount(again + 1);
  }
  expect(await count(page, service, 'parent')).toBe(3);
  expect(await rules(page, service)).toEqual([]);
});

test("a step blocked by another user's change says why, and the one before it can still be undone", async ({
  page,
  service,
  watched,
}) => {
  await open(page, service, '/facts');
  await assert(page, 'p(a).');
  await assert(page, 'p(b).');
  await post(page, service, '/tell', { predicate: 'p', args: ['b'], metadata: { source: 'theirs' } });
  await page.getByRole('heading').first().click();
  await press(page, 'ControlOrMeta+z');
  await press(page, 'ControlOrMeta+k');
  await page.getByPlaceholder('Commands, predicates, rules').fill('history');
  await page.getByRole('option', { name: /^Undo history/ }).click();
  const steps = page.getByRole('list', { name: 'Steps, the newest first' }).getByRole('listitem');
  await expect(steps.first()).toContainText('asserted p(b)');
  await expect(steps.first()).toContainText('Cannot be undone:');
  await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => count(page, service, 'p')).toBe(1);
  await expect(steps.first()).toContainText('asserted p(a)');
  // The refused step is the browser's only error.
  expect(watched.complaints.splice(0)).toHaveLength(1);
});
