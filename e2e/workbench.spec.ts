/** The first hour: open, load a sample, teach, ask, see why, change one's mind. */
import { expect } from '@playwright/test';
import { ask, goTo, open, openSample, rowsOf, test, write } from './workbench.ts';

test('a sample is opened, a rule taught, a question asked and explained, and a premise retracted', async ({
  page,
  service,
}, testInfo) => {
  await test.step('an empty knowledge base offers the samples', async () => {
    await open(page, service);
    await expect(page.getByRole('heading', { name: 'Knowledge, and what follows from it' })).toBeVisible();
    await openSample(page, service);
  });

  await test.step('a rule is taught from the editor', async () => {
    await goTo(page, 'Rules');
    await write(
      page,
      'New rules and facts',
      'great_grandparent(?x, ?z) :- grandparent(?x, ?y), parent(?y, ?z).',
    );
    await page.getByRole('button', { name: 'Teach' }).click();
    await expect(page.getByText('Learnt 1 rule')).toBeVisible();
    await page.getByRole('textbox', { name: 'Filter rules' }).fill('great_grandparent');
    await expect(rowsOf(page, 'Rules')).toHaveCount(1);
  });

  await test.step('a question is answered by inference', async () => {
    await goTo(page, 'Ask');
    await ask(page, 'great_grandparent(agnes, ?who)');
    await expect(rowsOf(page, 'Answers').filter({ hasText: 'nina' })).toBeVisible();
  });

  const proof = page.getByRole('tree', { name: 'Proof' });
  await test.step('every answer has its proof beside it', async () => {
    await page.getByRole('button', { name: 'Why great_grandparent(agnes, nina)' }).click();
    await expect(proof.getByRole('treeitem').first()).toContainText('great_grandparent(agnes, nina)');
    await expect(proof.getByRole('treeitem').first()).toContainText('derived');
    await expect(proof.getByRole('treeitem', { name: /mother\(agnes, ruth\)\s*asserted/ })).toBeVisible();
    await expect(page.getByRole('region', { name: 'Step' })).toContainText('?x = agnes');
    await page.screenshot({ path: testInfo.outputPath('ask-with-proof.png') });
  });

  await test.step('the premise leads to its fact, which is retracted after a preview of the consequences', async () => {
    await proof.getByRole('treeitem', { name: /mother\(agnes, ruth\)\s*asserted/ }).click();
    await page.getByRole('link', { name: 'Open the fact' }).click();
    await expect(page.getByRole('region', { name: 'Detail' })).toContainText('mother(agnes, ruth)');
    await page.getByRole('button', { name: 'Retract…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Retract this fact?' });
    await expect(dialog).toContainText('would no longer hold');
    await expect(dialog).toContainText('ancestor(agnes, ada)');
    await dialog.getByRole('button', { name: 'Retract' }).click();
    await expect(dialog).toBeHidden();
  });

  await test.step('the answer is gone, and the proof is marked as outdated', async () => {
    await goTo(page, 'Ask');
    await expect(rowsOf(page, 'Answers').filter({ hasText: 'nina' })).toHaveCount(0);
    await expect(page.getByText('It does not hold')).toBeVisible();
  });
});

test('a proof is folded, walked and followed by keyboard', { tag: '@long' }, async ({ page, service }) => {
  await openSample(page, service);
  await open(page, service, '/proof?question=ancestor(agnes, ada)');
  const tree = page.getByRole('tree', { name: 'Proof' });
  await tree.focus();
  const lines = tree.getByRole('treeitem');
  await expect(lines.first()).toHaveAttribute('aria-expanded', 'true');
  const all = await lines.count();
  await page.keyboard.press('-');
  await expect(lines).toHaveCount(1);
  await page.keyboard.press('*');
  await expect(lines).toHaveCount(all);
  await page.keyboard.press('End');
  await expect(lines.last()).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await expect(lines.nth(1)).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await expect(lines.first()).toHaveAttribute('aria-selected', 'true');
  // The first premise was folded before leaving.
  const left = await lines.count();
  expect(left).toBeLessThan(all);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Rule', exact: true })).toBeVisible();
  // Returning restores the proof's state.
  await page.goBack();
  await expect(lines).toHaveCount(left);
});

test('facts are added by statement and by form, filtered and sorted, and found again by their address', async ({
  page,
  service,
}) => {
  await open(page, service, '/facts');
  await page.getByRole('button', { name: 'Add facts' }).first().click();
  await write(page, 'Facts as statements', 'edge(a, b). edge(b, "c, d"). -edge(c, a).');
  await page.getByRole('button', { name: 'Assert 3 facts' }).click();
  await expect(page.getByText('3 facts asserted')).toBeVisible();
  await expect(rowsOf(page, 'Facts')).toHaveCount(3);

  await page.getByRole('button', { name: 'Add facts' }).click();
  await page.getByRole('tab', { name: 'Form' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add facts' });
  await dialog.getByLabel('Predicate').fill('edge');
  await dialog.getByLabel('Argument 1', { exact: true }).fill('x');
  await dialog.getByLabel('Argument 2', { exact: true }).fill('?y');
  await dialog.getByLabel('Scope').fill('draft');
  await dialog.getByLabel('Importance').fill('0.9');
  await page.keyboard.press('Tab');
  await dialog.getByRole('button', { name: 'Assert', exact: true }).click();
  await expect(dialog.getByText('variables are not allowed here')).toBeVisible();
  await dialog.getByLabel('Argument 2', { exact: true }).fill('y');
  await dialog.getByRole('button', { name: 'Assert', exact: true }).click();
  await expect(dialog).toBeHidden();
  await expect(rowsOf(page, 'Facts')).toHaveCount(4);

  await page.getByRole('option', { name: /^edge/ }).click();
  await expect(page.getByRole('columnheader', { name: 'Argument 2' })).toBeVisible();
  await page.getByRole('textbox', { name: 'Filter facts by text' }).fill('C, D');
  await expect(rowsOf(page, 'Facts')).toHaveCount(1);
  await rowsOf(page, 'Facts').first().click();
  await expect(page.getByRole('region', { name: 'Detail' })).toContainText('edge(b, "c, d")');

  const address = page.url();
  await page.goto('about:blank');
  await page.goto(address);
  await expect(page.getByRole('region', { name: 'Detail' })).toContainText('edge(b, "c, d")');
  await expect(rowsOf(page, 'Facts')).toHaveCount(1);

  await page.getByRole('button', { name: /^Scope:/ }).click();
  await page.getByRole('menuitem', { name: 'draft' }).click();
  await page.getByRole('button', { name: 'Clear the text filter' }).click();
  await expect(rowsOf(page, 'Facts')).toHaveCount(1);
  await expect(rowsOf(page, 'Facts').first()).toContainText('draft');
});

test('the editor diagnoses and completes; rules are disabled, edited and deleted', async ({
  page,
  service,
}) => {
  await openSample(page, service);
  await goTo(page, 'Rules');
  await write(page, 'New rules and facts', 'odd(?x) :- parent(?x, ?y), ?z < 3.');
  const problems = page.getByRole('list', { name: 'Problems' });
  await expect(problems).toContainText('?z');
  await expect(page.getByRole('button', { name: 'Teach' })).toBeDisabled();

  await write(page, 'New rules and facts', 'odd(?x) :- ');
  await page.keyboard.type('grandp', { delay: 20 });
  const suggestion = page.getByRole('option', { name: /grandparent/ });
  await expect(suggestion).toContainText('/2');
  await expect(suggestion).toContainText('1 rule');
  await page.keyboard.press('Escape');

  await page.getByRole('textbox', { name: 'Filter rules' }).fill('cousin');
  await expect(rowsOf(page, 'Rules')).toHaveCount(1);
  await page.getByRole('switch', { name: /^Enabled: cousin/ }).press('Space');
  await expect(page.getByRole('switch', { name: /^Enabled: cousin/ })).not.toBeChecked();

  await rowsOf(page, 'Rules').first().dblclick();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('first cousins');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved')).toBeVisible();
  await expect(rowsOf(page, 'Rules').first()).toContainText('first cousins');

  await page.getByRole('button', { name: /^Delete cousin/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText('No rule matches')).toBeVisible();
});

test('what is typed before the palette has loaded is not lost', async ({ page, service }) => {
  await open(page, service, '/facts');
  await expect(page.getByRole('navigation', { name: 'Tools' })).toBeVisible();
  let release = (): void => undefined;
  const isReleased = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/assets/palette-*.js', async (route) => {
    await isReleased;
    await route.continue();
  });
  await page.keyboard.press('Control+k');
  await page.keyboard.type('settings');
  await page.keyboard.press('Enter');
  release();
  await expect(page).toHaveURL(/\/settings/);
});

test('the palette finds commands and predicates, and ? shows the shortcuts', async ({ page, service }) => {
  await openSample(page, service);
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByPlaceholder('Commands, predicates, rules').fill('half_sibling');
  await page.getByText('half_sibling/2').click();
  await expect(page.getByRole('heading', { name: 'half_sibling' })).toBeVisible();
  await expect(page.getByPlaceholder('Commands, predicates, rules')).toBeHidden();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Alt+3');
  await expect(page.getByRole('heading', { name: 'Ask', exact: true })).toBeVisible();
});

test('questions are saved, answered as text and JSON, and from stored facts only @long', async ({
  page,
  service,
}) => {
  await openSample(page, service);
  await open(page, service, '/ask?question=parent(ruth, ?who)');
  await expect(rowsOf(page, 'Answers')).toHaveCount(3);
  await page.getByText('Text', { exact: true }).click();
  const answers = page.getByRole('region', { name: 'Answers' });
  await expect(answers).toContainText('parent(ruth, anna)');
  await page.getByText('JSON', { exact: true }).click();
  await expect(page.getByRole('textbox', { name: 'Answers as JSON' })).toBeAttached();
  await expect(answers).toContainText('"results"');

  await page.getByText('Stored only').click();
  await expect(answers).toContainText('"results": []');
  await page.getByText('Table', { exact: true }).click();
  await expect(page.getByText('No stored fact matches')).toBeVisible();

  await page.reload();
  const questions = page.getByRole('region', { name: 'Questions' });
  await expect(questions.getByRole('button', { name: /^parent\(ruth, \?who\)/ })).toBeVisible();
  await expect(questions.getByRole('button', { name: /^cousin\(laura/ })).toBeVisible();
});

test('an unreadable or endless question says so, and a running one can be cancelled', {
  tag: '@long',
}, async ({ page, service }) => {
  const facts = Array.from({ length: 400 }, (_, index) => ({ predicate: 'n', args: [String(index)] }));
  await page.request.post(`${service.url}/assert/facts`, {
    headers: { 'X-Tenant-ID': 'default' },
    data: { facts },
  });
  await open(page, service, '/ask');
  await ask(page, 'n(?x) n(?y)');
  await expect(page.getByRole('alert').filter({ hasText: 'line 1, column 7' })).toBeVisible();

  await ask(page, 'n(?a), n(?b), n(?c), ?a < ?b, ?b < ?c');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByText(/Cancelled after/)).toBeVisible();
  await ask(page, 'n(7)');
  await expect(page.getByText('Yes, it is true')).toBeVisible();
});
