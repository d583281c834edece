/** Plain words in the workbench: the palette, Ask and Context find what they name, and show what they became. */
import { expect, type Locator, type Page } from '@playwright/test';
import { expectNothingGrave } from './accessibility.ts';
import { ask, forgive, goTo, open, openSample, rowsOf, test } from './workbench.ts';

const found = (page: Page) => page.getByRole('listbox', { name: 'Found' });
const group = (page: Page, name: string) => found(page).getByRole('group', { name, exact: true });
const field = (page: Page) => page.getByPlaceholder('Commands, predicates, rules');

async function search(page: Page, text: string): Promise<void> {
  await page.keyboard.press('ControlOrMeta+k');
  await field(page).fill(text);
}

/** Moves down to an option by keyboard, once the search has ended, and runs it. */
async function runByKey(page: Page, option: Locator): Promise<void> {
  await expect(option).toBeVisible();
  await expect(found(page)).toHaveAttribute('aria-busy', 'false');
  const id = await option.getAttribute('id');
  const ids = await found(page)
    .getByRole('option')
    .evaluateAll((all) => all.map((each) => each.id));
  for (let step = ids.indexOf(id ?? ''); step > 0; step--) await page.keyboard.press('ArrowDown');
  await expect(option).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Enter');
  await expect(field(page)).toBeHidden();
}

test('the palette finds facts and conclusions by words, and Enter opens them', async ({ page, service }) => {
  await openSample(page, service);

  await test.step('a misspelt name finds its facts, and says what it was taken for', async () => {
    await search(page, 'agnez');
    const dialog = page.getByRole('dialog', { name: 'Search everything' });
    await expect(dialog.getByRole('status')).toHaveText('“agnez” is read as agnes');
    await expect(group(page, 'Entities').getByRole('option')).toHaveText(/agnes/);
    await expect(group(page, 'Conclusions').getByRole('option').first()).toContainText('names agnes');
    await expectNothingGrave(page, 'the palette with hits');
    await runByKey(page, group(page, 'Facts').getByRole('option', { name: 'mother(agnes, ida)' }));
    const row = rowsOf(page, 'Facts').filter({ hasText: 'ida' });
    await expect(row).toHaveCount(1);
    await expect(row).toHaveAttribute('aria-selected', 'true');
    await expect(page.getByRole('region', { name: 'Detail' })).toContainText('mother(agnes, ida)');
  });

  await test.step('a conclusion opens its proof', async () => {
    await search(page, "who are anna's grandparents?");
    await runByKey(page, group(page, 'Conclusions').getByRole('option', { name: 'grandparent(otto, anna)' }));
    await expect(page.getByRole('tree', { name: 'Proof' })).toContainText('father(otto, ruth)');
  });
});

test('the palette finds rules, predicates and entities by words, and says when nothing has them @long', async ({
  page,
  service,
}) => {
  await openSample(page, service);

  await test.step('a rule opens in its editor, a predicate its conclusions', async () => {
    await search(page, 'rules about grandparents');
    await runByKey(page, group(page, 'Rules by words').getByRole('option').first());
    await expect(page).toHaveURL(/\/rules\?rule=/);
    await expect(page.locator('.monaco-editor').first()).toContainText('grandparent(?x, ?z)');
    await search(page, 'grandparents');
    await runByKey(page, group(page, 'Predicates by words').getByRole('option', { name: 'grandparent' }));
    await expect(page).toHaveURL(/\/facts\?.*predicate=grandparent/);
    await expect(rowsOf(page, 'Facts').first()).toBeVisible();
  });

  await test.step('an entity opens its page', async () => {
    await search(page, 'agnes');
    await runByKey(page, group(page, 'Entities').getByRole('option', { name: 'agnes' }));
    await expect(page.getByRole('heading', { level: 1, name: 'agnes' })).toBeVisible();
  });

  await test.step('what nothing has is said plainly', async () => {
    await search(page, 'zzzq wobble');
    await expect(page.getByRole('dialog').getByRole('status')).toContainText('nothing known has these words');
    await expect(found(page).getByRole('option')).toHaveCount(0);
  });
});

test('the palette shows only the hits of the last text, and reports a failed search', {
  tag: '@long',
}, async ({ page, service, watched }) => {
  await openSample(page, service);
  const held: (() => void)[] = [];
  await page.route('**/search', async (route) => {
    const { text } = route.request().postDataJSON() as { text: string };
    if (text === 'paul') await new Promise<void>((resolve) => held.push(resolve));
    if (text === 'ruth')
      await route.fulfill({
        status: 422,
        contentType: 'application/problem+json',
        body: JSON.stringify({ code: 'InferenceLimitExceeded', detail: 'The search took too long.' }),
      });
    else await route.continue();
  });
  await search(page, 'paul');
  // Names, facts and conclusions are asked for apart.
  await expect.poll(() => held.length).toBe(3);
  await field(page).fill('anna');
  await expect(group(page, 'Entities').getByRole('option')).toHaveText(/anna/);
  for (const release of held) release();
  await expect(found(page)).toHaveAttribute('aria-busy', 'false');
  await expect(found(page).getByRole('option', { name: /paul, (?!anna)/ })).toHaveCount(0);
  await expect(group(page, 'Entities').getByRole('option')).toHaveText(/anna/);

  await field(page).fill('ruth');
  const alert = page.getByRole('dialog').getByRole('alert');
  await expect(alert).toContainText('The knowledge could not be searched: The search took too long.');
  await expectNothingGrave(page, 'a failed search in the palette');
  await page.unroute('**/search');
  await alert.getByRole('button', { name: 'Try again' }).press('Enter');
  await expect(group(page, 'Entities').getByRole('option')).toHaveText(/ruth/);
  await expect(alert).toBeHidden();
  forgive(watched, /status of 422/);
});

test('Ask shows which goals plain words become, and asks or edits one', async ({ page, service }) => {
  await openSample(page, service);
  await open(page, service, '/ask');
  await ask(page, "who is anna's grandparent?");
  const answers = page.getByRole('region', { name: 'Answers' });
  await expect(answers.getByRole('status').first()).toContainText('2 goals');
  await expect(page.getByRole('region', { name: 'Question' }).getByRole('status').first()).toHaveText(
    'plain words',
  );
  await expect(
    answers
      .locator('mark')
      .filter({ hasText: /^anna$/ })
      .first(),
  ).toHaveAttribute('title', 'constant anna');
  const goals = answers.getByRole('region', { name: 'Goals' }).getByRole('listitem');
  await expect(goals.nth(1)).toContainText('grandparent(?x1, anna)');
  await expect(goals.nth(1)).toContainText('4 answers');
  await expect(goals.nth(1)).toContainText('proved');
  await expectNothingGrave(page, 'plain words in Ask');

  await test.step('a goal is asked, and the way back leads to the words', async () => {
    await page.getByRole('button', { name: 'Ask grandparent(?x1, anna)' }).press('Enter');
    await expect(rowsOf(page, 'Answers')).toHaveCount(4);
    await page.goBack();
    await expect(goals).toHaveCount(2);
    await page.reload();
    await expect(goals).toHaveCount(2);
  });

  await test.step('a goal is edited', async () => {
    await page.getByRole('button', { name: 'Edit grandparent(anna, ?x2)' }).press('Enter');
    await expect(page.getByRole('textbox', { name: 'Question' })).toBeFocused();
    await page.keyboard.press('ControlOrMeta+Enter');
    await expect(rowsOf(page, 'Answers')).toHaveText([/vera/]);
  });
});

test('Ask reads a name alone, and on request a broken goal, as plain words', { tag: '@long' }, async ({
  page,
  service,
}) => {
  await openSample(page, service);
  await open(page, service, '/ask');
  const answers = page.getByRole('region', { name: 'Answers' });
  await test.step('a name alone is no missing predicate', async () => {
    await ask(page, 'agnez');
    await expect(answers.getByRole('list', { name: 'Names in the text' })).toContainText(
      /agnez\s+is\s+agnes\s+constant, in another spelling/,
    );
    await expect(page.getByRole('button', { name: 'Ask born(agnes, ?x2)' })).toBeVisible();
  });

  await test.step('a goal with a mistake can be read as words', async () => {
    await ask(page, 'children parent(anna, ');
    const problem = page.locator('main').getByRole('alert');
    await expect(problem.filter({ hasText: 'The question cannot be read' })).toBeVisible();
    await page.getByRole('button', { name: 'Read as plain words' }).press('Enter');
    await expect(page.getByRole('button', { name: 'Ask parent(anna, ?x2)' })).toBeVisible();
  });

  await ask(page, 'wobbly zzzq things');
  await expect(page.getByRole('heading', { name: 'Nothing known has these words' })).toBeVisible();
});

test('Context chooses a window for a question, and says why each line is there', async ({
  page,
  service,
}) => {
  await openSample(page, service);
  await goTo(page, 'Context');
  await page.getByRole('textbox', { name: 'Question in plain words' }).fill("agnes and anna's grandparents");
  const asked = page.getByRole('region', { name: 'Asked in plain words' });
  await expect(asked.locator('mark').filter({ hasText: 'grandparents' }).first()).toHaveAttribute(
    'title',
    'predicate grandparent',
  );
  await expect(page).toHaveURL(/query=agnes/);
  const rows = rowsOf(page, 'Facts of the window');
  const answer = rows.filter({ hasText: 'answers grandparent(agnes, anna)' });
  await expect(answer).toHaveCount(1);
  await expect(rows.filter({ hasText: 'is a premise' }).first()).toBeVisible();
  await expect(rows.filter({ hasText: 'names agnes' }).first()).toBeVisible();
  await expectNothingGrave(page, 'a window for a question');

  await test.step('the detail has the signals of the search', async () => {
    await answer.getByRole('gridcell').nth(1).click();
    const signals = page.getByRole('list', { name: 'Signals of the search' });
    await expect(signals).toContainText('names agnes, anna, grandparent rank 1');
  });

  await test.step('premises alone leave the conclusions out', async () => {
    await page.getByRole('radiogroup', { name: 'Proofs' }).getByText('Premises').click();
    await expect(page).toHaveURL(/proofs=premises/);
    await expect(answer).toHaveCount(0);
    await page.getByRole('tab', { name: /^Goals \(0 of 1 proved\)/ }).click();
    const goals = page.getByRole('list', { name: 'Goals of the window' });
    await expect(goals).toContainText('premises only');
    await expect(goals.getByRole('link', { name: 'grandparent(agnes, anna)' })).toBeVisible();
  });

  await test.step('words that nothing has', async () => {
    await page.getByRole('textbox', { name: 'Question in plain words' }).fill('wobbly zzzq');
    await expect(asked).toContainText('Nothing known has these words');
  });
});

test('tokens limit a window for a question, and its text is what an agent reads', { tag: '@long' }, async ({
  page,
  service,
}) => {
  await openSample(page, service);
  await open(page, service, `/context?query=${encodeURIComponent("agnes and anna's grandparents")}`);
  await page.getByRole('textbox', { name: 'Tokens' }).fill('40');
  const tokens = page.getByRole('meter', { name: 'Tokens' });
  await expect(tokens).toHaveAttribute('aria-valuetext', /^\d+ of 40$/);
  await page.getByRole('tab', { name: 'Text', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Copy the text' })).toBeVisible();
  await expect(page.locator('.monaco-editor').filter({ hasText: 'mother' }).last()).toContainText(
    'mother(agnes, ruth)',
  );
  await expectNothingGrave(page, 'a window as text');
});
