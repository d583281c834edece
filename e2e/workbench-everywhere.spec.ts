/**
 * Requirements of every view beyond screens.spec.ts: without knowledge it says what to do; without a service it says
 * so and recovers afterwards.
 */
import { expect, type Page } from '@playwright/test';
import { expectNothingGrave } from './accessibility.ts';
import { prepareKnowledge, type Screen } from './screens.ts';
import { ask, forgive, goTo, open, openSample, outage, rowsOf, test, write } from './workbench.ts';

test.use({ viewport: { width: 1280, height: 800 } });

/** Navigates without reloading the page, as a link does. */
async function walkTo(page: Page, address: string): Promise<void> {
  await page.evaluate((hash) => (window.location.hash = hash), address);
}

/** Parts of views with their own address but without a picture. */
const parts: readonly Screen[] = [
  { name: 'import', address: '/facts?transfer=import', ready: (page) => page.getByRole('dialog') },
  { name: 'export', address: '/facts?transfer=export', ready: (page) => page.getByRole('dialog') },
  {
    name: 'history',
    address: '/history?open=1',
    ready: (page) => page.getByRole('heading', { name: 'Consequences' }),
  },
  { name: 'declare', address: '/schema?predicate=-', ready: (page) => page.getByRole('dialog') },
  { name: 'fork', address: '/scopes?tenant=plans&fork=', ready: (page) => page.getByRole('dialog') },
  {
    name: 'clients',
    address: '/agents?part=clients',
    ready: (page) => page.getByRole('grid').getByRole('gridcell').first(),
  },
  {
    name: 'evict',
    address: '/memory?part=evict',
    ready: (page) => page.getByRole('heading', { name: 'Memory' }),
  },
  {
    name: 'consolidate',
    address: '/memory?part=consolidate',
    ready: (page) => page.getByRole('heading', { name: 'Memory' }),
  },
];

test('every part of a view with its own address has no serious accessibility finding', {
  tag: '@long',
}, async ({ page, service }) => {
  await prepareKnowledge(page, service);
  for (const { name, address, ready } of parts)
    await test.step(name, async () => {
      await open(page, service, address);
      await expect.soft(ready(page)).toBeVisible();
      await expectNothingGrave(page, name);
    });
});

/** Every view without knowledge, and the text that says what to do. */
const withoutKnowledge: readonly (readonly [address: string, says: string])[] = [
  ['/facts', 'No facts yet'],
  ['/rules', 'No rules yet'],
  ['/rules?view=graph', 'No rules yet'],
  ['/ask', 'Ask something'],
  ['/ask?question=p(?x)', 'No answer'],
  ['/proof', 'No proof is chosen'],
  ['/proof?question=p(a)', 'It does not hold'],
  ['/why-not', 'What did you expect to hold?'],
  ['/trace', 'No question is chosen'],
  ['/trace?question=p(?x)', 'No rule took part'],
  ['/what-if', 'Try a change'],
  ['/context', 'The window is empty'],
  ['/scopes', 'No scopes yet'],
  ['/memory', 'Nothing to remember yet'],
  ['/memory?part=evict', 'Nothing is below 0.05'],
  ['/memory?part=fading', 'Nothing fades'],
  ['/memory?part=expiring', 'Nothing expires so soon'],
  ['/memory?part=consolidate', 'Nothing to consolidate'],
  ['/memory?part=summaries', 'No summaries'],
  ['/memory?part=runs', 'No runs yet'],
  ['/admin/databases', 'No tenants yet'],
  ['/admin/keys', 'Authentication is off'],
  ['/schema', 'No predicates yet'],
  ['/schema?part=constraints', 'No constraints yet'],
  ['/schema?part=violations', 'Nothing is violated'],
  ['/history', 'Nothing has changed yet'],
  ['/history?part=compare', 'Compare two moments'],
  ['/agents', 'No agent has called yet'],
  ['/agents?part=clients', 'No client is connected'],
];

test('without knowledge every view says what to do', { tag: '@long' }, async ({ page, service }) => {
  await open(page, service, '/settings');
  for (const [address, says] of withoutKnowledge) {
    await walkTo(page, address);
    await expect.soft(page.getByRole('heading', { name: says }), address).toBeVisible();
  }
});

/** Views that query the service when they open. */
const asking = [
  '/facts',
  '/rules',
  '/ask?question=p(?x)',
  '/proof?question=p(a)',
  '/why-not?question=p(a)',
  '/what-if?add=p(a).&goals=p(?x)',
  '/context?goals=p(?x)',
  '/scopes?source=a',
  '/memory',
  '/schema',
  '/schema?part=constraints',
  '/schema?part=violations',
  '/admin/databases',
  '/history',
  '/history?part=compare&from=0',
  '/agents',
  '/agents?part=clients',
];

test('every view reports an unreachable service with the request, and recovers when it is back', {
  tag: '@long',
}, async ({ page, service, watched }) => {
  await open(page, service, '/settings');
  // Each view has been open once, except the trace.
  for (const address of asking) {
    await walkTo(page, address);
    await expect(page.locator('main').getByRole('status').filter({ hasText: 'Loading' })).toHaveCount(0);
    await expect(page.locator('main').getByRole('heading').first()).toBeVisible();
  }
  await service.stop();
  // The browser's cache from earlier services must not help here.
  await page.route('**/assets/**', (route) => route.abort('connectionrefused'));
  await expect(page.getByText('The service cannot be reached.')).toBeVisible();
  const away = page.locator('main').getByRole('alert').filter({ hasText: 'The service cannot be reached' });
  for (const address of asking) {
    await walkTo(page, `${address}${address.includes('?') ? '&' : '?'}tenant=elsewhere`);
    await expect.soft(away.first(), address).toContainText('what you typed is kept');
    await expect.soft(away.first(), address).toContainText('Request workbench-');
    await expect.soft(away.first().getByRole('button', { name: 'Try again' }), address).toBeVisible();
  }
  await walkTo(page, '/trace?question=p(?x)&tenant=elsewhere');
  const missing = page.getByRole('alert').filter({ hasText: 'This part of the workbench did not arrive' });
  await expect(missing.getByRole('button', { name: 'Load it again' })).toBeVisible();
  await goTo(page, 'Settings');
  await expect(page.getByRole('heading', { name: 'Settings' })).toBeVisible();
  await page.goBack();
  await expect(missing).toBeVisible();

  await page.unroute('**/assets/**');
  await service.start();
  await expect(page.getByRole('heading', { name: 'No rule took part' })).toBeVisible();
  for (const address of asking) {
    await walkTo(page, `${address}${address.includes('?') ? '&' : '?'}tenant=elsewhere`);
    await expect(page.locator('main').getByRole('heading').first()).toBeVisible();
    await expect.soft(away, address).toHaveCount(0);
  }
  forgive(watched, outage);
  // The page reports the part that failed to load.
  forgive(watched, /preload CSS/);
});

test('text typed in any view appears in another window two seconds later, without closing either', {
  tag: '@long',
}, async ({ page, service }) => {
  await open(page, service, '/rules');
  await write(page, 'New rules and facts', 'odd(?x) :- parent(?x, ?x).');
  await goTo(page, 'Ask');
  await write(page, 'Question', 'parent(ada, ?draft');
  await goTo(page, 'Context');
  await write(page, 'Goals', 'parent(bob, ?draft)');
  await walkTo(page, '/what-if');
  await write(page, 'Facts and rules to add', 'parent(cyd, draft).');
  await walkTo(page, '/agents?part=try&tool=tell');
  await page.getByRole('textbox', { name: 'predicate', exact: false }).first().fill('drafted');
  await goTo(page, 'Facts');
  await page.getByRole('button', { name: 'Add facts' }).first().click();
  await write(page, 'Facts as statements', 'parent(dan, draft).');

  // Nothing is left or closed here: drafts are written within two seconds.
  const drafts = () => page.evaluate(() => JSON.stringify(Object.values(localStorage)));
  await expect.poll(drafts).toContain('parent(dan, draft).');
  const second = await page.context().newPage();
  await open(second, service, '/facts');
  await second.getByRole('button', { name: 'Add facts' }).first().click();
  await expect(second.getByText('parent(dan, draft).')).toBeVisible();
  await second.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await goTo(second, 'Rules');
  await expect(second.getByText('odd(?x) :- parent(?x, ?x).')).toBeVisible();
  await goTo(second, 'Ask');
  await expect(second.getByText('parent(ada, ?draft').first()).toBeVisible();
  await goTo(second, 'Context');
  await expect(second.getByText('parent(bob, ?draft)').first()).toBeVisible();
  await walkTo(second, '/what-if');
  await expect(second.getByText('parent(cyd, draft).').first()).toBeVisible();
  await walkTo(second, '/agents?part=try&tool=tell');
  await expect(second.getByRole('textbox', { name: 'predicate', exact: false }).first()).toHaveValue(
    'drafted',
  );
});

test('panes are resized by keys, and keep their size after a restart', { tag: '@long' }, async ({
  page,
  service,
}) => {
  await openSample(page, service);
  for (const address of ['/facts', '/rules', '/ask', '/context', '/scopes', '/admin', '/admin/databases']) {
    await walkTo(page, address);
    const separator = page.locator('main').getByRole('separator').first();
    await separator.focus();
    const before = Number(await separator.getAttribute('aria-valuenow'));
    const isUpright = (await separator.getAttribute('aria-orientation')) === 'vertical';
    await page.keyboard.press(isUpright ? 'ArrowRight' : 'ArrowDown');
    await expect.soft(separator, address).not.toHaveAttribute('aria-valuenow', String(before));
    const after = await separator.getAttribute('aria-valuenow');
    await page.reload();
    await expect
      .soft(page.locator('main').getByRole('separator').first(), address)
      .toHaveAttribute('aria-valuenow', after ?? '');
  }
});

test('a long question blocks no other view, and reports its cancellation', { tag: '@long' }, async ({
  page,
  service,
}) => {
  const facts = Array.from({ length: 400 }, (_, index) => ({ predicate: 'n', args: [String(index)] }));
  await page.request.post(`${service.url}/assert/facts`, {
    headers: { 'X-Tenant-ID': 'default' },
    data: { facts },
  });
  await open(page, service, '/ask?question=n(?a), n(?b), n(?c), ?a < ?b, ?b < ?c');
  const cancel = page.getByRole('button', { name: 'Cancel' });
  await expect(cancel).toBeVisible();
  const second = await page.context().newPage();
  for (const [address, grid] of [
    ['/facts?predicate=n', 'Facts'],
    ['/memory', 'Most salient facts'],
    ['/admin/databases', 'Databases'],
  ] as const) {
    await open(second, service, address);
    await expect(rowsOf(second, grid).first()).toBeVisible();
  }
  await expect(cancel).toBeVisible();
  await cancel.click();
  await expect(page.getByText(/Cancelled after/)).toBeVisible();
});

test('two windows beside each other share tabs and questions, and neither writes those of the other over', {
  tag: '@long',
}, async ({ page, service, context }) => {
  await openSample(page, service);
  const other = await context.newPage();
  await open(page, service, '/ask');
  await open(other, service, '/ask');
  await ask(page, 'mother(?a, ?b)');
  await other.keyboard.press('Alt+t');
  await ask(other, 'father(?a, ?b)');
  await page.keyboard.press('Alt+t');
  await ask(page, 'born(?a, ?b)');
  for (const window of [page, other])
    for (const question of ['mother(?a, ?b)', 'father(?a, ?b)', 'born(?a, ?b)']) {
      await expect(window.getByRole('tab', { name: question })).toBeVisible();
      await expect(window.getByRole('button', { name: `Save ${question}` })).toBeAttached();
    }
  // Each still shows its own.
  await expect(other.getByRole('tab', { name: 'father(?a, ?b)' })).toHaveAttribute('aria-selected', 'true');
});
