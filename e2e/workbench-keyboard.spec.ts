/** The main flow of every view by keyboard alone: Tab and the keys that the sheet of shortcuts lists. */
import { expect, type Locator, type Page } from '@playwright/test';
import { open, openSample, rowsOf, test } from './workbench.ts';

/** Longer than the way through any view. */
const MAX_STOPS = 150;

/** Presses Tab until the focus is on the element or, if it takes none itself, within it. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let stop = 0; stop < MAX_STOPS; stop++) {
    const isThere = await target.evaluate(
      (element) =>
        element === document.activeElement ||
        (!element.hasAttribute('tabindex') && element.contains(document.activeElement)),
    );
    if (isThere) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${target.toString()}`);
}

/** Presses a button, link or switch. */
async function press(page: Page, target: Locator, key = 'Enter'): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press(key);
}

/** Opens a view from anywhere with the palette. */
async function go(page: Page, view: string): Promise<void> {
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type(`Go to ${view}`);
  await expect(page.getByRole('dialog').getByRole('option', { selected: true })).toContainText(view);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
}

/** Opens a view from the rail at the left. */
async function goByRail(page: Page, view: string): Promise<void> {
  const rail = page.getByRole('navigation', { name: 'Tools' });
  await press(page, rail.getByRole('link', { name: view, exact: true }));
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first();

test('every view can be used by keyboard alone', { tag: '@long' }, async ({ page, service }) => {
  await openSample(page, service);

  await test.step('Facts: choose a predicate, edit a cell, apply, undo', async () => {
    await open(page, service, '/facts');
    await tabTo(page, page.getByRole('textbox', { name: 'Filter predicates' }));
    await page.keyboard.type('mother');
    await expect(page.getByRole('option', { name: /^ancestor/ })).toHaveCount(0);
    await tabTo(page, page.getByRole('listbox', { name: 'Predicates' }));
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/predicate=mother/);
    await tabTo(page, page.getByRole('grid', { name: 'Facts' }));
    await expect(rowsOf(page, 'Facts').filter({ hasText: 'karl' })).toBeVisible();
    await page.keyboard.press('F2');
    await page.getByRole('grid', { name: 'Facts' }).locator('input').waitFor();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('zelda');
    await page.keyboard.press('Enter');
    await press(page, page.getByRole('button', { name: 'Apply', exact: true }));
    await expect(page.getByText('Nothing is staged.')).toBeVisible();
    await tabTo(page, page.getByRole('grid', { name: 'Facts' }));
    await page.keyboard.press('ControlOrMeta+z');
    await expect(page.getByText('zelda')).toHaveCount(0);
  });

  await test.step('Rules: teach one, leave the editor, open a rule, read all as a document', async () => {
    await go(page, 'Rules');
    await page.getByRole('textbox', { name: 'New rules and facts' }).waitFor();
    await tabTo(page, page.getByRole('region', { name: 'New rules', exact: true }).locator('.monaco-editor'));
    await page.keyboard.type('elder(?x) :- ancestor(?x, ?y).', { delay: 8 });
    if (await page.locator('.suggest-widget.visible').isVisible()) await page.keyboard.press('Escape');
    await page.keyboard.press('ControlOrMeta+Enter');
    await expect(rowsOf(page, 'Rules').filter({ hasText: 'elder(?x)' })).toBeVisible();
    await page.keyboard.press('Control+m');
    await tabTo(page, page.getByRole('grid', { name: 'Rules' }));
    await page.keyboard.press('Enter');
    await expect(page.getByRole('textbox', { name: 'Name', exact: true })).toBeVisible();
    await press(page, page.getByRole('button', { name: 'Close', exact: true }));
    await tabTo(page, page.getByRole('radiogroup', { name: 'Show rules as' }));
    await page.keyboard.press('ArrowLeft');
    await expect(page.getByRole('textbox', { name: /all rules/i })).toBeVisible();
  });

  await test.step('Ask: ask, leave the editor by Tab, open a proof, compose, another form', async () => {
    await go(page, 'Ask');
    await tabTo(page, page.getByRole('region', { name: 'Question', exact: true }).locator('.monaco-editor'));
    await page.keyboard.type('ancestor(?who, ada)', { delay: 8 });
    if (await page.locator('.suggest-widget.visible').isVisible()) await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    await expect(rowsOf(page, 'Answers').first()).toBeVisible();
    await tabTo(page, page.getByRole('grid', { name: 'Answers' }));
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('tree', { name: 'Proof' }));
    await page.keyboard.press('*');
    await page.keyboard.press('End');
    await press(page, button(page, 'Close the proof'));
    await press(page, button(page, 'Compose'), 'Space');
    await expect(page.getByRole('region', { name: 'Compose' })).toBeVisible();
    await press(page, button(page, 'Compose'), 'Space');
    await tabTo(page, page.getByRole('radiogroup', { name: 'Show the answers as' }));
    await page.keyboard.press('ArrowRight');
    await expect(page).toHaveURL(/as=text/);
  });

  await test.step('Proof: turn it into a diagram and words, and leave only the facts', async () => {
    await open(page, service, '/proof?question=ancestor(agnes, ada)');
    await tabTo(page, page.getByRole('radiogroup', { name: 'How the proof is shown' }));
    await page.keyboard.press('ArrowRight');
    await tabTo(page, page.getByRole('tree', { name: 'Proof diagram' }));
    await page.keyboard.press('ArrowRight');
    await tabTo(page, page.getByRole('radiogroup', { name: 'How the proof is shown' }));
    await page.keyboard.press('ArrowRight');
    await expect(page.getByText(/because/).first()).toBeVisible();
    await press(page, button(page, 'Only the facts'));
    await expect(page).toHaveURL(/facts=true/);
  });

  await test.step('Why not: ask, look for changes, stage one', async () => {
    await goByRail(page, 'Why not');
    await tabTo(page, page.getByRole('textbox', { name: '?who' }));
    await page.keyboard.type('theo');
    await page.keyboard.press('Enter');
    await press(page, button(page, 'Look for changes'));
    await press(
      page,
      page.getByRole('list', { name: 'Sets of changes' }).getByRole('button', { name: 'Apply' }).first(),
    );
    await expect(page.getByText(/staged: apply/).first()).toBeVisible();
  });

  await test.step('Memory: another time, the threshold, pin a fact', async () => {
    await go(page, 'Memory');
    await tabTo(page, page.getByRole('radiogroup', { name: 'When' }));
    await page.keyboard.press('ArrowRight');
    await expect(page.getByText(/in a day/).first()).toBeVisible();
    await tabTo(page, page.getByRole('slider'));
    await page.keyboard.press('ArrowRight');
    await tabTo(page, page.getByRole('grid', { name: 'Most salient facts' }));
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.keyboard.press('p');
    await expect(button(page, /^Unpin/)).toBeVisible();
  });

  await test.step('Schema, History, Agents, Admin: open a row of each', async () => {
    await go(page, 'Schema');
    await tabTo(page, page.getByRole('grid', { name: 'Predicates' }));
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/predicate=/);
    await go(page, 'History');
    await tabTo(page, page.getByRole('region', { name: 'Changes' }).getByRole('button').first());
    await page.keyboard.press('Enter');
    await expect(button(page, 'Go to this moment')).toBeVisible();
    await go(page, 'Agents');
    await tabTo(page, page.getByRole('tab', { name: 'Calls' }));
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await tabTo(page, page.getByRole('tab', { name: 'tell' }));
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await press(page, button(page, /^Run/));
    await expect(page.getByText('Structured content')).toBeVisible();
    await go(page, 'Admin');
    await press(page, page.getByRole('link', { name: 'Databases' }));
    await tabTo(page, page.getByRole('grid').first());
  });

  await test.step('Context, Scopes, Trace, What if: what each is about', async () => {
    await go(page, 'Context');
    await tabTo(page, page.getByRole('textbox', { name: 'Question in plain words' }));
    await page.keyboard.type('agnes');
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('grid', { name: 'Facts of the window' }));
    await page.keyboard.press('Enter');
    await go(page, 'Scopes');
    await tabTo(page, page.getByRole('grid', { name: 'Scopes' }));
    await page.keyboard.press('f');
    await tabTo(page, page.getByRole('textbox', { name: 'Name of the new scope' }));
    await page.keyboard.type('draft');
    await page.keyboard.press('Enter');
    await expect(rowsOf(page, 'Scopes').filter({ hasText: 'draft' })).toBeVisible();
    await goByRail(page, 'Trace');
    // It takes up the last question.
    await tabTo(page, page.getByRole('grid').first());
    await goByRail(page, 'What if');
    await tabTo(page, page.getByRole('region', { name: 'Changes' }).locator('.monaco-editor').first());
    await page.keyboard.type('mother(x, y).', { delay: 8 });
    await page.keyboard.press('ControlOrMeta+Enter');
    await tabTo(page, page.getByRole('grid', { name: 'What would change' }));
  });
});
