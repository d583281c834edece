/** The Context view: choosing a window by form, an agent's view of it, comparison, sessions. */
import { expect, type Page } from '@playwright/test';
import { contextWindowSchema } from '../src/engine/contract/context.ts';
import type { ServiceProcess } from './service.ts';
import { clearEditor, goTo, open, openSample, rowsOf, test, write } from './workbench.ts';

const headers = { 'X-Tenant-ID': 'default' };
const facts = 'Facts of the window';

async function tell(page: Page, service: ServiceProcess, fact: object): Promise<void> {
  const answer = await page.request.post(`${service.url}/tell`, { headers, data: fact });
  expect(answer.ok()).toBe(true);
}

/** Thirty facts of one predicate with equal salience. */
async function tellMany(page: Page, service: ServiceProcess): Promise<void> {
  const list = Array.from({ length: 30 }, (_, index) => ({
    predicate: 'item',
    args: [`i${String(index + 1).padStart(2, '0')}`],
  }));
  await page.request.post(`${service.url}/assert/facts`, { headers, data: { facts: list } });
}

/** Opens the view by address and waits for the first window, which needs everything loaded. */
async function openWindow(page: Page, service: ServiceProcess, address: string): Promise<void> {
  await open(page, service, `/context?${address}`);
  await expect(page.getByRole('region', { name: 'Usage' })).toBeVisible();
}

/** The bar of a budget or bucket, with text such as `20 of 30`. */
function used(page: Page, bar: string) {
  return page.getByRole('region', { name: 'Usage' }).getByRole('meter', { name: bar });
}

test('a goal adds its answer and every premise of its proof, each with a link to the proof', async ({
  page,
  service,
}) => {
  await openSample(page, service);
  await goTo(page, 'Context');
  await expect(page.getByRole('heading', { name: 'Context', exact: true })).toBeVisible();
  await expect(rowsOf(page, facts).first()).toBeVisible();

  await write(page, 'Goals', 'grandparent(agnes, anna)');
  const goal = rowsOf(page, facts).filter({ hasText: 'goal' });
  await expect(goal.filter({ hasText: 'grandparent(agnes, anna)' })).toHaveCount(1);
  for (const premise of ['parent(agnes, ruth)', 'mother(agnes, ruth)'])
    await expect(goal.filter({ hasText: premise })).toHaveCount(1);
  await expect(page).toHaveURL(/context\?.*goals=grandparent/);

  await test.step('the rules of the proof are listed too', async () => {
    await page.getByRole('tab', { name: /^Rules \(\d+\)/ }).click();
    const rules = page.getByRole('list', { name: 'Rules of the window' });
    await expect(rules).toContainText('grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)');
    await page.getByRole('tab', { name: 'Facts', exact: true }).click();
  });

  await test.step('the detail shows the parts of the salience', async () => {
    await goal.filter({ hasText: 'mother(agnes, ruth)' }).getByRole('gridcell').nth(1).click();
    const detail = page.getByRole('region', { name: 'Detail' });
    await expect(detail).toContainText('An answer to a goal, or a premise of its proof');
    await expect(detail).toContainText('Activation');
    await expect(detail).toContainText('Importance');
    await expect(page).toHaveURL(/fact=mother/);
  });

  await test.step('the address opens the same window', async () => {
    await page.reload();
    await expect(page.getByRole('region', { name: 'Detail' })).toContainText('Activation');
    await expect(goal.filter({ hasText: 'grandparent(agnes, anna)' })).toHaveCount(1);
  });

  await goal
    .filter({ hasText: 'grandparent(agnes, anna)' })
    .getByRole('link', { name: 'Why grandparent(agnes, anna)' })
    .click();
  await expect(page.getByRole('tree', { name: 'Proof' })).toContainText('mother(agnes, ruth)');
  await page.goBack();
  await expect(goal.filter({ hasText: 'grandparent(agnes, anna)' })).toHaveCount(1);
});

test('the window follows the sliders, and a line shows where the budget ends', async ({ page, service }) => {
  await tellMany(page, service);
  await openWindow(page, service, 'facts=20');
  await expect(used(page, 'Facts')).toHaveAttribute('aria-valuetext', '20 of 20');
  const cut = rowsOf(page, facts).filter({ hasText: 'The budget ends here: 20 of 20 facts' });
  await expect(cut).toBeVisible();
  const overBudget = rowsOf(page, facts).filter({ hasText: 'over budget' });
  await expect(overBudget).toHaveCount(10);

  await test.step('by the keyboard', async () => {
    const slider = page.getByRole('slider', { name: 'Facts: slide' });
    await slider.focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await expect(slider).toHaveAttribute('aria-valuetext', '10');
    await expect(used(page, 'Facts')).toHaveAttribute('aria-valuetext', '10 of 10');
    await expect(slider).toBeFocused();
    await expect(page).toHaveURL(/facts=10/);
  });

  await test.step('or typed, between the stops', async () => {
    await page.getByRole('textbox', { name: 'Facts', exact: true }).fill('13');
    await expect(used(page, 'Facts')).toHaveAttribute('aria-valuetext', '13 of 13');
  });

  await test.step('characters can be the budget too', async () => {
    await page.getByRole('textbox', { name: 'Characters' }).fill('45');
    await expect(used(page, 'Characters')).toHaveAttribute('aria-valuetext', '45 of 45');
    await expect(used(page, 'Facts')).toHaveAttribute('aria-valuetext', '5 of 13');
  });

  await test.step('omissions can be shown alone', async () => {
    await page.getByText('Left out (25)').click();
    await expect(rowsOf(page, facts).filter({ hasText: 'over budget' }).first()).toBeVisible();
    await expect(rowsOf(page, facts).filter({ hasText: 'The budget ends here' })).toHaveCount(0);
  });
});

test('an unreadable input is reported, and the previous window remains @long', async ({ page, service }) => {
  await tellMany(page, service);
  await openWindow(page, service, 'facts=5');
  await expect(used(page, 'Facts')).toHaveAttribute('aria-valuetext', '5 of 5');
  await write(page, 'Goals', 'item(?x) item');
  await expect(page.getByText('The form cannot be read')).toBeVisible();
  await expect(page.getByText(/^Line 1, column \d+/)).toBeVisible();
  await expect(used(page, 'Facts')).toHaveAttribute('aria-valuetext', '5 of 5');
  await clearEditor(page, 'Goals');
  await expect(page.getByText('The form cannot be read')).toBeHidden();

  await test.step('a draft survives leaving the view', async () => {
    await write(page, 'Goals', 'item(i03)');
    await expect(page).toHaveURL(/goals=item(?:\(|%28)i03/);
    await goTo(page, 'Facts');
    await goTo(page, 'Context');
    await expect(rowsOf(page, facts).first()).toContainText('item(i03)');
  });
});

test('buckets have shares by weight, with a bar each @long', async ({ page, service }) => {
  await tellMany(page, service);
  for (const name of ['a', 'b', 'c', 'd']) await tell(page, service, { predicate: 'part', args: [name] });
  await openWindow(page, service, 'facts=8');
  await page.getByRole('button', { name: 'Bucket', exact: true }).click();
  await expect(page.getByText('a bucket names at least one predicate')).toBeVisible();
  await page.getByRole('textbox', { name: 'Name of bucket 1' }).fill('parts');
  await page.getByRole('combobox', { name: 'Predicates of parts' }).fill('part');
  await page.keyboard.press('Enter');
  await expect(used(page, 'parts')).toHaveAttribute('aria-valuetext', '4 of 8');

  await page.getByRole('button', { name: 'Bucket', exact: true }).click();
  await page.getByRole('textbox', { name: 'Name of bucket 2' }).fill('items');
  await page.getByRole('combobox', { name: 'Predicates of items' }).fill('item');
  await page.keyboard.press('Enter');
  await expect(used(page, 'parts')).toHaveAttribute('aria-valuetext', '4 of 4');
  await expect(used(page, 'items')).toHaveAttribute('aria-valuetext', '4 of 4');

  const weight = page.getByRole('slider', { name: 'Weight of items: slide' });
  await weight.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await expect(weight).toHaveAttribute('aria-valuetext', '3');
  await expect(used(page, 'parts')).toHaveAttribute('aria-valuetext', '2 of 2');
  await expect(used(page, 'items')).toHaveAttribute('aria-valuetext', '6 of 6');
});

test('a contradiction is shown side by side, and one side is retracted after a preview', {
  tag: '@long',
}, async ({ page, service }) => {
  await openSample(page, service);
  await tell(page, service, {
    predicate: 'mother',
    args: ['agnes', 'ruth'],
    truthVal: false,
    metadata: { confidence: 0.4 },
  });
  await openWindow(page, service, 'facts=200&part=contradictions');
  const row = rowsOf(page, 'Contradictions');
  await expect(row.filter({ hasText: 'mother(agnes, ruth)' })).toContainText('true wins');
  await row.filter({ hasText: 'mother(agnes, ruth)' }).getByRole('gridcell').first().click();
  const no = page.getByRole('region', { name: 'False', exact: true });
  await expect(no).toContainText('weaker side');
  await expect(page.getByRole('region', { name: 'True', exact: true })).toContainText('in the window');

  await test.step('both sides can be kept', async () => {
    await page.getByRole('button', { name: 'Keep both sides of all' }).click();
    await expect(row.filter({ hasText: 'mother(agnes, ruth)' })).toContainText('both stay');
    await expect(page).toHaveURL(/resolve=false/);
    await page.getByRole('button', { name: 'Keep the more salient sides only' }).click();
    await expect(no).toContainText('weaker side');
  });

  await no.getByRole('button', { name: 'Retract…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Retract this fact?' });
  await expect(dialog).toContainText('-mother(agnes, ruth)');
  await dialog.getByRole('button', { name: 'Retract', exact: true }).click();
  await expect(row.filter({ hasText: 'mother(agnes, ruth)' })).toHaveCount(0);
});

test('a pinned window is compared with the current one', async ({ page, service }) => {
  await tellMany(page, service);
  await openWindow(page, service, 'facts=5');
  await page.getByRole('button', { name: 'Pin this window' }).click();
  await page.getByRole('textbox', { name: 'Facts', exact: true }).fill('7');
  await page.getByRole('tab', { name: 'Pinned (2 differ)' }).click();
  await expect(page.getByText('0 only pinned, 2 only now')).toBeVisible();
  await expect(rowsOf(page, 'Pinned and shown window')).toHaveCount(2);
  await expect(rowsOf(page, 'Pinned and shown window').first()).toContainText('– → 6');
  await page.getByRole('switch', { name: 'Show facts in both' }).check();
  await expect(rowsOf(page, 'Pinned and shown window')).toHaveCount(7);
});

test('a session stores a window on request, and a diff shows what changed since', async ({
  page,
  service,
}) => {
  await tellMany(page, service);
  await openWindow(page, service, 'facts=40&session=agent-1');
  await expect(used(page, 'Facts')).toHaveAttribute('aria-valuetext', '30 of 40');
  await page.getByRole('button', { name: 'Keep the window' }).click();
  await expect(page.getByText('keeps a window of 30 facts')).toBeVisible();

  await tell(page, service, { predicate: 'item', args: ['fresh'] });
  await expect(page.getByText('The knowledge has changed since this window was chosen')).toBeVisible();
  await expect(used(page, 'Facts')).toHaveAttribute('aria-valuetext', '30 of 40');
  await page.getByRole('button', { name: 'Diff', exact: true }).first().click();
  await expect(page.getByText('1 added, 0 removed')).toBeVisible();
  await expect(rowsOf(page, 'Changes in the session')).toContainText(['item(fresh)']);
  await expect(page).toHaveURL(/part=session/);

  await page.getByRole('button', { name: 'Clear the session' }).click();
  await expect(page.getByText("Session 'agent-1' cleared")).toBeVisible();
});

test('a copied window is what an agent gets', async ({ page, service, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: service.url });
  await tellMany(page, service);
  await openWindow(page, service, 'facts=3');
  await expect(used(page, 'Facts')).toHaveAttribute('aria-valuetext', '3 of 3');
  const copied = async (item: string) => {
    await page.getByRole('button', { name: 'Copy what an agent would get' }).click();
    await page.getByRole('menuitem', { name: item }).click();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const window = contextWindowSchema.parse(JSON.parse(await copied('The answer as JSON')));
  expect(window.entries).toHaveLength(3);
  expect(window.omitted).toBeUndefined();
  const lines = window.entries.map(({ predicate, args }) => `${predicate}(${args.join(', ')}).`);
  expect(await copied('Facts and rules as text')).toBe(lines.join('\n'));

  const request: unknown = JSON.parse(await copied('The request for this window'));
  const answer = await page.request.post(`${service.url}/context/optimize`, { headers, data: request });
  expect(contextWindowSchema.parse(await answer.json()).entries.map(({ args }) => args)).toEqual(
    window.entries.map(({ args }) => args),
  );
});
