/** Answers as people look at them, proofs that can be read, and what would make a statement true. */
import { readFile } from 'node:fs/promises';
import { expect, type Page } from '@playwright/test';
import { expectNothingGrave } from './accessibility.ts';
import type { ServiceProcess } from './service.ts';
import { open, rowsOf, test } from './workbench.ts';

const headers = { 'X-Tenant-ID': 'default' };

async function tell(
  page: Page,
  service: ServiceProcess,
  facts: readonly (readonly string[])[],
): Promise<void> {
  const data = { facts: facts.map(([predicate, ...args]) => ({ predicate, args })) };
  const answer = await page.request.post(`${service.url}/assert/facts`, { headers, data });
  expect(answer.ok()).toBe(true);
}

async function teach(page: Page, service: ServiceProcess, ...rules: readonly object[]): Promise<void> {
  for (const data of rules) await page.request.post(`${service.url}/teach`, { headers, data });
}

const sales = Array.from({ length: 60 }, (_, index) => [
  'sale',
  `s${index}`,
  ['Paris', 'Rome', 'Oslo'][index % 3] ?? '',
  `2025-01-${String(1 + (index % 20)).padStart(2, '0')}`,
  String(index),
]);

const forms = (page: Page) => page.getByRole('radiogroup', { name: 'Show the answers as' });

test('answers are drawn as a graph that unfolds by keyboard, and the form is in the link', async ({
  page,
  service,
}) => {
  await tell(page, service, [
    ['parent', 'ada', 'bob'],
    ['parent', 'bob', 'cy'],
    ['lives_in', 'ada', 'Paris'],
    ['person', 'ada'],
  ]);
  await open(page, service, '/ask?question=parent(?x, ?y)');
  await forms(page).getByText('Graph').click();
  await expect(page).toHaveURL(/as=graph/);
  const graph = page.getByRole('listbox', { name: 'Graph of the answers' });
  await expect(graph.getByRole('option')).toHaveCount(3);
  await expect(graph.getByRole('option', { name: 'ada, 1 link, linked to bob' })).toBeVisible();
  await graph.focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await expect(graph.getByRole('option')).toHaveCount(4);
  await expect(graph.getByRole('option', { name: /^ada, .*lives_in to Paris.*, unfolded$/ })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Entity' })).toContainText('Also: person');
  await expectNothingGrave(page, 'a graph of answers');
  await page.keyboard.press('Enter');
  await expect(graph.getByRole('option')).toHaveCount(3);
  await page.reload();
  await expect(graph.getByRole('option')).toHaveCount(3);
});

test('answers are drawn as a chart and summed in a pivot table, by columns that fit', async ({
  page,
  service,
}) => {
  await tell(page, service, sales);
  await open(page, service, '/ask?question=sale(?s, ?city, ?day, ?n)&as=chart');
  await expect(
    page.getByRole('img', { name: /^Line chart of sum of \?n across \?day: 20 values/ }),
  ).toBeVisible();
  await page.getByRole('combobox', { name: 'Chart' }).selectOption('Bars');
  await page.getByRole('combobox', { name: 'Across' }).selectOption('?city');
  await expect(
    page.getByRole('img', {
      name: 'Bar chart of sum of ?n across ?city: 3 values, greatest 610 at Oslo, least 570 at Paris',
    }),
  ).toBeVisible();
  await expect(page).toHaveURL(/kind%3Dbar/);
  await expectNothingGrave(page, 'a chart');
  await forms(page).getByText('Pivot').click();
  await page.getByRole('combobox', { name: 'Rows' }).selectOption('?city');
  await page.getByRole('combobox', { name: 'Columns' }).selectOption('None');
  await expect(rowsOf(page, 'Pivot table')).toHaveText([
    /Oslo.*610/,
    /Paris.*570/,
    /Rome.*590/,
    /All.*1,770/,
  ]);
  await page.getByRole('combobox', { name: 'Show' }).selectOption('Mean');
  await expect(rowsOf(page, 'Pivot table').last()).toHaveText(/All.*29.5/);
  await expectNothingGrave(page, 'a pivot table');
});

test('a picture of a part of the answers says so, and all of them are exported', { tag: '@long' }, async ({
  page,
  service,
}) => {
  const many = Array.from({ length: 2_500 }, (_, index) => ['n', `=${index}`, String(index)]);
  await tell(page, service, many);
  await page.addInitScript(() => {
    // The dialog of the browser cannot be answered here.
    Object.defineProperty(window, 'showSaveFilePicker', { value: undefined });
    Reflect.deleteProperty(window, 'showSaveFilePicker');
    Reflect.deleteProperty(Window.prototype, 'showSaveFilePicker');
  });
  await open(page, service, '/ask?question=n(?text, ?number)&as=pivot');
  await expect(page.getByText('Made of the first 2,000 of 2,500 answers.')).toBeVisible();
  await page.getByRole('button', { name: 'Export all answers' }).click();
  const dialog = page.getByRole('dialog', { name: 'Export all answers' });
  await dialog.getByLabel('For spreadsheets').check();
  await expectNothingGrave(page, 'the export of answers');
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Export', exact: true }).click(),
  ]);
  const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n');
  expect(lines[0]).toBe('text,number');
  expect(lines).toHaveLength(2_501);
  expect(lines).toContain("'=7,7");
  await page.getByRole('button', { name: 'Fetch more' }).click();
  await expect(page.getByText('Made of the first')).toHaveCount(0);
});

async function chain(page: Page, service: ServiceProcess, length: number): Promise<void> {
  await tell(
    page,
    service,
    Array.from({ length }, (_, index) => ['next', `s${index}`, `s${index + 1}`]),
  );
  await teach(
    page,
    service,
    { text: 'reach(?x, ?y) :- next(?x, ?y)', name: 'One step' },
    {
      text: 'reach(?x, ?z) :- reach(?x, ?y), next(?y, ?z)',
      description: 'What is reached goes on by a step.',
    },
  );
}

test('a proof of 300 steps is one line, unfolds where one points, and is told in a sentence', async ({
  page,
  service,
}) => {
  await chain(page, service, 150);
  await open(page, service, '/proof?question=reach(s0, s150)');
  const outline = page.getByRole('tree', { name: 'Proof', exact: true });
  await expect(outline.getByRole('treeitem')).toHaveCount(1);
  await expect(outline).toContainText('149 times along next(s0, s1) … next(s149, s150)');
  await expect(page.getByText('300 steps')).toBeVisible();
  await expectNothingGrave(page, 'a folded proof');

  const slider = page.getByRole('slider', { name: 'Step of the chain' });
  await slider.focus();
  for (let press = 0; press < 3; press++) await page.keyboard.press('ArrowRight');
  await page.getByRole('button', { name: 'Unfold here' }).click();
  await expect(outline.getByRole('treeitem', { name: /reach\(s0, s147\)/ })).toBeVisible();
  await page.getByRole('button', { name: 'Fold chains', exact: true }).click();
  await expect(outline.getByRole('treeitem')).toHaveCount(1);

  await page.getByLabel('Find steps').fill('s77');
  await expect(outline.getByRole('treeitem', { name: /^reach\(s0, s77\)/ })).toBeVisible();
  await page.getByLabel('Find steps').fill('');
  await expect(outline.getByRole('treeitem')).toHaveCount(1);

  await outline.focus();
  await page.keyboard.press('c');
  await expect(outline.getByRole('treeitem', { name: /^reach\(s0, s149\)/ })).toBeVisible();
  await page.keyboard.press('c');
  await expect(outline.getByRole('treeitem')).toHaveCount(1);

  await page.getByRole('radiogroup', { name: 'How the proof is shown' }).getByText('In words').click();
  await expect(page.getByRole('list', { name: 'Sentences' })).toHaveText(
    /by applying one rule 149 times along .* \(What is reached goes on by a step\)\./,
  );
  await expectNothingGrave(page, 'a proof in words');
  await page.getByRole('button', { name: 'Only the facts' }).click();
  await expect(page.getByRole('list', { name: 'Facts' }).getByRole('listitem')).toHaveCount(150);
});

test('two ways to a step are shown side by side, their differences marked @long', async ({
  page,
  service,
}) => {
  await tell(page, service, [
    ['road', 'a', 'b'],
    ['rail', 'a', 'b'],
  ]);
  await teach(
    page,
    service,
    { text: 'linked(?x, ?y) :- road(?x, ?y)' },
    { text: 'linked(?x, ?y) :- rail(?x, ?y)' },
    { text: 'trip(?x, ?y) :- linked(?x, ?y)' },
  );
  await open(page, service, '/proof?question=trip(a, b)&ways=true');
  await page.getByRole('treeitem', { name: /^linked\(a, b\)/ }).click();
  await page.getByRole('button', { name: 'Compare the ways' }).click();
  const [left, right] = [
    page.getByRole('tree', { name: 'Left proof' }),
    page.getByRole('tree', { name: 'Right proof' }),
  ];
  await expect(left.getByRole('treeitem', { name: /^road\(a, b\)/ })).toContainText('only here');
  await expect(right.getByRole('treeitem', { name: /^rail\(a, b\)/ })).toContainText('only here');
  await expect(left.getByRole('treeitem', { name: /^linked\(a, b\)/ })).toContainText('derived otherwise');
  await expect(page.getByRole('status').filter({ hasText: 'only left' })).toHaveText(
    '1 step only left, 1 only right, 1 derived otherwise',
  );
  await expectNothingGrave(page, 'two proofs side by side');
  await page.getByRole('button', { name: 'Show one proof' }).click();
  await expect(page.getByRole('tree', { name: 'Proof', exact: true })).toBeVisible();
});

test('a diagram that is larger than its pane has a minimap, and turns from right to down @long', async ({
  page,
  service,
}) => {
  await chain(page, service, 30);
  await open(page, service, '/proof?question=reach(s0, s30)&look=diagram&chains=open');
  const diagram = page.getByRole('tree', { name: 'Proof diagram' });
  await expect(diagram).toHaveAttribute('aria-busy', 'false');
  await diagram.focus();
  await page.keyboard.press('*');
  const map = page.getByTestId('minimap');
  await expect(map).toBeVisible();
  const wide = await map.boundingBox();
  await page.keyboard.press('d');
  await expect(page).toHaveURL(/flow=down/);
  await expect
    .poll(async () => (await map.boundingBox())?.height ?? 0)
    .toBeGreaterThan(wide?.height ?? 1_000);
  await expectNothingGrave(page, 'a diagram from the top down');
});

test('what would make a statement true is found, tried, and staged', async ({ page, service }) => {
  await tell(page, service, [
    ['member', 'ada', 'crew'],
    ['banned', 'ada'],
    ['door', 'north'],
  ]);
  await teach(
    page,
    service,
    { text: 'may(?who, ?door) :- member(?who, crew), door(?door), has_key(?who, ?door), not banned(?who)' },
    { text: 'has_key(?who, ?door) :- given(?who, ?door)' },
  );
  await open(page, service, '/why-not?question=may(ada, north)');
  const region = page.getByRole('region', { name: 'What would make it true' });
  await region.getByRole('button', { name: 'Look for changes' }).click();
  const sets = region.getByRole('list', { name: 'Sets of changes' });
  await expect(sets.getByText('given(ada, north)')).toBeVisible();
  await expect(sets.getByText('banned(ada)')).toBeVisible();
  await expect(region.getByRole('status')).toHaveText(
    '1 set of changes, each tried: any one of them would do.',
  );
  await expectNothingGrave(page, 'what would make it true');
  await sets.getByRole('button', { name: 'Apply' }).click();
  await expect(page.getByText('2 changes staged: apply them in Facts')).toBeVisible();
  await page.goto(`${service.url}/#/facts`);
  await page.getByRole('button', { name: 'Apply', exact: true }).click();
  await expect
    .poll(async () => {
      const data = { predicate: 'may', args: ['ada', 'north'] };
      const answer = await page.request.post(`${service.url}/ask`, { headers, data });
      return ((await answer.json()) as { count: number }).count;
    })
    .toBe(1);
});
