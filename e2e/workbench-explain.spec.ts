/** Explanations: why not, alternative derivations, traces, what if. */
import { expect, type Locator, type Page } from '@playwright/test';
import { ask, clearEditor, goTo, open, openSample, rowsOf, test, write } from './workbench.ts';

const headers = { 'X-Tenant-ID': 'default' };

/** The rule of an explanation that begins with a text, with its premises. */
function attemptOf(page: Page, rule: string): Locator {
  return page
    .getByRole('list', { name: 'Rules that could conclude it' })
    .getByRole('listitem')
    .filter({ hasText: rule });
}

test.describe('why not', () => {
  test('a pattern without a match is made ground, and each rule shows how far it got', async ({
    page,
    service,
  }) => {
    await openSample(page, service);
    await goTo(page, 'Ask');
    await ask(page, 'cousin(ada, ?who)');
    await page.getByRole('button', { name: 'Why not' }).first().click();
    const panel = page.getByRole('region', { name: 'Why not' });
    const form = panel.getByRole('form', { name: 'What you expected' });
    await expect(form.getByRole('button', { name: 'Why not' })).toBeDisabled();
    await form.getByRole('textbox', { name: '?who' }).fill('agnes');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/whyNot=cousin/);
    await expect(panel.getByText('does not hold')).toBeVisible();

    const attempt = attemptOf(page, 'cousin(?x, ?y)');
    await expect(attempt).toContainText('2 of 3 premises met');
    await expect(attempt).toContainText('?x = ada');
    const missing = attempt.getByRole('listitem').filter({ hasText: 'missing' });
    await expect(missing).toHaveCount(1);

    await test.step('a missing premise leads to its own "why not"', async () => {
      await missing.getByRole('button', { name: 'Why not' }).click();
      await expect(panel.getByRole('heading', { name: '2 rules could conclude it' })).toBeVisible();
      await expect(page).toHaveURL(/whyNot=parent/);
      await page.goBack();
      await expect(attempt).toContainText('2 of 3 premises met');
    });

    await test.step('and to "what if it were true"', async () => {
      await missing.getByRole('link', { name: 'What if it held' }).click();
      await expect(page.getByRole('heading', { name: 'What if', exact: true })).toBeVisible();
      await expect(page.getByText('1 conclusion gained')).toBeVisible();
      await expect(rowsOf(page, 'What would change')).toContainText(['cousin(ada, agnes)']);
    });
  });

  test('reasons why a fact is hidden are shown: a scope, an expired validity, a disabled rule @long', async ({
    page,
    service,
  }) => {
    const tell = (data: object) => page.request.post(`${service.url}/tell`, { headers, data });
    await tell({ predicate: 'open', args: ['gate'], scope: 'plan' });
    const until = Date.now() + 1_000;
    await tell({ predicate: 'open', args: ['door'], validUntil: until });
    await page.request.post(`${service.url}/teach`, {
      headers,
      data: { text: 'open(?x) :- unlocked(?x)', enabled: false },
    });
    await tell({ predicate: 'unlocked', args: ['window'] });
    await open(page, service, '/why-not?question=open(gate)&unscoped=true');
    const hides = page.getByRole('region', { name: 'What hides it' });
    await expect(hides).toContainText('other scope');
    await expect(hides).toContainText('plan');

    await expect.poll(() => Date.now()).toBeGreaterThan(until);
    await write(page, 'Statement', 'open(door)');
    await page.keyboard.press('ControlOrMeta+Enter');
    await expect(hides).toContainText('expired');

    await write(page, 'Statement', 'open(window)');
    await page.keyboard.press('ControlOrMeta+Enter');
    await expect(hides).toContainText('rule switched off');
    await hides.getByRole('link', { name: 'Open the rule' }).click();
    await expect(page.getByRole('heading', { name: 'Rule', exact: true })).toBeVisible();
  });

  test('one of several conditions is selected, and a true one leads to its proof', { tag: '@long' }, async ({
    page,
    service,
  }) => {
    await openSample(page, service);
    await open(page, service, '/why-not?question=mother(agnes, ruth), cousin(ada, agnes)');
    await page.getByRole('button', { name: 'mother(agnes, ruth)' }).click();
    await expect(page.getByText('It holds now')).toBeVisible();
    await page.getByRole('link', { name: 'Why it holds' }).click();
    await expect(page.getByRole('tree', { name: 'Proof' })).toContainText('mother(agnes, ruth)');
  });

  test('a change of the knowledge is reported, and the explanation stays until it is requested again @long', async ({
    page,
    service,
  }) => {
    await openSample(page, service);
    await open(page, service, '/why-not?question=mother(ruth, zoe)');
    await expect(page.getByText('does not hold')).toBeVisible();
    await page.request.post(`${service.url}/tell`, {
      headers,
      data: { predicate: 'mother', args: ['ruth', 'zoe'] },
    });
    await expect(page.getByText('The knowledge has moved on since this was explained')).toBeVisible();
    await expect(page.getByText('does not hold')).toBeVisible();
    await page.getByRole('button', { name: 'Explain again' }).click();
    await expect(page.getByText('It holds now')).toBeVisible();
    await expect(page.getByText('The knowledge has moved on')).toBeHidden();
  });
});

test.describe('alternatives', () => {
  test('the alternatives of a step are counted and cycled through, by button and key', async ({
    page,
    service,
  }) => {
    const facts = ['a b', 'b d', 'a c', 'c d'].map((pair) => ({ predicate: 'edge', args: pair.split(' ') }));
    await page.request.post(`${service.url}/assert/facts`, { headers, data: { facts } });
    for (const text of ['path(?x, ?y) :- edge(?x, ?y)', 'path(?x, ?z) :- path(?x, ?y), edge(?y, ?z)'])
      await page.request.post(`${service.url}/teach`, { headers, data: { text } });
    await open(page, service, '/proof?question=path(a, d)');
    const tree = page.getByRole('tree', { name: 'Proof' });
    const root = tree.getByRole('treeitem').first();
    await expect(root).toContainText('path(a, d)');
    await expect(root).not.toContainText('way 1');

    await page.getByRole('button', { name: 'Alternatives' }).click();
    await expect(root).toContainText('way 1 of 2');
    await expect(page.getByText('1 with other ways')).toBeVisible();
    await expect(tree.getByRole('treeitem', { name: /edge\(b, d\)/ })).toBeVisible();

    await page.getByRole('button', { name: 'Next way' }).click();
    await expect(root).toContainText('way 2 of 2');
    await expect(tree.getByRole('treeitem', { name: /edge\(c, d\)/ })).toBeVisible();
    await expect(tree.getByRole('treeitem', { name: /edge\(b, d\)/ })).toHaveCount(0);
    await tree.focus();
    await page.keyboard.press('a');
    await expect(root).toContainText('way 1 of 2');

    await page.getByRole('button', { name: 'Alternatives' }).click();
    await expect(root).not.toContainText('way 1');

    await page.getByRole('main').getByRole('link', { name: 'Trace' }).click();
    await expect(page.getByRole('heading', { name: 'Trace', exact: true })).toBeVisible();
    await expect(page.getByRole('tab', { name: /^Rules \(2\)/ })).toBeVisible();
  });

  test('an untrue step leads to "why not", and a fact of a proof to "what if it were absent"', {
    tag: '@long',
  }, async ({ page, service }) => {
    await openSample(page, service);
    await open(page, service, '/proof?question=mother(ada, agnes)');
    await page.getByRole('main').getByRole('link', { name: 'Why not' }).click();
    await expect(page.getByText('does not hold')).toBeVisible();

    await open(page, service, '/proof?question=grandparent(agnes, anna)');
    const tree = page.getByRole('tree', { name: 'Proof' });
    await tree.getByRole('treeitem', { name: /mother\(agnes, ruth\)/ }).click();
    await page.getByRole('link', { name: 'What if it were retracted' }).click();
    await expect(page.getByText('0 conclusions gained')).toBeVisible();
    const changed = rowsOf(page, 'What would change');
    await expect(changed.filter({ hasText: 'grandparent(agnes, anna)' })).toContainText(['lost']);
  });
});

test.describe('the trace', () => {
  test('shows rules, subgoals and events, filtered and stepped both ways', async ({ page, service }) => {
    await openSample(page, service);
    await goTo(page, 'Ask');
    await write(page, 'Question', 'grandparent(agnes, ?who)');
    await page.getByRole('button', { name: 'Trace' }).click();
    const panel = page.getByRole('region', { name: 'Trace' });
    await expect(rowsOf(page, 'Rules by time').filter({ hasText: 'grandparent(?x, ?z)' })).toHaveCount(1);
    // A trace also answers the question.
    await expect(rowsOf(page, 'Answers').first()).toBeVisible();
    const answers = await rowsOf(page, 'Answers').count();
    await expect(panel).toContainText(`${answers} answers`);

    await panel.getByRole('tab', { name: /^Subgoals/ }).click();
    await expect(rowsOf(page, 'Subgoals').filter({ hasText: 'grandparent(agnes, ?who)' })).toHaveCount(1);
    await panel.getByRole('button', { name: 'Subgoal', exact: true }).click();
    await expect(panel.getByRole('columnheader', { name: 'Subgoal' })).toHaveAttribute(
      'aria-sort',
      'ascending',
    );

    await panel.getByRole('tab', { name: /^Events/ }).click();
    const events = page.getByRole('grid', { name: 'Events' });
    const chosen = events.locator('[aria-selected="true"]');
    await expect(chosen).toContainText('call');
    await panel.getByRole('button', { name: 'Step forwards' }).click();
    await expect(panel.getByRole('group', { name: 'Step' })).toContainText('2 of');
    await panel.getByRole('button', { name: 'Step back' }).click();
    await expect(panel.getByRole('group', { name: 'Step' })).toContainText('1 of');
    await panel.getByRole('button', { name: 'Last event' }).click();
    await expect(chosen).toBeVisible();

    await panel.getByRole('combobox', { name: 'Port' }).click();
    await page.getByRole('option', { name: 'exit' }).click();
    await panel.getByRole('combobox', { name: 'Predicate' }).click();
    await page.getByRole('option', { name: 'grandparent' }).click();
    await expect(rowsOf(page, 'Events')).toHaveCount(answers);
    await expect(panel.getByRole('region', { name: 'Event' })).toContainText('grandparent(?x, ?z) :-');
    await panel.getByRole('link', { name: 'Why', exact: true }).click();
    await expect(page.getByRole('tree', { name: 'Proof' })).toBeVisible();
  });

  test('a long trace can be cancelled, and a failing one says why', async ({ page, service }) => {
    const facts = Array.from({ length: 400 }, (_, index) => ({ predicate: 'n', args: [String(index)] }));
    await page.request.post(`${service.url}/assert/facts`, { headers, data: { facts } });
    await open(page, service, '/trace?question=n(?a), n(?b), n(?c), ?a < ?b, ?b < ?c');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect(page.getByText(/Cancelled after/)).toBeVisible();
    await open(page, service, '/trace?question=n(?a');
    await expect(page.getByRole('alert').filter({ hasText: 'line 1' })).toBeVisible();
  });
});

test.describe('what if', () => {
  test('changes are staged, evaluated and restored by their address; nothing is stored', async ({
    page,
    service,
  }) => {
    await openSample(page, service);
    await page.keyboard.press('Alt+9');
    await expect(page.getByRole('heading', { name: 'What if', exact: true })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Work out' })).toBeDisabled();
    await write(page, 'Facts and rules to add', 'mother(ada, zoe). elder(?x) :- parent(?x, ?y).');
    await write(page, 'What to look at', 'ancestor(agnes, zoe)');
    await page.keyboard.press('ControlOrMeta+Enter');
    await expect(page.getByText('1 conclusion gained')).toBeVisible();
    await expect(rowsOf(page, 'What would change')).toContainText(['ancestor(agnes, zoe)']);

    const address = page.url();
    await page.goto('about:blank');
    await page.goto(address);
    await expect(page.getByText('1 conclusion gained')).toBeVisible();
    await page.getByRole('link', { name: 'Why not ancestor(agnes, zoe)' }).click();
    await expect(page.getByText('does not hold')).toBeVisible();
  });

  test('errors are shown in place, and a change of the staged edits marks the outcome as outdated', {
    tag: '@long',
  }, async ({ page, service }) => {
    await openSample(page, service);
    await open(page, service, '/what-if?retract=mother(agnes, ruth).&goals=parent(agnes, ?who)');
    await expect(page.getByText('1 lost')).toBeVisible();
    await page.getByRole('switch', { name: 'Show what stays' }).press('Space');
    await expect(rowsOf(page, 'What would change').filter({ hasText: 'stays' })).not.toHaveCount(0);

    await write(page, 'What to look at', 'parent agnes');
    await expect(page.getByText(/^Line 1, column/)).toBeVisible();
    await expect(page.getByRole('button', { name: 'Work out', exact: true })).toBeDisabled();
    await write(page, 'What to look at', 'ancestor(agnes, ?who)');
    await expect(page.getByText('the outcome of the previous changes')).toBeVisible();
    await page.getByRole('button', { name: 'Work out again' }).click();
    await expect(page.getByText('the outcome of the previous changes')).toBeHidden();
    await expect(rowsOf(page, 'What would change')).not.toHaveCount(0);

    await page.getByRole('button', { name: 'Clear' }).click();
    await expect(page.getByRole('heading', { name: 'Try a change' })).toBeVisible();
  });

  test('from a rule: left out, changed, or new and not taught yet', { tag: '@long' }, async ({
    page,
    service,
  }) => {
    await openSample(page, service);
    await goTo(page, 'Rules');
    await page.getByRole('button', { name: /^More for grandparent/ }).click();
    await page.getByRole('menuitem', { name: 'What if it were left out' }).click();
    await expect(page.getByRole('list', { name: 'Rules left out' })).toContainText('grandparent(?x, ?z)');
    await expect(rowsOf(page, 'What would change').first()).toContainText('grandparent');
    await expect(rowsOf(page, 'What would change').first()).toContainText('lost');

    await page.goBack();
    await page.getByRole('textbox', { name: 'Filter rules' }).fill('grandparent');
    await expect(rowsOf(page, 'Rules').first()).toContainText('grandparent');
    await rowsOf(page, 'Rules').first().dblclick();
    await page.getByRole('textbox', { name: 'Rule', exact: true }).focus();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('grandparent(?x, ?z) :- parent(?x, ?y), mother(?y, ?z).', { delay: 8 });
    await page.getByRole('button', { name: 'Try', exact: true }).click();
    await page.getByRole('main').getByRole('link', { name: 'What if' }).click();
    await expect(page.getByRole('heading', { name: 'What if', exact: true })).toBeVisible();
    await expect(rowsOf(page, 'What would change').first()).toContainText('lost');
    await expect(page.getByText('0 conclusions gained')).toBeVisible();

    await open(page, service, '/rules');
    await clearEditor(page, 'New rules and facts');
    await page.keyboard.type('twin(?x, ?y) :- sibling(?x, ?y), born(?x, ?b), born(?y, ?b).', { delay: 8 });
    await page.getByRole('main').getByRole('link', { name: 'What if' }).click();
    await expect(page.getByRole('heading', { name: 'What if', exact: true })).toBeVisible();
    await expect(page.getByText(/conclusions? gained/)).toBeVisible();
  });
});
