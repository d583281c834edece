/** The Rules view: language in the editor, trial before teaching, renaming, dependency graph. */
import { expect, type Page } from '@playwright/test';
import { expectNothingGrave } from './accessibility.ts';
import type { ServiceProcess } from './service.ts';
import { clearEditor, open, rowsOf, test, write } from './workbench.ts';

const label = 'New rules and facts';

/** Streets between places: reachable and unreachable ones. */
async function teachStreets(page: Page, service: ServiceProcess): Promise<void> {
  const headers = { 'X-Tenant-ID': 'default' };
  const pairs = ['a b', 'b c', 'd e'].map((pair) => ({ predicate: 'street', args: pair.split(' ') }));
  const places = ['a', 'b', 'c', 'd', 'e'].map((place) => ({ predicate: 'place', args: [place] }));
  const facts = [...pairs, ...places];
  await page.request.post(`${service.url}/assert/facts`, { headers, data: { facts } });
  for (const text of [
    'reach(?x, ?y) :- street(?x, ?y)',
    'reach(?x, ?z) :- reach(?x, ?y), street(?y, ?z)',
    'apart(?x, ?y) :- place(?x), place(?y), not reach(?x, ?y)',
  ])
    await page.request.post(`${service.url}/teach`, { headers, data: { text } });
}

/** Moves the editor's cursor to a column of its first line. */
async function cursorAt(page: Page, column: number): Promise<void> {
  await page.keyboard.press('ControlOrMeta+Home');
  for (let moved = 1; moved < column; moved++) await page.keyboard.press('ArrowRight');
}

test.beforeEach(async ({ page, service }) => {
  await teachStreets(page, service);
});

test('text is fixed, renamed, looked up and formatted by keys', async ({ page, service }) => {
  await open(page, service, '/rules');
  await write(page, label, 'near(?x,?y):-Street(?x,?y),place(?x).');
  const problems = page.getByRole('list', { name: 'Problems' });
  const written = page.locator('.view-lines').first();

  await test.step('a slip in case is fixed from the list of problems, and again by key', async () => {
    const mend = problems.getByRole('button', { name: 'Change Street to street' });
    await mend.click();
    await expect(problems).toBeHidden();
    await page.keyboard.press('ControlOrMeta+z');
    await expect(mend).toBeVisible();
    await cursorAt(page, 17);
    await page.keyboard.press('ControlOrMeta+.');
    await page.locator('.action-widget').getByText('Change Street to street').waitFor();
    await page.keyboard.press('Enter');
    await expect(problems).toBeHidden();
  });

  await test.step('a variable is renamed in its statement, and the text formatted', async () => {
    await cursorAt(page, 7);
    await page.keyboard.press('F2');
    await page.getByRole('textbox', { name: /^Rename input/ }).fill('?from');
    await page.keyboard.press('Enter');
    await expect(written).toContainText('near(?from,?y)');
    await page.keyboard.press('Shift+Alt+f');
    await expect(written).toContainText('near(?from, ?y) :- street(?from, ?y), place(?from).');
  });

  await test.step('a hover describes a predicate, its facts and its rules', async () => {
    const hover = page.locator('.monaco-hover').filter({ hasText: 'street/2' });
    // The editor works a hover out once, from what it knew when the pointer came to rest.
    await expect(async () => {
      await page.mouse.move(0, 0);
      await written.getByText('street').hover();
      await expect(hover).toContainText('3 facts', { timeout: 5_000 });
    }).toPass({ timeout: 120_000 });
    await expect(hover).toContainText('street(a, b).');
    await expect(hover).toContainText('reach(?x, ?y) :- street(?x, ?y).');
    await page.keyboard.press('Escape');
  });

  await test.step('a stored definition opens in its view', async () => {
    await write(page, label, 'near(?x, ?y) :- apart(?x, ?y).');
    await cursorAt(page, 19);
    await page.keyboard.press('F12');
    await expect(page).toHaveURL(/rule=/);
    await expect(page.getByRole('heading', { name: 'Rule', exact: true })).toBeVisible();
  });
});

test('a rule is previewed before it is taught, and edits survive a reload', async ({ page, service }) => {
  await open(page, service, '/rules');
  await page.getByRole('button', { name: 'Try', exact: true }).click();
  const panel = page.getByRole('region', { name: 'Try' });
  await expect(panel).toContainText('Try before you teach');
  await write(page, label, 'street(?y, ?x) :- street(?x, ?y).');
  const lines = rowsOf(page, 'What would change');
  await expect(lines.filter({ hasText: 'apart(b, a)' })).toContainText(['lost']);
  await expect(lines.filter({ hasText: 'reach(c, a)' })).toContainText(['gained']);

  await rowsOf(page, 'Rules').filter({ hasText: 'apart' }).dblclick();
  await page.getByRole('textbox', { name: 'Rule', exact: true }).focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('apart(?x, ?y) :- place(?x), place(?y), not reach(?x, ?y), ?x != ?y.', {
    delay: 4,
  });
  await expect(panel).toContainText('0 conclusions gained, 5 lost');
  await page.reload();
  await expect(page.locator('.view-lines').first()).toContainText('?x != ?y');
  await expect(panel).toContainText('0 conclusions gained, 5 lost');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(rowsOf(page, 'Rules').filter({ hasText: '?x != ?y' })).toHaveCount(1);

  const fired = page.getByRole('columnheader', { name: 'Fired' });
  await page.getByRole('columnheader', { name: 'Rule' }).getByRole('button').click();
  await expect(rowsOf(page, 'Rules').first()).toContainText('apart');
  await fired.getByRole('button').click();
  await expect(fired).toHaveAttribute('aria-sort', 'descending');
  await expect(page).toHaveURL(/sort=-fired/);
});

test('a predicate is renamed in rules and facts together, or not at all', async ({
  page,
  service,
  watched,
}) => {
  await open(page, service, '/rules');
  await write(page, label, 'near(?x, ?y) :- street(?x, ?y).');
  await cursorAt(page, 19);
  await page.keyboard.press('F2');
  await page.getByRole('textbox', { name: /^Rename input/ }).fill('road');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Rename a predicate' });

  await test.step('the change is shown first, and made in one transaction', async () => {
    await expect(dialog).toContainText('2 rules and 3 facts would change');
    await expect(dialog.getByRole('list', { name: 'Rules as they would be' })).toContainText('road(?y, ?z)');
    await expectNothingGrave(page, 'renaming');
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await expect(page.getByText('street is road now: 2 rules, 3 facts')).toBeVisible();
    await expect(rowsOf(page, 'Rules').filter({ hasText: 'road' })).toHaveCount(2);
    await expect(page.locator('.view-lines').first()).toContainText('near(?x, ?y) :- road(?x, ?y).');
  });

  await test.step('a name that would make a cycle through negation is refused, with the cycle', async () => {
    await page.getByRole('button', { name: 'Rename a predicate' }).click();
    await dialog.getByRole('combobox', { name: 'Predicate' }).click();
    await page.getByRole('option', { name: 'apart/2' }).click();
    await dialog.getByRole('textbox', { name: 'New name' }).fill('reach');
    await expect(dialog.getByRole('alert')).toContainText('reach/2');
    await expect(dialog.getByRole('button', { name: 'Rename' })).toBeDisabled();
    // The browser reports the expected refusal.
    watched.complaints.splice(0, 1);
    await page.keyboard.press('Escape');
    await expect(dialog).toBeHidden();
    await expect(rowsOf(page, 'Rules').filter({ hasText: 'apart' })).toHaveCount(1);
  });
});

test('the graph shows dependencies by strata, by keyboard and as a list', async ({ page, service }) => {
  await open(page, service, '/rules');
  await page.getByText('Graph', { exact: true }).click();
  await expect(page).toHaveURL(/view=graph/);
  const graph = page.getByRole('group', { name: 'Graph of relations' });
  const reach = graph.getByRole('button', { name: /^reach\/2, stratum 0/ });
  await expect(reach).toHaveAccessibleName(/recursive; depends on/);
  await expect(graph.getByRole('button', { name: /^apart\/2, stratum 1/ })).toHaveAccessibleName(
    /absence or aggregate of reach\/2/,
  );

  await reach.focus();
  await page.keyboard.press('ArrowRight');
  await expect(graph.getByRole('button', { name: /^apart/ })).toBeFocused();
  await page.keyboard.press('Enter');
  const detail = page.getByRole('region', { name: 'Detail' });
  await expect(detail).toContainText('through not or an aggregate');
  await expectNothingGrave(page, 'the graph of relations');
  await detail.getByRole('button', { name: 'reach/2' }).click();
  await expect(page.getByRole('option', { name: /^reach\/2/ })).toHaveAttribute('aria-selected', 'true');
  await detail.getByRole('link', { name: /^reach\(\?x, \?y\) :-/ }).click();
  await expect(page.getByRole('heading', { name: 'Rule', exact: true })).toBeVisible();
});

test('the second of two windows that edit the same rule is warned, sees both versions, and chooses', {
  tag: '@long',
}, async ({ page, service, watched }) => {
  const headers = { 'X-Tenant-ID': 'default' };
  const storedId = async (begin: string) => {
    const listed = await page.request.get(`${service.url}/rules`, { headers });
    const { rules } = (await listed.json()) as { rules: { id: string; text: string }[] };
    return rules.find(({ text }) => text.startsWith(begin))?.id ?? '';
  };
  const id = await storedId('apart');
  const change = (data: object) =>
    page.request.put(`${service.url}/rules/${encodeURIComponent(id)}`, { headers, data });

  await open(page, service, `/rules?rule=${encodeURIComponent(id)}`);
  await page.getByRole('textbox', { name: 'Name' }).fill('Out of reach');
  const conflict = page.getByRole('region', { name: 'Conflict' });

  await test.step('untouched fields follow', async () => {
    await change({ description: 'By nobody' });
    await expect(page.getByRole('textbox', { name: 'Description' })).toHaveValue('By nobody');
    await expect(conflict).toBeHidden();
  });

  await test.step('fields changed on both sides are shown side by side', async () => {
    const rule = page.getByRole('textbox', { name: 'Rule', exact: true });
    await rule.focus();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.type(', ?x != ?y');
    await change({ text: 'apart(?x, ?y) :- place(?x), place(?y), not reach(?x, ?y), not reach(?y, ?x)' });
    await expect(conflict).toContainText('Somebody else changed this rule while you wrote');
    await expect(conflict).toContainText('not reach(?y, ?x)');
    await expect(conflict).toContainText('?x != ?y');
    await expect(page.getByRole('button', { name: 'Save' })).toBeDisabled();
    await expectNothingGrave(page, 'a rule in conflict');
    await page.reload();
    await expect(conflict).toContainText('?x != ?y');
    await conflict.getByRole('button', { name: 'Keep mine' }).click();
    await expect(conflict).toBeHidden();
  });

  await test.step('a change that arrives during saving is refused, and shown the same way', async () => {
    await page.route('**/rules/**', async (route) => {
      if (route.request().method() !== 'PUT') return route.fallback();
      await change({ name: 'Theirs' });
      await route.continue();
    });
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(conflict).toContainText('Theirs');
    await page.unroute('**/rules/**');
    await conflict.getByRole('button', { name: 'Keep mine' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(rowsOf(page, 'Rules').filter({ hasText: 'Out of reach' })).toContainText(['?x != ?y']);
  });

  await test.step('the draft of a rule that is deleted elsewhere becomes a new one', async () => {
    await rowsOf(page, 'Rules').filter({ hasText: '?x != ?y' }).dblclick();
    await page.getByRole('textbox', { name: 'Rule', exact: true }).focus();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.type(', place(a)');
    await page.request.delete(`${service.url}/rules/${encodeURIComponent(await storedId('apart'))}`, {
      headers,
    });
    await expect(page.getByText('This rule is gone')).toBeVisible();
    await page.getByRole('button', { name: 'Teach what I wrote as a new one' }).click();
    await expect(page.getByRole('heading', { name: 'New rules' })).toBeVisible();
    await expect(page.locator('.view-lines').first()).toContainText('?x != ?y, place(a).');
  });

  await test.step('a rule that changed before its deletion was confirmed is shown first', async () => {
    const step = await storedId('reach(?x, ?z)');
    await rowsOf(page, 'Rules').filter({ hasText: 'reach(?x, ?z)' }).click();
    await page.getByRole('grid', { name: 'Rules' }).focus();
    await page.keyboard.press('Delete');
    const dialog = page.getByRole('dialog', { name: 'Delete this rule?' });
    await expect(dialog).toContainText('reach(?x, ?z)');
    const text = 'reach(?x, ?z) :- reach(?x, ?y), street(?y, ?z), place(?z)';
    await page.request.put(`${service.url}/rules/${encodeURIComponent(step)}`, { headers, data: { text } });
    await expect(dialog).toContainText('Somebody else has changed it since');
    await expect(dialog.getByRole('button', { name: 'Delete' })).toBeDisabled();
    await dialog.getByRole('button', { name: 'Show it as it is now' }).click();
    await expect(dialog).toContainText('place(?z)');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await expect(rowsOf(page, 'Rules')).toHaveCount(1);
    // The browser reports the expected refusals.
    expect(watched.complaints.filter((text) => !/status of 4(04|09|12)/.test(text))).toEqual([]);
    watched.complaints.length = 0;
  });
});

test('the pane of the editor grows with its text and shrinks again, unless its edge was moved', async ({
  page,
  service,
}) => {
  await open(page, service, '/rules');
  const editor = page.getByRole('region', { name: 'New rules' });
  const heightOf = async () => Math.round((await editor.boundingBox())?.height ?? 0);
  await write(page, 'New rules and facts', 'a(1).');
  const before = await heightOf();
  const lines = Array.from({ length: 12 }, (_, at) => `a(${at + 2}).`);
  for (const line of lines) {
    await page.keyboard.press('Enter');
    await page.keyboard.type(line);
  }
  await expect.poll(heightOf).toBeGreaterThan(before + 90);
  const edge = page.getByRole('separator', { name: 'Resize' }).first();
  await clearEditor(page, 'New rules and facts');
  await expect.poll(heightOf).toBe(before);

  await edge.focus();
  await page.keyboard.press('ArrowDown');
  await expect.poll(heightOf).toBeGreaterThan(before);
  const chosen = await heightOf();
  await write(page, 'New rules and facts', 'a(1).');
  expect(await heightOf()).toBe(chosen);
});

test('two windows that edit one rule keep their own drafts, and say so', { tag: '@long' }, async ({
  page,
  service,
}) => {
  const other = await page.context().newPage();
  const windows = [page, other];
  for (const each of windows) {
    await open(each, service, '/rules');
    await rowsOf(each, 'Rules').first().getByRole('button', { name: /^Edit/ }).click();
  }
  const texts = ['written in the first', 'written in the second'];
  const edited = windows.map((each, at) => ({
    each,
    text: texts[at] ?? '',
    field: each.getByRole('textbox', { name: 'Description' }),
  }));
  for (const { field, text } of edited) await field.fill(text);
  for (const { each } of edited)
    await expect(each.getByText('Another window is writing this, too.')).toBeVisible();
  for (const { each, field, text } of edited) {
    await each.reload();
    await expect(field).toHaveValue(text);
  }
});
