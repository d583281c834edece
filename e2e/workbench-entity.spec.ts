/** Entities: the page of a constant, its neighbourhood by keyboard, aliases, and a merge with its undo. */
import { expect, type Locator, type Page } from '@playwright/test';
import { expectNothingGrave } from './accessibility.ts';
import type { ServiceProcess } from './service.ts';
import { forgive, open, rowsOf, test } from './workbench.ts';

const headers = { 'X-Tenant-ID': 'default' };

async function post(page: Page, service: ServiceProcess, path: string, data: unknown): Promise<void> {
  const response = await page.request.post(`${service.url}${path}`, { headers, data });
  expect(response.ok(), `${path}: ${await response.text()}`).toBe(true);
}

const fact = (predicate: string, ...args: string[]) => ({ predicate, args });

async function knowAda(page: Page, service: ServiceProcess): Promise<void> {
  await post(page, service, '/assert/facts', [
    fact('parent', 'byron', 'ada'),
    fact('wrote', 'ada', 'note g'),
    fact('knows', 'ada', 'babbage'),
    fact('built', 'babbage', 'engine'),
    fact('about', 'note g', 'engine'),
    fact('odd', '..', 'a/b 100%'),
  ]);
  await post(page, service, '/teach', { text: 'child(?y, ?x) :- parent(?x, ?y)' });
  await post(page, service, '/teach', { text: 'famous(?x) :- knows(ada, ?x)', name: 'by ada' });
}

function title(page: Page): Locator {
  return page.getByRole('heading', { level: 1 });
}

function box(page: Page, name: RegExp): Locator {
  return page.getByRole('treeitem', { name });
}

/** What the tree has as its active box. */
async function activeBox(page: Page): Promise<string> {
  const tree = page.getByRole('tree', { name: 'Neighbourhood' });
  const id = (await tree.getAttribute('aria-activedescendant')) ?? '';
  return (await page.locator(`[id="${id}"]`).getAttribute('aria-label')) ?? '';
}

test('the page shows facts, conclusions, places, rules and history, and links to the rest', async ({
  page,
  service,
}) => {
  await knowAda(page, service);
  await open(page, service, '/entity/ada');
  await expect(title(page)).toHaveText('ada');
  await expect(page).toHaveTitle(/^Entity – /);
  await expect(rowsOf(page, 'Facts')).toHaveCount(3);
  await expectNothingGrave(page, 'the page of an entity');

  await test.step('conclusions are derived on demand', async () => {
    await page.getByRole('tab', { name: /^Conclusions/ }).click();
    await page.getByRole('button', { name: 'Derive all' }).click();
    await expect(rowsOf(page, 'Conclusions')).toHaveText(['child(ada, byron)']);
    await expect(page).toHaveURL(/part=conclusions.*infer=true|infer=true.*part=conclusions/);
  });

  await test.step('rules that name it, places and history', async () => {
    await page.getByRole('tab', { name: /^Rules/ }).click();
    await expect(rowsOf(page, 'Rules')).toContainText(['famous(?x) :- knows(ada, ?x)']);
    await page.getByRole('tab', { name: /^Occurs as/ }).click();
    await expect(rowsOf(page, 'Places')).toHaveCount(4);
    await page.getByRole('tab', { name: 'History' }).click();
    await expect(rowsOf(page, 'History')).toHaveCount(3);
    await expectNothingGrave(page, 'the history of an entity');
  });

  await test.step('the menu of a row opens its other entities', async () => {
    await page.getByRole('tab', { name: /^Facts/ }).click();
    await rowsOf(page, 'Facts').filter({ hasText: 'parent' }).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Open byron' }).click();
    await expect(title(page)).toHaveText('byron');
    await page.goBack();
    await expect(title(page)).toHaveText('ada');
  });

  await test.step('constants that no path holds, and others that must be encoded, have pages', async () => {
    await rowsOf(page, 'Facts').first().waitFor();
    await open(page, service, `/entity/${encodeURIComponent('a/b 100%')}`);
    await expect(title(page)).toHaveText('a/b 100%');
    await rowsOf(page, 'Facts').first().click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Open ..' }).click();
    await expect(title(page)).toHaveText('..');
    await expect(rowsOf(page, 'Facts')).toHaveText([/odd\(\.\., a\/b 100%\)/]);
  });
});

test('every constant leads to its page: from the palette, the grid of facts, answers and proofs', {
  tag: '@long',
}, async ({ page, service }) => {
  await knowAda(page, service);
  await open(page, service, '/facts?predicate=knows');
  await rowsOf(page, 'Facts').first().getByText('babbage').click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Open babbage' }).click();
  await expect(title(page)).toHaveText('babbage');

  await page.keyboard.press('ControlOrMeta+k');
  await page.getByPlaceholder('Commands, predicates, rules').fill('byron');
  const entities = page
    .getByRole('listbox', { name: 'Found' })
    .getByRole('group', { name: 'Entities', exact: true });
  await entities.getByRole('option', { name: 'byron' }).click();
  await expect(title(page)).toHaveText('byron');

  await open(page, service, '/ask?question=child(%3Fwho%2C+%3Fof)');
  await rowsOf(page, 'Answers').first().getByText('ada').click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Open ada' }).click();
  await expect(title(page)).toHaveText('ada');

  await open(page, service, '/proof?question=child(ada%2C+byron)');
  await page.getByRole('region', { name: 'Step' }).getByRole('link', { name: 'byron' }).first().click();
  await expect(title(page)).toHaveText('byron');
});

test('the neighbourhood unfolds node by node, by keyboard', async ({ page, service }) => {
  await knowAda(page, service);
  await open(page, service, '/entity/ada');
  const tree = page.getByRole('tree', { name: 'Neighbourhood' });
  await expect(tree.getByRole('treeitem')).toHaveCount(4);
  await tree.focus();
  expect(await activeBox(page)).toBe('ada');
  await page.keyboard.press('ArrowDown');
  await expect.poll(() => activeBox(page)).toBe('babbage, by knows');
  await page.keyboard.press('ArrowRight');
  await expect(box(page, /^engine/)).toBeVisible();
  await expect(box(page, /^babbage/)).toHaveAttribute('aria-expanded', 'true');
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => activeBox(page)).toBe('engine, by built');

  await test.step('what is linked elsewhere is linked, not shown twice', async () => {
    await page.keyboard.press('+');
    await expect.poll(() => activeBox(page)).toBe('engine, by built, also linked to note g by about');
    await expect(box(page, /^note g/)).toHaveCount(1);
  });

  await test.step('left folds, and Enter opens the page', async () => {
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => activeBox(page)).toBe('engine, by built');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => activeBox(page)).toBe('babbage, by knows');
    await page.keyboard.press('-');
    await expect(box(page, /^engine/)).toHaveCount(0);
    await expectNothingGrave(page, 'an unfolded neighbourhood');
    await page.keyboard.press('Enter');
    await expect(title(page)).toHaveText('babbage');
  });
});

test('aliases are added, found and removed, and a merge is previewed, made and undone', async ({
  page,
  service,
  watched,
}) => {
  await knowAda(page, service);
  await post(page, service, '/tell', fact('knows', 'ada lovelace', 'somerville'));
  await post(page, service, '/tell', {
    ...fact('knows', 'ada lovelace', 'babbage'),
    metadata: { source: 'letter' },
  });
  await open(page, service, '/entity/ada');

  await test.step('an alias', async () => {
    await page.getByRole('button', { name: 'Add an alias' }).click();
    await page.getByRole('textbox', { name: 'Another name' }).fill('babbage');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await expect(page.getByRole('alert')).toContainText('babbage is a constant of knows(ada');
    await page.getByRole('textbox', { name: 'Another name' }).fill('Countess of Lovelace');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await expect(page.getByRole('list', { name: 'Aliases' })).toContainText('Countess of Lovelace');
    await expectNothingGrave(page, 'the aliases of an entity');
    await open(page, service, `/entity/${encodeURIComponent('Countess of Lovelace')}`);
    await expect(title(page)).toHaveText('ada');
    await page.getByRole('button', { name: 'Remove the alias Countess of Lovelace' }).click();
    await expect(title(page)).toHaveText('Countess of Lovelace');
    forgive(watched, /409 \(Conflict\)/);
  });

  await test.step('a merge', async () => {
    await open(page, service, '/entity/ada');
    await page.getByRole('button', { name: 'Merge…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Merge two entities' });
    await dialog.getByRole('textbox', { name: 'The other entity' }).fill('ada lovelace');
    await expect(dialog.getByRole('status')).toContainText('2 facts become about ada; 1 of them is joined');
    await expectNothingGrave(page, 'a merge of entities');
    await dialog.getByRole('button', { name: 'Merge', exact: true }).click();
    await expect(dialog).toBeHidden();
    await expect(page.getByRole('list', { name: 'Aliases' })).toContainText('ada lovelace');
    await expect(rowsOf(page, 'Facts')).toHaveCount(4);
  });

  await test.step('its undo', async () => {
    await page.keyboard.press('ControlOrMeta+z');
    await expect(rowsOf(page, 'Facts')).toHaveCount(3);
    await expect(page.getByRole('list', { name: 'Aliases' })).toHaveCount(0);
    await open(page, service, `/entity/${encodeURIComponent('ada lovelace')}`);
    await expect(rowsOf(page, 'Facts')).toHaveCount(2);
  });
});

test('an entity is forgotten after a preview, once its name is typed', async ({ page, service }) => {
  await knowAda(page, service);
  await open(page, service, '/entity/ada');
  await page.getByRole('button', { name: 'Forget…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Forget this entity' });
  await expect(dialog.getByRole('status')).toContainText('3 stored facts and 0 facts of the past go');
  await expect(dialog).toContainText('1 rule names it and stays');
  await expectNothingGrave(page, 'forgetting an entity');
  if (process.env['PICTURE'] !== undefined) await page.screenshot({ path: process.env['PICTURE'] });
  const confirm = dialog.getByRole('button', { name: 'Forget' });
  await expect(confirm).toBeDisabled();
  await dialog.getByRole('textbox').fill('ada');
  await confirm.click();
  await expect(dialog).toBeHidden();
  const asked = await page.request.post(`${service.url}/query`, {
    headers,
    data: { predicate: 'knows', args: ['?x', '?y'] },
  });
  expect(await asked.json()).toEqual([]);
});
