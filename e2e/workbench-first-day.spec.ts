/** The first day: explanation tools at hand, Enter asks, a tour that nothing covers. */
import { expect } from '@playwright/test';
import { goTo, open, openSample, test } from './workbench.ts';

test('Proof, Why not, What if and Trace are among the tools, and begin with the asked or typed question', async ({
  page,
  service,
}) => {
  await openSample(page, service);
  await goTo(page, 'Proof');
  await page.getByRole('textbox', { name: 'Statement to prove' }).fill('ancestor(agnes, ada)');
  await page.keyboard.press('Enter');
  const proof = page.getByRole('tree', { name: 'Proof' });
  await expect(proof.getByRole('treeitem').first()).toContainText('ancestor(agnes, ada)');

  await goTo(page, 'Trace');
  await page.getByRole('textbox', { name: 'Question to trace' }).fill('cousin(?who, ada)');
  await page.getByRole('button', { name: 'Trace it' }).click();
  await expect(page).toHaveURL(/trace\?.*question=cousin/);

  await open(page, service, '/ask?question=cousin(ada, ?who)');
  await goTo(page, 'Why not');
  await expect(page).toHaveURL(/why-not\?.*question=cousin%28ada/);
  await expect(page.getByRole('region', { name: 'Why not' })).toBeVisible();
  await goTo(page, 'What if');
  await expect(page).toHaveURL(/what-if/);
});

test('all tools are visible in a small window', async ({ page, service }) => {
  await page.setViewportSize({ width: 960, height: 640 });
  await open(page, service, '/facts');
  const tools = page.getByRole('navigation', { name: 'Tools' }).getByRole('link');
  await expect(tools).toHaveCount(15);
  for (const tool of await tools.all()) await expect(tool).toBeInViewport({ ratio: 0.95 });
});

test('Enter asks a question of one line, and Shift+Enter breaks the line', async ({ page, service }) => {
  await openSample(page, service);
  await open(page, service, '/ask');
  const editor = page.getByRole('textbox', { name: 'Question' });
  await editor.waitFor({ state: 'attached' });
  await editor.focus();
  await page.keyboard.insertText('mother(nora, ?child)');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/question=mother%28nora/);
  await expect(
    page
      .getByText('mother(nora, alma)')
      .or(page.getByRole('gridcell', { name: 'alma' }))
      .first(),
  ).toBeVisible();

  await editor.focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText('mother(nora, ?x),');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.insertText('parent(?x, ?y)');
  // Enter would accept an open suggestion.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Enter');
  await expect(page.locator('.view-line')).toHaveCount(3);
  await expect(page).toHaveURL(/question=mother%28nora%2C\+%3Fchild%29/);
});

test('a dialog of a step leaves the tour beside it free, and the text to type can be copied meanwhile @long', async ({
  page,
  service,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.setViewportSize({ width: 960, height: 640 });
  await open(page, service);
  await page.getByRole('button', { name: 'Take the tour' }).click();
  const tour = page.getByRole('complementary', { name: 'Tour' });
  await tour.getByRole('button', { name: 'Open Facts' }).click();
  await page.getByRole('button', { name: 'Add facts' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Add facts' });
  await expect(dialog).toBeVisible();
  await expect
    .poll(async () => {
      const [there, beside] = [await dialog.boundingBox(), await tour.boundingBox()];
      return there !== null && beside !== null && there.x + there.width <= beside.x;
    })
    .toBe(true);
  await tour.getByRole('button', { name: 'Copy what is to be typed' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('parent(alice, bob).');
  await expect(dialog).toBeVisible();
});

test('a comparison opened again shows the current differences, without a notice of changes elsewhere', {
  tag: '@long',
}, async ({ page, service }) => {
  const tell = (scope: string, of: string) =>
    fetch(`${service.url}/tell`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Tenant-ID': 'default' },
      body: JSON.stringify({ predicate: 'role', args: [of], scope }),
    });
  await tell('main', 'ann');
  await tell('draft', 'bob');
  await open(page, service, '/scopes?source=draft&target=main');
  const comparison = page.getByRole('region', { name: 'Comparison' });
  await expect(comparison.getByText('bob').first()).toBeVisible();
  await goTo(page, 'Facts');
  await tell('draft', 'cy');
  await goTo(page, 'Scopes');
  await expect(comparison.getByText('cy').first()).toBeVisible();
  await expect(page.getByText('The scopes were changed elsewhere')).toBeHidden();
  // A change is announced while the view is open.
  let told = 0;
  await expect
    .poll(async () => {
      await tell('draft', `later-${told++}`);
      return page.getByText('The scopes were changed elsewhere').isVisible();
    })
    .toBe(true);
});
