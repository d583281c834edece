/** The frame of the workbench: tour, themes, state after a restart, and a service that goes away. */
import { expect, type Locator, type Page } from '@playwright/test';
import { expectNothingGrave } from './accessibility.ts';
import { ServiceProcess } from './service.ts';
import { goTo, open, openSample, rowsOf, test } from './workbench.ts';

const tour = (page: Page) => page.getByRole('complementary', { name: 'Tour' });

/** Uses the button that leads to the ring, and waits until the control has the focus. */
async function takeMeThere(page: Page, control: { role: 'button' | 'textbox'; name: string }): Promise<void> {
  await tour(page)
    .getByRole('button', { name: /^(Take me there|Open )/ })
    .press('Enter');
  const named = page.getByRole(control.role, { name: control.name, exact: true });
  await expect(named.and(page.locator(':focus'))).toHaveCount(1);
}

async function next(page: Page, outcome: string, heading: string): Promise<void> {
  await expect(tour(page).getByRole('status')).toContainText(outcome);
  await tour(page)
    .getByRole('button', { name: /^(Next|Finish)$/ })
    .press('Enter');
  await expect(tour(page).getByRole('heading', { name: heading })).toBeFocused();
}

test('the tour is taken by keyboard alone, left and resumed, and removes its knowledge @long', async ({
  page,
  service,
}, testInfo) => {
  await open(page, service, '/start');
  await page.getByRole('button', { name: 'Take the tour' }).press('Enter');
  await expect(tour(page).getByRole('heading', { name: '1. Assert two facts' })).toBeFocused();
  await expect(tour(page).getByRole('status')).toContainText('Not done yet');
  await takeMeThere(page, { role: 'button', name: 'Add facts' });
  await page.keyboard.press('Enter');
  await expect(page.getByRole('textbox', { name: 'Facts as statements' })).toBeFocused();
  await page.keyboard.type('parent(alice, bob). parent(bob, carol).', { delay: 8 });
  await page.screenshot({ path: testInfo.outputPath('tour-assert.png') });
  await page.keyboard.press('ControlOrMeta+Enter');
  await next(page, 'Both facts are stored', '2. Teach a rule');

  await test.step('a step that was not done is reported, and the tour continues after a restart', async () => {
    await tour(page).getByRole('button', { name: 'Leave the tour' }).press('Enter');
    await expect(tour(page)).toBeHidden();
    await page.reload();
    // Keys work once the workbench has loaded.
    await expect(page.getByRole('navigation', { name: 'Tools' })).toBeVisible();
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByPlaceholder('Commands, predicates, rules').fill('take the tour');
    await page.keyboard.press('Enter');
    await expect(tour(page).getByRole('heading', { name: '2. Teach a rule' })).toBeFocused();
    await expect(tour(page).getByRole('status')).toContainText('Not done yet');
  });

  await takeMeThere(page, { role: 'textbox', name: 'New rules and facts' });
  await page.keyboard.type('grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z).', { delay: 8 });
  await page.keyboard.press('Escape');
  await page.screenshot({ path: testInfo.outputPath('tour-teach.png') });
  await page.keyboard.press('ControlOrMeta+Enter');
  await next(page, 'grandparent(alice, carol) follows', '3. Ask a question');

  await takeMeThere(page, { role: 'textbox', name: 'Question' });
  await page.keyboard.type('grandparent(alice, ?who)', { delay: 8 });
  await page.keyboard.press('Escape');
  await page.keyboard.press('ControlOrMeta+Enter');
  await next(page, '?who = carol', '4. See why');

  await takeMeThere(page, { role: 'button', name: 'Why grandparent(alice, carol)' });
  await page.screenshot({ path: testInfo.outputPath('tour-why.png') });
  await page.keyboard.press('Enter');
  await next(page, 'The proof is open', '5. Choose what an agent reads');

  await takeMeThere(page, { role: 'textbox', name: 'Goals' });
  await page.keyboard.type('grandparent(alice, ?who)', { delay: 8 });
  await page.keyboard.press('Escape');
  await expect(tour(page).getByRole('status')).toContainText('The window holds both facts');
  await expectNothingGrave(page, 'the tour');
  await page.screenshot({ path: testInfo.outputPath('tour-window.png') });
  await next(page, 'The window holds both facts', 'That was the tour');
  await tour(page).getByRole('button', { name: 'Remove them' }).press('Enter');
  await expect(page.getByText('What the tour stored is gone')).toBeVisible();
  await open(page, service, '/');
  await expect(page.getByRole('button', { name: 'Take the tour' })).toBeVisible();
});

test("high contrast is a theme of its own, survives a restart, and follows the system's preference @long", async ({
  page,
  service,
}) => {
  await openSample(page, service);
  await goTo(page, 'Settings');
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.getByText('High contrast', { exact: true }).click();
  await expect.poll(background).toBe('rgb(0, 0, 0)');
  await page.reload();
  await expect(page.getByRole('radio', { name: 'High contrast' })).toBeChecked();
  expect(await background()).toBe('rgb(0, 0, 0)');
  await page.getByText('System', { exact: true }).click();
  await expect.poll(background).toBe('rgb(255, 255, 255)');
  await page.emulateMedia({ contrast: 'more' });
  await expect.poll(background).toBe('rgb(0, 0, 0)');
});

/** Presses Tab until `target` has the focus, like a user without a mouse. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  const focused = target.and(page.locator(':focus'));
  await expect(target.first()).toBeVisible();
  for (let presses = 0; presses < 80; presses++) {
    if ((await focused.count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`80 presses of Tab do not lead to ${target.toString()}`);
}

test('without a mouse: assert, teach, ask, why, merge, decay', async ({ page, service }) => {
  const until = Date.now() + 1_000;
  for (const facts of [
    [{ predicate: 'staff', args: ['ann'], scope: 'main' }],
    [{ predicate: 'staff', args: ['eve'], scope: 'draft' }],
    [{ predicate: 'visitor', args: ['kim'], validUntil: until }],
  ])
    await page.request.post(`${service.url}/assert/facts`, {
      headers: { 'X-Tenant-ID': 'default' },
      data: { facts },
    });
  await open(page, service, '/facts');

  await test.step('assert', async () => {
    await tabTo(page, page.getByRole('button', { name: 'Add facts' }));
    await page.keyboard.press('Enter');
    await expect(page.getByRole('textbox', { name: 'Facts as statements' })).toBeFocused();
    await page.keyboard.type('parent(alice, bob). parent(bob, carol).', { delay: 8 });
    await page.keyboard.press('ControlOrMeta+Enter');
    await expect(page.getByText('2 facts asserted')).toBeVisible();
  });

  await test.step('teach', async () => {
    await page.keyboard.press('Alt+2');
    await tabTo(page, page.getByRole('textbox', { name: 'New rules and facts' }));
    await page.keyboard.type('grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z).', { delay: 8 });
    await page.keyboard.press('Escape');
    await page.keyboard.press('ControlOrMeta+Enter');
    await expect(page.getByText('Learnt 1 rule')).toBeVisible();
  });

  await test.step('ask and why', async () => {
    await page.keyboard.press('Alt+3');
    await expect(page.getByRole('textbox', { name: 'Question' })).toBeFocused();
    await page.keyboard.type('grandparent(alice, ?who)', { delay: 8 });
    await page.keyboard.press('Escape');
    await page.keyboard.press('ControlOrMeta+Enter');
    await expect(rowsOf(page, 'Answers')).toHaveCount(1);
    // Tab inserts text in an editor until this is switched off.
    await page.keyboard.press('Control+m');
    await tabTo(page, page.getByRole('grid', { name: 'Answers' }));
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const proof = page.getByRole('tree', { name: 'Proof' });
    await expect(proof.getByRole('treeitem').first()).toContainText('grandparent(alice, carol)');
    await tabTo(page, proof);
    await page.keyboard.press('End');
    await expect(proof.getByRole('treeitem').last()).toHaveAttribute('aria-selected', 'true');
  });

  await test.step('merge', async () => {
    await page.keyboard.press('Alt+5');
    await tabTo(page, page.getByRole('grid', { name: 'Scopes' }));
    // Options: without scope, draft, main.
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('s');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('t');
    await tabTo(page, page.getByRole('button', { name: /^Merge into main/ }));
    await page.keyboard.press('Enter');
    await expect(page.getByText(/^Merged draft into main/).first()).toBeVisible();
  });

  await test.step('decay', async () => {
    await expect.poll(() => Date.now()).toBeGreaterThan(until);
    await page.keyboard.press('ControlOrMeta+k');
    await expect(page.getByPlaceholder('Commands, predicates, rules')).toBeFocused();
    await page.keyboard.type('would be evicted');
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('button', { name: 'Evict 1 fact…' }));
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Evict 1 fact?' });
    await expect(dialog).toBeVisible();
    await tabTo(page, dialog.getByRole('button', { name: 'Evict 1 fact' }));
    await page.keyboard.press('Enter');
    await expect(page.getByText(/Evicted 1 expired fact/).first()).toBeVisible();
  });
});

test('another service opens its own workbench in a separate window, and is remembered', {
  tag: '@long',
}, async ({ page, service }) => {
  const other = new ServiceProcess();
  try {
    await other.start();
    await open(page, service, '/settings');
    const badge = page.getByRole('button', { name: /^Service: Live/ });
    await badge.click();
    await page.getByRole('button', { name: 'Open another service…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Open another service' });
    await dialog.getByRole('textbox', { name: 'Address' }).fill('ftp://elsewhere');
    await expect(dialog.getByText('This is no address of a service')).toBeVisible();
    await dialog.getByRole('textbox', { name: 'Address' }).fill(other.url.replace('http://', ''));
    const opened = page.context().waitForEvent('page');
    await dialog.getByRole('button', { name: 'Open', exact: true }).click();
    const second = await opened;
    await expect(second.getByRole('heading', { name: 'Knowledge, and what follows from it' })).toBeVisible();
    expect(new URL(second.url()).origin).toBe(other.url);
    await page.reload();
    await badge.click();
    await expect(page.getByRole('button', { name: other.url, exact: true })).toBeVisible();
    await expectNothingGrave(page, 'the other services');
    await page.getByRole('button', { name: `Forget ${other.url}` }).click();
    await expect(page.getByRole('button', { name: other.url, exact: true })).toHaveCount(0);
  } finally {
    await other.dispose();
  }
});
