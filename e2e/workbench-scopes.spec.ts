/** Scopes: comparison, choices per fact, merge, undo; fork and deletion. */
import { expect, type Locator, type Page } from '@playwright/test';
import { expectNothingGrave } from './accessibility.ts';
import type { ServiceProcess } from './service.ts';
import { goTo, open, rowsOf, test } from './workbench.ts';

const headers = { 'X-Tenant-ID': 'default' };

/** Calls the service as another client. */
async function post(page: Page, service: ServiceProcess, path: string, data: object): Promise<unknown> {
  const response = await page.request.post(`${service.url}${path}`, { headers, data });
  expect(response.ok(), await response.text()).toBe(true);
  return response.json();
}

/** The facts of a scope as text with metadata. */
async function factsOf(page: Page, service: ServiceProcess, scope: string): Promise<string[]> {
  const url = `${service.url}/facts?scope=${encodeURIComponent(scope)}&limit=1000`;
  const { facts } = (await (await page.request.get(url, { headers })).json()) as {
    facts: {
      predicate: string;
      args: string[];
      truthVal: boolean;
      validUntil: number | null;
      metadata: object;
    }[];
  };
  return facts.map(
    ({ predicate, args, truthVal, validUntil, metadata }) =>
      `${truthVal ? '' : '-'}${predicate}(${args.join(', ')}) ${validUntil} ${JSON.stringify(metadata)}`,
  );
}

const until = 2_000_000_000_000;

/** `main`, and its changed fork `draft`: 2 added, 1 removed, 3 in conflict. */
async function prepare(page: Page, service: ServiceProcess): Promise<void> {
  const main = [
    ...['ann', 'bob', 'cyd', 'dan'].map((name) => ({ predicate: 'staff', args: [name] })),
    { predicate: 'grade', args: ['ann'], metadata: { confidence: 0.5 } },
    { predicate: 'cleared', args: ['bob'] },
    { predicate: 'badge', args: ['cyd'] },
  ];
  const rule = { text: 'enters(?who) :- staff(?who), cleared(?who)' };
  await post(page, service, '/teach', rule);
  await post(page, service, '/teach', { text: 'guest(?who) :- badge(?who)', scope: 'main' });
  await post(page, service, '/assert/facts', { facts: main.map((fact) => ({ ...fact, scope: 'main' })) });
  await post(page, service, '/scope/fork', { source: 'main', target: 'draft' });
  const draft = [
    { predicate: 'cleared', args: ['ann'] },
    { predicate: 'staff', args: ['eve'] },
    { predicate: 'grade', args: ['ann'], metadata: { confidence: 0.9 } },
    { predicate: 'badge', args: ['cyd'], validUntil: until },
    { predicate: 'cleared', args: ['bob'], truthVal: false },
  ];
  await post(page, service, '/assert/facts', { facts: draft.map((fact) => ({ ...fact, scope: 'draft' })) });
  await post(page, service, '/retract', {
    predicate: 'cleared',
    args: ['bob'],
    scope: 'draft',
    truthVal: true,
  });
  await post(page, service, '/retract', { predicate: 'staff', args: ['dan'], scope: 'draft' });
  await post(page, service, '/teach', { text: 'guest(?who) :- staff(?who)', scope: 'draft' });
}

function rowOf(page: Page, text: string): Locator {
  return rowsOf(page, 'Differences').filter({ hasText: text });
}

function mergeButton(page: Page): Locator {
  return page.getByRole('region', { name: 'Merge' }).getByRole('button', { name: /^Merge into/ });
}

const refusedHere = /status of 409/;

test('two scopes are compared, resolved, merged at once, and the merge is undone', async ({
  page,
  service,
}) => {
  await prepare(page, service);
  const before = await factsOf(page, service, 'main');
  const draft = await factsOf(page, service, 'draft');

  await test.step('two are selected from the list', async () => {
    await open(page, service);
    await goTo(page, 'Scopes');
    await expect(rowsOf(page, 'Scopes')).toHaveCount(3);
    await expect(rowsOf(page, 'Scopes').filter({ hasText: 'draft' }).first()).toContainText('main');
    await expect(page.getByText('Choose two scopes')).toBeVisible();
    await page.getByRole('button', { name: 'From: draft' }).click();
    await page.getByRole('button', { name: 'Into: main' }).click();
    await expect(page.getByText('Base: what both last had in common, main as of')).toBeVisible();
    await page.getByRole('combobox', { name: 'Base' }).click();
    await page.getByRole('option', { name: 'None (two-way)' }).click();
    await expect(page.getByText('Two-way, without a base')).toBeVisible();
  });

  await test.step('they appear side by side under their own names, counted', async () => {
    const grid = page.getByRole('grid', { name: 'Differences' });
    await expect(grid.getByRole('columnheader')).toHaveText([
      'Change',
      'draft',
      'main',
      'main after the merge',
      'Take',
    ]);
    await expect(rowsOf(page, 'Differences')).toHaveCount(6);
    for (const kind of ['All 6', 'Added 2', 'Removed 1', 'Modified 3', 'Conflicting 3', 'Unresolved 3'])
      await expect(page.getByText(kind, { exact: true })).toBeVisible();
    await expect(page.getByText('0 of 3 resolved')).toBeVisible();
    await expect(page.getByText('Refused while 3 conflicts are unresolved')).toBeVisible();
    await expect(rowOf(page, 'staff(dan)')).toContainText('stays');
  });

  await test.step('a choice for a fact shows in the result column and in the count', async () => {
    await page.getByRole('button', { name: 'Take draft for grade(ann)' }).click();
    await expect(rowOf(page, 'grade(ann)')).toContainText('changes');
    await expect(page.getByText('1 of 3 resolved')).toBeVisible();
    await page.getByRole('button', { name: 'Take main for badge(cyd)' }).click();
    await expect(rowOf(page, 'badge(cyd)')).toContainText('stays');
    await page.getByRole('button', { name: 'Next conflict' }).click();
    const versions = page.getByRole('region', { name: 'Versions' });
    await expect(versions).toContainText('-cleared(bob)');
    await versions.getByRole('radio', { name: 'draft' }).check();
    await expect(page.getByText('3 of 3 resolved')).toBeVisible();
    await expect(page.getByRole('region', { name: 'Merge' })).toContainText(
      '2 facts added, 2 updated, 0 deleted',
    );
  });

  await test.step('consequences are shown, and nothing is written yet', async () => {
    await page.getByRole('tab', { name: 'Conclusions' }).click();
    await expect(rowsOf(page, 'What would change').filter({ hasText: 'enters(ann)' })).toContainText(
      'gained',
    );
    await expect(rowsOf(page, 'What would change').filter({ hasText: 'enters(bob)' })).toContainText('lost');
    await page.getByRole('tab', { name: 'Facts' }).click();
    expect(await factsOf(page, service, 'main')).toEqual(before);
  });

  await test.step('one merge applies it, and the source is unchanged', async () => {
    await mergeButton(page).click();
    await expect(
      page.getByText('Merged draft into main: 2 facts added, 2 updated, 0 deleted.'),
    ).toBeVisible();
    const after = await factsOf(page, service, 'main');
    expect(after).toContain('grade(ann) null {"confidence":0.9}');
    expect(after).toContain('-cleared(bob) null {}');
    expect(after).not.toContain('cleared(bob) null {}');
    expect(after).toContain('badge(cyd) null {}');
    expect(await factsOf(page, service, 'draft')).toEqual(draft);
    await expect(rowsOf(page, 'Differences')).toHaveCount(2);
  });

  await test.step('undo restores the target', async () => {
    await page.getByRole('button', { name: /^Undo/ }).click();
    await expect(page.getByText('Merged draft into main')).toBeHidden();
    await expect(rowsOf(page, 'Differences')).toHaveCount(6);
    expect(await factsOf(page, service, 'main')).toEqual(before);
  });
});

test('a merge with unresolved conflicts is refused and writes nothing; a strategy settles them all @long', async ({
  page,
  service,
  watched,
}) => {
  await prepare(page, service);
  const before = await factsOf(page, service, 'main');
  await open(page, service, '/scopes?source=draft&target=main&ways=two');
  await expect(rowsOf(page, 'Differences')).toHaveCount(6);
  await mergeButton(page).click();
  const refusal = page.getByRole('alert').filter({ hasText: 'Conflict' });
  await expect(refusal).toContainText('Request workbench-');
  await expect(page.getByText('Nothing was merged.')).toBeVisible();
  expect(await factsOf(page, service, 'main')).toEqual(before);
  await page.getByRole('button', { name: 'Show the unresolved conflicts' }).click();
  await expect(rowsOf(page, 'Differences')).toHaveCount(3);

  await page.getByRole('combobox', { name: 'Strategy for conflicts' }).click();
  await page.getByRole('option', { name: 'Keep both' }).click();
  await expect(rowOf(page, 'cleared(bob)')).toContainText('changes');
  await expect(rowOf(page, 'grade(ann)')).toContainText('"_source":{"confidence":0.9}');
  await mergeButton(page).click();
  await expect(page.getByText(/^Merged draft into main: 2 facts added/)).toBeVisible();
  const after = await factsOf(page, service, 'main');
  expect(after).toContain('cleared(bob) null {}');
  expect(after).toContain('-cleared(bob) null {}');
  expect(after).toContain('grade(ann) null {"confidence":0.5,"_source":{"confidence":0.9}}');
  // The browser reports the refusal under test.
  expect(watched.complaints.splice(0).filter((text) => !refusedHere.test(text))).toEqual([]);
});

test('changes of others appear automatically, and are neither merged unseen nor overwritten by an undo', async ({
  page,
  service,
  watched,
}) => {
  await prepare(page, service);
  await open(page, service, '/scopes?source=draft&target=main&strategy=SOURCE_WINS');
  await expect(rowsOf(page, 'Differences')).toHaveCount(6);
  await post(page, service, '/tell', { predicate: 'staff', args: ['fay'], scope: 'draft' });
  await expect(rowOf(page, 'staff(fay)')).toContainText('adds');
  // Changes in the first seconds are not announced.
  let others = 0;
  await expect
    .poll(async () => {
      await post(page, service, '/tell', { predicate: 'guest', args: [`${others++}`], scope: 'draft' });
      return page.getByRole('button', { name: 'Seen' }).isVisible();
    })
    .toBe(true);
  // Once the last of them is shown, no other announcement comes.
  await expect(rowOf(page, `guest(${others - 1})`)).toContainText('adds');
  await page.getByRole('button', { name: 'Seen' }).click();
  await expect(page.getByText('The scopes were changed elsewhere')).toBeHidden();

  // Another client writes between display and merge.
  let isFirst = true;
  await page.route('**/scope/diff', async (route) => {
    if (isFirst) {
      isFirst = false;
      await post(page, service, '/tell', { predicate: 'staff', args: ['gus'], scope: 'main' });
    }
    await route.continue();
  });
  await mergeButton(page).click();
  await expect(page.getByText('Nothing was merged: the scopes were changed meanwhile')).toBeVisible();
  await page.unroute('**/scope/diff');
  await expect(rowOf(page, 'staff(gus)')).toContainText('not there');
  expect(await factsOf(page, service, 'main')).not.toContain('staff(eve) null {}');
  await page.getByRole('button', { name: 'Seen' }).click();

  await mergeButton(page).click();
  await expect(page.getByText(/^Merged draft into main/)).toBeVisible();
  await post(page, service, '/tell', {
    predicate: 'grade',
    args: ['ann'],
    scope: 'main',
    metadata: { confidence: 0.7 },
  });
  const now = await factsOf(page, service, 'main');
  await page.getByRole('button', { name: /^Undo/ }).click();
  await expect(page.getByText('Nothing was undone.')).toBeVisible();
  expect(await factsOf(page, service, 'main')).toEqual(now);
  expect(watched.complaints.splice(0).filter((text) => !refusedHere.test(text))).toEqual([]);
});

test('the keyboard alone compares, chooses, merges and undoes; an address restores it all', async ({
  page,
  service,
}) => {
  await prepare(page, service);
  // Changes what draft changed: conflicts even with the fork as the base.
  await post(page, service, '/assert/facts', {
    facts: [
      { predicate: 'grade', args: ['ann'], metadata: { confidence: 0.1 } },
      { predicate: 'badge', args: ['cyd'], metadata: { color: 'red' } },
      { predicate: 'cleared', args: ['bob'], metadata: { by: 'dan' } },
    ].map((fact) => ({ ...fact, scope: 'main' })),
  });
  await open(page, service, '/facts');
  await expect(page.getByRole('navigation', { name: 'Tools' })).toBeVisible();
  await page.keyboard.press('Alt+5');
  const list = page.getByRole('grid', { name: 'Scopes' });
  await list.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('s');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('t');
  const grid = page.getByRole('grid', { name: 'Differences' });
  await expect(grid).toHaveAttribute('aria-rowcount', '7');
  await grid.focus();
  for (const key of ['n', 's', 'n', 't', 'n', 'b']) await page.keyboard.press(key);
  await expect(page.getByText('3 of 3 resolved')).toBeVisible();
  await page.keyboard.press('x');
  await expect(page.getByText('2 of 3 resolved')).toBeVisible();
  await page.keyboard.press('b');

  // Choices are a draft of this browser; the rest is in the address.
  const address = page.url();
  await page.goto('about:blank');
  await page.goto(address);
  await expect(page.getByText('3 of 3 resolved')).toBeVisible();
  await expect(page.getByRole('region', { name: 'Versions' })).toBeVisible();

  await expect(page.getByRole('region', { name: 'Merge' })).toContainText('2 facts added');
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect(page.getByText(/^Merged draft into main/)).toBeVisible();
  await page.keyboard.press('ControlOrMeta+z');
  await expect(page.getByText(/^Merged draft into main/)).toBeHidden();
  await expect(grid).toHaveAttribute('aria-rowcount', '7');
});

test('a fork is merged with the common state at the fork: nothing that either side retracted comes back', async ({
  page,
  service,
}) => {
  const told = ['ann', 'bob', 'cy'].map((who) => ({ predicate: 'role', args: [who], scope: 'main' }));
  await post(page, service, '/assert/facts', { facts: told });
  await post(page, service, '/scope/fork', { source: 'main', target: 'draft' });
  await post(page, service, '/retract', { predicate: 'role', args: ['cy'], scope: 'main' });
  await post(page, service, '/retract', { predicate: 'role', args: ['ann'], scope: 'draft' });
  await post(page, service, '/tell', { predicate: 's', args: [1], scope: 'main' });
  for (const truthVal of [true, false])
    await post(page, service, '/tell', { predicate: 's', args: [1], truthVal, scope: 'draft' });
  await open(page, service, '/scopes?source=draft&target=main');
  await expect(page.getByText('Base: what both last had in common, main as of')).toBeVisible();
  await expect(rowOf(page, 'role(cy)')).toContainText('stays');
  await expect(rowOf(page, 'role(ann)')).toContainText('deletes');
  // Draft has both, main one: the other would join its opposite.
  await expect(rowOf(page, '-s(1)')).toContainText('conflict');
  await page.getByRole('button', { name: 'Take main for -s(1)' }).click();
  await expect(page.getByText('1 of 1 resolved')).toBeVisible();
  await mergeButton(page).click();
  await expect(page.getByText('Merged draft into main: 0 facts added, 0 updated, 1 deleted.')).toBeVisible();
  expect(await factsOf(page, service, 'main')).toEqual(['role(bob) null {}', 's(1) null {}']);
});

test('with a base only changes on both sides are a conflict, and deletions in the source are applied', async ({
  page,
  service,
}) => {
  await prepare(page, service);
  await post(page, service, '/scope/fork', { source: 'main', target: 'before' });
  await post(page, service, '/tell', {
    predicate: 'grade',
    args: ['ann'],
    scope: 'main',
    metadata: { confidence: 0.1 },
  });
  await open(page, service, '/scopes?source=draft&target=main&base=before');
  await expect(page.getByText('0 of 1 resolved')).toBeVisible();
  await expect(rowOf(page, 'staff(dan)')).toContainText('deletes');
  await expect(rowOf(page, 'badge(cyd)')).toContainText('changes');
  await page.getByRole('button', { name: 'Take main for grade(ann)' }).click();
  await mergeButton(page).click();
  await expect(page.getByText('Merged draft into main: 2 facts added, 2 updated, 1 deleted.')).toBeVisible();
  const after = await factsOf(page, service, 'main');
  expect(after).toContain(`badge(cyd) ${until} {}`);
  expect(after).not.toContain('staff(dan) null {}');
});

test('a scope is forked and, after typing its name, deleted, whatever it is called', {
  tag: '@long',
}, async ({ page, service }) => {
  const name = 'a/b "c" ü 100%';
  await prepare(page, service);
  await open(page, service, '/scopes');
  await expect(page.getByRole('navigation', { name: 'Tools' })).toBeVisible();
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByPlaceholder('Commands, predicates, rules').fill('Fork a scope');
  await page.keyboard.press('Enter');
  const fork = page.getByRole('dialog', { name: 'Fork a scope' });
  await fork.getByRole('combobox', { name: 'From' }).click();
  await page.getByRole('option', { name: 'draft' }).click();
  await fork.getByLabel('Name of the new scope').fill('main');
  await expect(fork.getByText('there is a scope of this name')).toBeVisible();
  await fork.getByLabel('Name of the new scope').fill(name);
  await fork.getByRole('button', { name: 'Fork', exact: true }).click();
  await expect(fork).toBeHidden();
  await expect(page.getByText('The same facts')).toBeVisible();
  await expect(rowsOf(page, 'Scopes')).toHaveCount(4);

  await page.getByRole('button', { name: `Delete ${name}` }).click();
  const dialog = page.getByRole('dialog', { name: `Delete ${name}?` });
  await expect(dialog).toContainText('8 facts and 2 rules');
  const confirm = dialog.getByRole('button', { name: 'Delete scope' });
  await dialog.getByRole('textbox').fill(name.slice(0, -1));
  await expect(confirm).toBeDisabled();
  await dialog.getByRole('textbox').fill(name);
  await confirm.click();
  await expect(dialog).toBeHidden();
  await expect(rowsOf(page, 'Scopes')).toHaveCount(3);
  await expect(page.getByText('Choose two scopes')).toBeVisible();
});

test('Scopes has no serious accessibility finding', { tag: '@long' }, async ({ page, service }, testInfo) => {
  await open(page, service, '/scopes');
  await expect(page.getByText('No scopes yet')).toBeVisible();
  await expectNothingGrave(page, 'Scopes without any');
  await prepare(page, service);
  await open(page, service, '/scopes?source=draft&target=main&fact=grade(ann)');
  await expect(page.getByRole('region', { name: 'Versions' })).toBeVisible();
  await expectNothingGrave(page, 'the facts of two scopes');
  await page.screenshot({ path: testInfo.outputPath('scopes.png') });
  await page.getByRole('tab', { name: 'Rules' }).click();
  await expect(page.locator('.monaco-diff-editor .line-delete').first()).toBeVisible();
  await expectNothingGrave(page, 'the rules of two scopes');
  await page.getByRole('combobox', { name: 'Strategy for conflicts' }).click();
  await page.getByRole('option', { name: /^Take .* where they differ$/ }).click();
  await page.getByRole('tab', { name: 'Conclusions' }).click();
  await expect(rowsOf(page, 'What would change').first()).toBeVisible();
  await expectNothingGrave(page, 'the conclusions of a merge');
  await page.getByRole('button', { name: 'Delete draft' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await expectNothingGrave(page, 'the question before a deletion');
});
