/** Schema: predicates declared from what is stored, constraints and what mends their violations, and typed forms. */
import { expect, type Locator, type Page } from '@playwright/test';
import { expectNothingGrave, expectNothingGraveIn } from './accessibility.ts';
import type { ServiceProcess } from './service.ts';
import { goTo, open, rowsOf, test, write } from './workbench.ts';

const headers = { 'X-Tenant-ID': 'default' };

async function send(
  page: Page,
  service: ServiceProcess,
  method: 'POST' | 'PUT',
  path: string,
  data: unknown,
): Promise<void> {
  const response = await page.request.fetch(`${service.url}${path}`, { method, headers, data });
  expect(response.ok(), `${path}: ${await response.text()}`).toBe(true);
}

async function get(page: Page, service: ServiceProcess, path: string): Promise<Record<string, unknown>> {
  const response = await page.request.get(`${service.url}${path}`, { headers });
  return (await response.json()) as Record<string, unknown>;
}

const fact = (predicate: string, ...args: string[]) => ({ predicate, args });

/** Two facts of one person, a date that is none, and a child who is called an adult. */
async function knowPeople(page: Page, service: ServiceProcess): Promise<void> {
  await send(page, service, 'POST', '/assert/facts', [
    fact('born', 'ann', '1990-04-01', '11'),
    fact('born', 'bob', '2015-12-24', '9'),
    fact('born', 'carol', '1971-01-31', '104'),
    fact('age', 'ann', '36'),
    fact('age', 'bob', '10'),
    fact('adult', 'ann'),
    fact('adult', 'bob'),
  ]);
  await send(page, service, 'POST', '/teach', {
    text: 'birthday(?person, ?date) :- born(?person, ?date, ?ward)',
  });
}

const declaration = {
  arguments: [
    { name: 'person', type: 'entity' },
    { name: 'date', type: 'date' },
    { name: 'ward', type: { oneOf: ['9', '11', '104'] } },
  ],
  key: ['person'],
};

function pane(page: Page, name: string): Locator {
  return page.getByRole('region', { name, exact: true });
}

test('a predicate is declared from what is stored, changed, withdrawn, and undone', async ({
  page,
  service,
}) => {
  await knowPeople(page, service);
  await open(page, service, '/facts');
  await goTo(page, 'Schema');
  await expect(rowsOf(page, 'Predicates')).toHaveCount(4);
  await expectNothingGrave(page, 'the list of predicates');
  const form = pane(page, 'Declaration');

  await test.step('names from rules, types from facts, candidate keys', async () => {
    await rowsOf(page, 'Predicates').filter({ hasText: 'born' }).click();
    await expect(form.getByText('Read from all 3 stored facts.')).toBeVisible();
    await form.getByRole('button', { name: 'Fill from what is stored' }).click();
    await expect(form.getByLabel('Name of argument 1')).toHaveValue('person');
    await expect(form.getByLabel('Name of argument 2')).toHaveValue('date');
    await expect(form.getByRole('combobox', { name: 'Type of argument 2' })).toHaveValue('date');
    await expect(form.getByRole('combobox', { name: 'Type of argument 3' })).toHaveValue('integer');
    await form.getByRole('button', { name: 'person', exact: true }).click();
    await expect(form.getByRole('checkbox', { name: 'person is in the key' })).toBeChecked();
    await expect(form.getByText('Nothing, in all 3 facts.')).toBeVisible();
    await expectNothingGraveIn(page, 'a declaration', ['dark', 'contrast']);
  });

  await test.step('declaring stores it', async () => {
    await form.getByRole('button', { name: 'Declare' }).click();
    await expect(form.getByRole('button', { name: 'Withdraw' })).toBeVisible();
    await expect(rowsOf(page, 'Predicates').filter({ hasText: 'born' })).toContainText(
      'person: entity, date: date',
    );
    const stored = await get(page, service, '/predicates/born/3');
    expect(stored).toMatchObject({ key: ['person'], check: 'warn', arguments: [{}, { type: 'date' }, {}] });
  });

  await test.step('a preview says what another declaration would find', async () => {
    await form.getByLabel('Type of argument 1', { exact: true }).click();
    await page.getByRole('option', { name: 'integer' }).click();
    await expect(form.getByText('3 violations, in all 3 facts.')).toBeVisible();
    await form.getByRole('button', { name: 'Discard' }).click();
    await expect(form.getByRole('combobox', { name: 'Type of argument 1' })).toHaveValue('entity');
  });

  await test.step('withdrawn, and brought back by undo', async () => {
    await form.getByRole('button', { name: 'Withdraw' }).click();
    await expect(rowsOf(page, 'Predicates').filter({ hasText: 'born' })).toContainText('not declared');
    await page.getByRole('grid', { name: 'Predicates' }).focus();
    await page.keyboard.press('ControlOrMeta+z');
    await expect(rowsOf(page, 'Predicates').filter({ hasText: 'born' })).toContainText('person: entity');
  });

  await test.step('a predicate without facts is declared by name', async () => {
    await pane(page, 'Predicates').getByRole('button', { name: 'Declare' }).click();
    const dialog = page.getByRole('dialog', { name: 'Declare a predicate' });
    await dialog.getByLabel('Predicate').fill('weighs');
    await page.keyboard.press('Enter');
    await form.getByLabel('Name of argument 1').fill('thing');
    await page.keyboard.press('ControlOrMeta+Enter');
    await expect(form.getByText(/at least 1 character|a name of an argument/).first()).toBeVisible();
    await form.getByLabel('Name of argument 2').fill('grams');
    await page.keyboard.press('ControlOrMeta+Enter');
    await expect(rowsOf(page, 'Predicates').filter({ hasText: 'weighs' })).toContainText('thing, grams');
  });
});

test('a constraint is added, its violation is mended, and both are undone', async ({ page, service }) => {
  await knowPeople(page, service);
  await open(page, service, '/schema?part=constraints');
  await page.getByRole('button', { name: 'New constraint' }).click();
  const form = pane(page, 'Constraint');

  await test.step('the editor takes what rules may not be, and a dry run lists violations', async () => {
    await write(
      page,
      'What must not be true',
      '!- adult(?x), age(?x, ?a), ?a < 18 "an adult is 18 or older".',
    );
    await expect(form.getByText('1 violation.')).toBeVisible();
    await expect(form.getByRole('list', { name: 'Violations of the constraint' })).toContainText(
      'adult(bob)',
    );
    await form.getByLabel('Name', { exact: true }).fill('of age');
    await expectNothingGraveIn(page, 'a constraint', ['dark', 'contrast']);
    await form.getByRole('button', { name: 'Add' }).click();
    await expect(rowsOf(page, 'Constraints')).toHaveCount(1);
    await expect(rowsOf(page, 'Constraints')).toContainText('of age');
  });

  await test.step('the violation has its proof and what would mend it', async () => {
    await form.getByRole('button', { name: 'Violations' }).click();
    const list = page.getByRole('region', { name: 'List of violations' });
    await expect(list.getByRole('listitem').first()).toContainText('adult(bob), age(bob, 10), 10 < 18');
    await list.getByRole('button', { name: 'Proof' }).click();
    await expect(list.getByLabel('Proof', { exact: true })).toContainText('age(bob, 10)');
    await list.getByRole('button', { name: 'What would mend it' }).click();
    const mends = list.getByRole('list', { name: 'Ways to mend it' });
    await expect(mends.getByRole('button', { name: 'Apply' })).toHaveCount(2);
    await mends.getByRole('button', { name: 'Try' }).first().click();
    await expect(mends.getByText('No conclusion would change.')).toBeVisible();
    await expectNothingGraveIn(page, 'violations', ['dark', 'contrast']);
    await mends.getByRole('button', { name: 'Apply' }).first().click();
    await expect(page.getByText('No such violation')).toBeVisible();
  });

  await test.step('undo brings the fact and its violation back', async () => {
    await page.getByRole('tab', { name: /^Violations/ }).click();
    await page.keyboard.press('ControlOrMeta+z');
    await expect(page.getByText('adult(bob), age(bob, 10), 10 < 18')).toBeVisible();
  });

  await test.step('by key: it refuses, lists again, is deleted and comes back', async () => {
    await page.getByRole('tab', { name: /^Constraints/ }).click();
    await rowsOf(page, 'Constraints').first().click();
    await page.getByRole('grid', { name: 'Constraints' }).focus();
    await page.keyboard.press('m');
    await expect(rowsOf(page, 'Constraints')).toContainText('reject');
    await page.keyboard.press('m');
    await expect(rowsOf(page, 'Constraints')).toContainText('warn');
    await page.getByRole('grid', { name: 'Constraints' }).focus();
    await page.keyboard.press('Delete');
    await expect(page.getByText('No constraints yet')).toBeVisible();
    await page.keyboard.press('ControlOrMeta+z');
    await expect(rowsOf(page, 'Constraints')).toContainText('of age');
  });
});

test('doubles of a key are mended by keeping one', async ({ page, service }) => {
  await knowPeople(page, service);
  await send(page, service, 'PUT', '/predicates/age/2', {
    arguments: [{ name: 'person' }, { name: 'years', type: 'integer' }],
    key: ['person'],
  });
  await send(page, service, 'POST', '/assert/facts', [fact('age', 'bob', '11'), fact('age', 'ann', 'old')]);
  await open(page, service, '/schema');
  await rowsOf(page, 'Predicates').filter({ hasText: 'age' }).first().click();
  await pane(page, 'Declaration').getByRole('button', { name: '3', exact: true }).click();
  const list = page.getByRole('region', { name: 'List of violations' });
  await expect(page.getByText('3 violations')).toBeVisible();
  const bob = list.getByRole('listitem').filter({ hasText: 'person bob at the same time' });
  await bob.getByRole('button', { name: 'What would mend it' }).click();
  await bob
    .getByRole('list', { name: 'Ways to mend it' })
    .getByRole('listitem')
    .filter({ hasText: 'age(bob, 10)' })
    .getByRole('button', { name: 'Apply' })
    .click();
  await expect(bob).toHaveCount(0);
  await page.getByRole('radiogroup', { name: 'Kind of violations' }).getByText('Types').click();
  await expect(list.getByRole('listitem').first()).toContainText('years is old: it must be an integer');
});

test('columns and forms of a declared predicate have names and types', { tag: '@long' }, async ({
  page,
  service,
}) => {
  await knowPeople(page, service);
  await send(page, service, 'PUT', '/predicates/born/3', declaration);
  await open(page, service, '/facts?predicate=born');
  const grid = page.getByRole('grid', { name: 'Facts' });
  await expect(grid.getByRole('columnheader', { name: 'date', exact: true })).toBeVisible();

  await test.step('a cell of a date is edited as one, of an enumeration by choice', async () => {
    await rowsOf(page, 'Facts').filter({ hasText: 'carol' }).getByRole('gridcell').nth(1).click();
    await page.keyboard.press('F2');
    await expect(grid.locator('input[type="date"]')).toHaveValue('1971-01-31');
    await page.keyboard.press('Escape');
    await rowsOf(page, 'Facts').filter({ hasText: 'carol' }).getByRole('gridcell').nth(2).click();
    await page.keyboard.press('F2');
    await grid.locator('select').selectOption('9');
    await page.keyboard.press('Enter');
    await expect(rowsOf(page, 'Facts').filter({ hasText: 'carol' })).toContainText('9');
  });

  await test.step('the form of a new fact', async () => {
    await page.getByRole('button', { name: 'Add facts' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Add facts' });
    await dialog.getByRole('tab', { name: 'Form' }).click();
    await dialog.getByLabel('person').fill('dan');
    await dialog.getByLabel('date').fill('2001-02-03');
    await dialog.getByRole('combobox', { name: 'ward' }).click();
    await page.getByRole('option', { name: '11', exact: true }).click();
    await expectNothingGrave(page, 'the form of a declared predicate');
    await dialog.getByRole('button', { name: 'Assert' }).click();
    await expect(rowsOf(page, 'Facts').filter({ hasText: 'dan' })).toContainText('2001-02-03');
  });

  await test.step('answers of the predicate are headed by variables, numbers aligned', async () => {
    await goTo(page, 'Schema');
    await rowsOf(page, 'Predicates').filter({ hasText: 'born' }).click();
    await pane(page, 'Declaration').getByRole('link', { name: 'Facts' }).click();
    await expect(grid.getByRole('columnheader', { name: 'ward', exact: true })).toBeVisible();
  });
});
