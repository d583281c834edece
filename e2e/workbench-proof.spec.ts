/** One proof in two synchronized views, outline and diagram: filtering, folding, export. */
import { readFile } from 'node:fs/promises';
import { expect, type Page } from '@playwright/test';
import { expectNothingGrave } from './accessibility.ts';
import type { ServiceProcess } from './service.ts';
import { open, test } from './workbench.ts';

const headers = { 'X-Tenant-ID': 'default' };
const question = '/proof?question=cousin(alma, anna)';

const outline = (page: Page) => page.getByRole('tree', { name: 'Proof', exact: true });
const diagram = (page: Page) => page.getByRole('tree', { name: 'Proof diagram' });
const cursor = (page: Page) => page.locator('[role="treeitem"][aria-selected="true"]');

/** Saves by a menu item and returns name and content. */
async function saved(page: Page, item: string): Promise<{ name: string; bytes: Buffer }> {
  await page.getByRole('button', { name: 'Export the proof' }).click();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: item }).click(),
  ]);
  return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) };
}

async function teach(page: Page, service: ServiceProcess, rules: string[], facts: object[]): Promise<void> {
  await page.request.post(`${service.url}/assert/facts`, { headers, data: { facts } });
  for (const text of rules) await page.request.post(`${service.url}/teach`, { headers, data: { text } });
}

async function tellFamily(page: Page, service: ServiceProcess): Promise<void> {
  const mothers = ['nora alma', 'clara nora', 'clara paul'];
  await teach(
    page,
    service,
    [
      'parent(?x, ?y) :- mother(?x, ?y)',
      'parent(?x, ?y) :- father(?x, ?y)',
      'sibling(?x, ?y) :- parent(?p, ?x), parent(?p, ?y), ?x != ?y',
      'cousin(?x, ?y) :- parent(?p, ?x), sibling(?p, ?q), parent(?q, ?y)',
    ],
    [
      ...mothers.map((pair) => ({ predicate: 'mother', args: pair.split(' ') })),
      { predicate: 'father', args: ['paul', 'anna'] },
    ],
  );
}

test('outline and diagram show the same steps with the same cursor, by keyboard alone, and after a reload', async ({
  page,
  service,
}) => {
  await tellFamily(page, service);
  await open(page, service, question);
  await outline(page).focus();
  await page.keyboard.press('1');
  const steps = await outline(page).getByRole('treeitem').count();
  await page.keyboard.press('ArrowRight');
  const name = (await cursor(page).locator('code').first().textContent()) ?? '';

  await page.getByRole('radiogroup', { name: 'How the proof is shown' }).getByText('Diagram').click();
  await expect(page).toHaveURL(/look=diagram/);
  await expect(diagram(page).getByRole('treeitem')).toHaveCount(steps);
  await expect(cursor(page)).toHaveAccessibleName(
    new RegExp(`^${name.replace(/[()]/g, '\\$&')}, derived by`),
  );

  await diagram(page).focus();
  await page.keyboard.press('+');
  await expect(diagram(page).getByRole('treeitem')).toHaveCount(steps + 1);
  await page.keyboard.press('ArrowRight');
  await expect(cursor(page)).toHaveAccessibleName(/^mother\(nora, alma\), asserted/);
  await expect(page.getByRole('region', { name: 'Step' })).toContainText('mother(nora, alma)');
  await expect(diagram(page)).toHaveAttribute(
    'aria-activedescendant',
    (await cursor(page).getAttribute('id')) ?? '',
  );
  await page.keyboard.press('z');
  await page.keyboard.press('f');
  await expectNothingGrave(page, 'the diagram of a proof');

  // Folds are stored every two seconds, and when the page closes.
  await page.reload();
  await expect(diagram(page).getByRole('treeitem')).toHaveCount(steps + 1);
  await expect(cursor(page)).toHaveAccessibleName(/^mother\(nora, alma\)/);
  await diagram(page).focus();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/facts\?.*fact=/);
});

test('steps are searched with those above them, viewed as the root, and hidden if they are known', async ({
  page,
  service,
}) => {
  await tellFamily(page, service);
  await open(page, service, question);
  const items = outline(page).getByRole('treeitem');
  await outline(page).focus();
  await page.keyboard.press('/');
  await page.keyboard.type('mother(clara');
  await expect(page.getByText('1 of 2')).toBeVisible();
  await expect(items).toContainText([
    'cousin(alma, anna)',
    'sibling(nora, paul)',
    'parent(clara, nora)',
    'mother(clara, nora)',
    'parent(clara, paul)',
    'mother(clara, paul)',
  ]);
  await page.keyboard.press('Enter');
  await expect(cursor(page)).toContainText('mother(clara, paul)');
  await page.keyboard.press('Escape');
  await expect(items.filter({ hasText: 'parent(nora, alma)' })).toHaveCount(1);
  await expect(cursor(page)).toContainText('mother(clara, paul)');

  await items.filter({ hasText: 'sibling(nora, paul)' }).click();
  await page.getByRole('button', { name: 'Show from here' }).click();
  await expect(items.first()).toContainText('sibling(nora, paul)');
  await expect(page).toHaveURL(/from=sibling/);
  await page.goBack();
  await expect(items.first()).toContainText('cousin(alma, anna)');

  await page.getByRole('button', { name: 'Hide', exact: true }).click();
  await page.getByRole('checkbox', { name: /^parent\/2/ }).check();
  await page.keyboard.press('Escape');
  await expect(items).toContainText(['cousin(alma, anna)', 'sibling(nora, paul)', 'nora != paul']);
  await expect(items.first()).toContainText('2 known hidden');
  await expect(page.getByText(/\d+ steps not shown/)).toBeVisible();
  await expectNothingGrave(page, 'a proof without what is known');
  await page.getByRole('button', { name: 'Show parent/2 again' }).click();
  await expect(items.filter({ hasText: 'parent(nora, alma)' })).toHaveCount(1);
});

test('a proof is saved as a picture, text and JSON', async ({ page, service }) => {
  await tellFamily(page, service);
  await open(page, service, question);
  await expect(outline(page)).toBeVisible();
  const svg = await saved(page, 'Save as SVG');
  expect(svg.name).toBe('proof-cousin-alma-anna.svg');
  expect(svg.bytes.toString()).toContain('<title>cousin(alma, anna)</title>');
  const wellFormed = await page.evaluate(
    (text) => new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror') === null,
    svg.bytes.toString(),
  );
  expect(wellFormed).toBe(true);
  const png = await saved(page, 'Save as PNG');
  expect(png.bytes.subarray(1, 4).toString()).toBe('PNG');
  expect(png.bytes.length).toBeGreaterThan(10_000);
  const text = await saved(page, 'Save as text');
  expect(text.bytes.toString()).toContain('  parent(nora, alma)  [by parent(');
  const json = JSON.parse((await saved(page, 'Save as JSON')).bytes.toString()) as { steps: unknown[] };
  expect(json.steps).toHaveLength(11);
});

test('shared steps appear once, a change is reported but not applied, and a large proof is drawn in part', async ({
  page,
  service,
}) => {
  const length = 3_000;
  const next = Array.from({ length }, (_, at) => ({ predicate: 'next', args: [`p${at}`, `p${at + 1}`] }));
  await teach(
    page,
    service,
    [
      'reach(?x, ?y) :- next(?x, ?y)',
      'reach(?x, ?z) :- next(?x, ?y), reach(?y, ?z)',
      'left(?x) :- base(?x)',
      'right(?x) :- base(?x)',
      'top(?x) :- left(?x), right(?x)',
    ],
    [...next, { predicate: 'base', args: ['a'] }],
  );
  await open(page, service, '/proof?question=top(a)&look=diagram');
  await expect(diagram(page).getByRole('treeitem')).toHaveCount(4);
  await expect(diagram(page).getByRole('treeitem', { name: /^base\(a\)/ })).toHaveAccessibleName(
    /used by 2 steps/,
  );

  await page.request.post(`${service.url}/retract`, { headers, data: { predicate: 'base', args: ['a'] } });
  await expect(page.getByText('The knowledge has moved on since this was proved')).toBeVisible();
  await expect(diagram(page).getByRole('treeitem')).toHaveCount(4);
  await page.getByRole('button', { name: 'Prove again' }).click();
  await expect(page.getByRole('heading', { name: 'It does not hold' })).toBeVisible();

  await open(page, service, `/proof?question=reach(p0, p${length})&look=diagram`);
  await expect(diagram(page).getByRole('treeitem').first()).toBeVisible();
  await page.getByRole('button', { name: 'Unfold all' }).click();
  await diagram(page).focus();
  await page.keyboard.press('End');
  await expect(cursor(page)).toHaveAccessibleName(new RegExp(`^next\\(p${length - 1}, p${length}\\)`));
  expect(await diagram(page).getByRole('treeitem').count()).toBeLessThan(100);
  await page.keyboard.press('f');
  await expect(cursor(page)).toHaveCount(1);
});

test('a proof that cannot be made or drawn says why, and can be retried @long', async ({ page, service }) => {
  await tellFamily(page, service);
  await open(page, service, '/proof?question=cousin(alma');
  await expect(page.getByRole('alert')).toContainText('The question cannot be read');

  const worker = /layout\.worker/;
  const refusing =
    "self.onmessage = ({ data }) => postMessage({ id: data.id, outcome: { failure: 'No room' } });";
  await page.route(worker, (route) => route.fulfill({ contentType: 'text/javascript', body: refusing }));
  await open(page, service, `${question}&look=diagram`);
  await expect(page.getByRole('alert')).toContainText('No room. The outline shows the same steps.');
  await page.unroute(worker);
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(diagram(page).getByRole('treeitem')).toHaveCount(11);

  await open(page, service, `${question}&from=nobody(here)`);
  await expect(page.getByText('is not in this proof')).toBeVisible();
  await page.getByRole('button', { name: 'The whole proof' }).click();
  await expect(page.getByText('is not in this proof')).toBeHidden();
});

test('the whole proof goes on paper, as an outline, and the page is as before', async ({ page, service }) => {
  await tellFamily(page, service);
  // Chromium without a screen shows no dialog: what it would print is seen as its PDF.
  await page.addInitScript(() => {
    window.print = () => Object.assign(window, { isPrinting: true });
  });
  await page.goto(`${service.url}/#/proof?question=parent(nora, alma)`);
  await expect(outline(page)).toBeVisible();
  const title = await page.title();
  await page.getByRole('button', { name: 'Export the proof' }).click();
  await page.getByRole('menuitem', { name: 'Print, or save as PDF' }).click();
  await expect.poll(() => page.evaluate(() => 'isPrinting' in window)).toBe(true);
  expect(await page.title()).toBe('Proof of parent(nora, alma)');
  await page.emulateMedia({ media: 'print' });
  await expect(page.getByRole('heading', { name: 'Proof of parent(nora, alma)' })).toBeVisible();
  await expect(page.getByText('mother(nora, alma) [stored]')).toBeVisible();
  await expect(outline(page)).toBeHidden();
  expect((await page.pdf()).subarray(0, 5).toString()).toBe('%PDF-');
  await page.emulateMedia({ media: 'screen' });
  await expect(page.getByRole('heading', { name: 'Proof of parent(nora, alma)' })).toBeHidden();
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  expect(await page.title()).toBe(title);
  await expect(page.getByRole('heading', { name: 'Proof of parent(nora, alma)' })).toHaveCount(0);
});
