/** The Ask view: tabs, saved questions, compared runs, a question that exceeds its limits. */
import { expect, type Page } from '@playwright/test';
import { expectNothingGrave } from './accessibility.ts';
import type { ServiceProcess } from './service.ts';
import { ask, open, rowsOf, test } from './workbench.ts';

const headers = { 'X-Tenant-ID': 'default' };

async function tell(page: Page, service: ServiceProcess, ...pairs: readonly string[]): Promise<void> {
  const facts = pairs.map((pair) => ({ predicate: 'edge', args: pair.split(' ') }));
  await page.request.post(`${service.url}/assert/facts`, { headers, data: { facts } });
}

async function teach(page: Page, service: ServiceProcess, ...rules: readonly string[]): Promise<void> {
  for (const text of rules) await page.request.post(`${service.url}/teach`, { headers, data: { text } });
}

test('questions have tabs that are opened, switched, named and closed by key, and survive a reload', async ({
  page,
  service,
}) => {
  await tell(page, service, 'a b', 'b c');
  await open(page, service, '/ask');
  const tabs = page.getByRole('tablist', { name: 'Questions' }).getByRole('tab');
  await expect(tabs).toHaveCount(1);
  await ask(page, 'edge(a, ?x)');
  await expect(rowsOf(page, 'Answers')).toHaveCount(1);

  await page.keyboard.press('Alt+t');
  await expect(tabs).toHaveCount(2);
  await expect(tabs.nth(1)).toHaveAttribute('aria-selected', 'true');
  await ask(page, 'edge(?x, ?y), edge(?y, ?z)');
  await expect(rowsOf(page, 'Answers')).toHaveText([/a.*b.*c/]);
  await page.getByRole('textbox', { name: 'Question' }).focus();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.type(', ?x != b', { delay: 8 });
  await expect(tabs.nth(1)).toHaveAccessibleName(/changed since it was asked/);

  await page.keyboard.press('Alt+PageUp');
  await expect(tabs.nth(0)).toHaveAttribute('aria-selected', 'true');
  await expect(page).toHaveURL(/question=edge%28a/);
  await expect(rowsOf(page, 'Answers')).toHaveCount(1);
  await tabs.nth(0).focus();
  await page.keyboard.press('F2');
  await page.getByRole('dialog', { name: 'Rename the tab' }).getByLabel('Name').fill('Out of a');
  await page.keyboard.press('Enter');
  await expect(tabs.nth(0)).toHaveAccessibleName('Out of a');
  await tabs.nth(0).focus();
  await page.keyboard.press('ArrowRight');
  await expect(tabs.nth(1)).toBeFocused();
  await expectNothingGrave(page, 'Ask with tabs');

  await page.reload();
  await expect(tabs.nth(0)).toHaveAccessibleName('Out of a');
  await expect(tabs.nth(1)).toHaveAccessibleName(/\?x != b/);
  await expect(rowsOf(page, 'Answers')).toHaveText([/a.*b.*c/]);
  await tabs.nth(1).focus();
  await page.keyboard.press('Delete');
  await expect(tabs).toHaveCount(1);
  await page.keyboard.press('Alt+Shift+T');
  await expect(tabs).toHaveCount(2);
  await expect(tabs.nth(1)).toHaveAccessibleName(/\?x != b/);
});

test('a question is saved in a folder, survives a reload, and is found by the palette and the filter', async ({
  page,
  service,
}) => {
  await tell(page, service, 'a b', 'a c');
  await open(page, service, '/ask');
  await ask(page, 'edge(a, ?x)');
  await expect(rowsOf(page, 'Answers')).toHaveCount(2);
  await page.keyboard.press('ControlOrMeta+s');
  const dialog = page.getByRole('dialog', { name: 'Save the question' });
  await dialog.getByLabel('Name').fill('What a reaches');
  await dialog.getByLabel('Folder').fill('Reach');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  const questions = page.getByRole('region', { name: 'Questions' });
  await expect(questions.getByRole('button', { name: /^Reach/ })).toHaveAttribute('aria-expanded', 'true');
  await page.reload();
  await questions.getByRole('textbox', { name: 'Filter the list' }).fill('reach');
  await expect(questions.getByRole('button', { name: /^What a reaches/ })).toBeVisible();

  await page.getByRole('button', { name: 'New tab' }).click();
  await expect(page.getByRole('tab', { name: 'New question' })).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByPlaceholder('Commands, predicates, rules').fill('What a reaches');
  await page.keyboard.press('Enter');
  // It is open already.
  await expect(page.getByRole('tab', { name: 'edge(a, ?x)' })).toHaveAttribute('aria-selected', 'true');
});

test('a run is pinned and compared with later answers, also after a reload', { tag: '@long' }, async ({
  page,
  service,
}) => {
  await tell(page, service, 'a b', 'a c');
  await open(page, service, '/ask?question=edge(a, ?x)');
  await expect(rowsOf(page, 'Answers')).toHaveCount(2);
  const pin = page.getByRole('button', { name: 'Pin these answers' });
  await pin.click();
  await expect(pin).toHaveAttribute('aria-pressed', 'true');
  await tell(page, service, 'a d');
  await page.request.post(`${service.url}/retract`, {
    headers,
    data: { predicate: 'edge', args: ['a', 'b'] },
  });
  await expect(rowsOf(page, 'Answers')).toHaveText([/c/, /d/]);
  await page.getByRole('button', { name: 'Compare with another run' }).click();
  await page
    .getByRole('menuitem', { name: /2 answers · generation/ })
    .first()
    .click();
  const compared = page.getByRole('region', { name: 'Compared answers' });
  await expect(compared).toContainText('1 added, 1 removed');
  await expect(compared).toContainText(/generation \d+ to \d+/);
  await expect(rowsOf(page, 'Compared answers')).toHaveText([/removed.*b/, /added.*d/]);
  await expectNothingGrave(page, 'two runs compared');
  await compared.getByRole('button', { name: 'Why not edge(a, b)' }).click();
  await expect(page.getByText('does not hold')).toBeVisible();

  await page.reload();
  await page
    .getByRole('region', { name: 'Questions' })
    .getByRole('button', { name: /generation/ })
    .click();
  await expect(compared).toContainText('1 added, 1 removed');
});

test('a question that explodes can be cancelled, or reports its limit with advice', async ({
  page,
  service,
  watched,
}) => {
  await page.request.post(`${service.url}/tell`, { headers, data: { predicate: 'n', args: ['0'] } });
  await tell(page, service, 'a b');
  await teach(page, service, 'n(?y) :- n(?x), ?y = ?x + 1');
  // The default limit takes a minute to reach; a thousandth of it is immediate.
  let given = 0;
  await page.route('**/ask', async (route) => {
    const body = route.request().postDataJSON() as { maxDerivations: number };
    given = body.maxDerivations;
    await route.continue({ postData: { ...body, maxDerivations: Math.round(given / 1000) } });
  });
  await open(page, service, '/ask');
  await ask(page, 'n(?x)');
  const problem = page.getByRole('alert').filter({ hasText: 'Inference limit exceeded' });
  await expect(problem).toContainText('derivations');
  await expect(problem).toContainText('Request');
  await expect(page.getByRole('heading', { name: 'What helps' })).toBeVisible();
  await expectNothingGrave(page, 'a question over its limit');
  await page.getByRole('button', { name: 'Give it 100,000,000 derivations' }).click();
  await expect.poll(() => given).toBe(100_000_000);
  await expect(page.getByRole('button', { name: 'Give it 1,000,000,000 derivations' })).toBeVisible();
  await page.getByRole('button', { name: 'Ask stored facts only' }).click();
  await expect(rowsOf(page, 'Answers')).toHaveText([/0/]);

  // The browser logs every refusal.
  expect(watched.complaints.filter((text) => !/status of 422/.test(text))).toEqual([]);
  watched.complaints.length = 0;

  await page.unroute('**/ask');
  await page.getByText('With inference').click();
  const tab = page.getByRole('tab', { name: /^n\(\?x\)/ });
  await expect(tab).toHaveAccessibleName(/running/);
  await page.keyboard.press('Alt+t');
  // Nothing waits for it.
  await ask(page, 'edge(a, b)');
  await expect(page.getByText('Yes, it is true')).toBeVisible();
  await tab.click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByText(/Cancelled after/)).toBeVisible();
  await expect(tab).not.toHaveAccessibleName(/running/);
});

test('the events of a trace are stepped both ways, with the demanding premise marked', async ({
  page,
  service,
}) => {
  await tell(page, service, 'a b', 'b c');
  await teach(page, service, 'path(?x, ?y) :- edge(?x, ?y)', 'path(?x, ?z) :- path(?x, ?y), path(?y, ?z)');
  await open(page, service, '/trace?question=path(a, ?who)');
  await page.getByRole('tab', { name: /^Events/ }).click();
  const events = page.getByRole('grid', { name: 'Events' });
  const place = page.getByRole('list', { name: 'The rule that asks' });
  await events.getByText('path(b, ?who)').first().click();
  await expect(place.locator('[aria-current="step"]')).toHaveText(/path\(\?y, \?z\).*asked/);
  await events.focus();
  await page.keyboard.press('c');
  await expect(events.locator('[aria-selected="true"]')).toContainText('path(a, ?who)');
  await expect(place).toBeHidden();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await expect(page.getByRole('group', { name: 'Step' })).toContainText('1 of');
  await page.getByRole('combobox', { name: 'Port' }).click();
  await page.getByRole('option', { name: 'exit' }).click();
  await expect(page.getByRole('list', { name: 'The rule that concludes' })).toBeVisible();
  await expectNothingGrave(page, 'the place of an event in its rule');
  await page.reload();
  // Coming back restores the state.
  await expect(page.getByRole('combobox', { name: 'Port' })).toHaveValue('exit');
  await expect(page.getByRole('list', { name: 'The rule that concludes' })).toBeVisible();
});

test('answers are sorted by a column in every form, and many can be read as text to the end @long', async ({
  page,
  service,
}) => {
  const pairs = Array.from({ length: 3_000 }, (_, at) => `n${at} ${(at * 7919) % 3_000}`);
  await tell(page, service, ...pairs);
  await open(page, service, '/ask?question=edge(?from, ?weight)');
  const answers = rowsOf(page, 'Answers');
  const header = page.getByRole('columnheader', { name: '?weight' });
  await header.getByRole('button').click();
  await expect(header).toHaveAttribute('aria-sort', 'ascending');
  await page.getByRole('button', { name: 'Show more' }).click();
  const shown = page.getByRole('region', { name: 'Answers' });
  await expect(shown.getByText('3,000 answers')).toBeVisible();
  await expect(answers.first()).toContainText(/n0.*0/);
  await header.getByRole('button').click();
  await expect(header).toHaveAttribute('aria-sort', 'descending');
  await expect(answers.first()).toContainText('2999');
  await expect(page).toHaveURL(/sort=/);
  await expectNothingGrave(page, 'answers in order');

  await page.getByText('Text', { exact: true }).click();
  await expect(shown).toContainText(', 2999)');
  // Only visible lines are rendered.
  expect(await shown.locator('.view-line').count()).toBeLessThan(200);
  await page.getByRole('textbox', { name: 'Answers as text' }).focus();
  await page.keyboard.press('ControlOrMeta+End');
  await expect(shown).toContainText('edge(n0, 0)');
  await expectNothingGrave(page, 'answers as text');
  await page.getByText('Table', { exact: true }).click();
  await page.reload();
  await expect(header).toHaveAttribute('aria-sort', 'descending');
  await header.getByRole('button').click();
  await expect(header).not.toHaveAttribute('aria-sort');
});
