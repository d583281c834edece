/** Accessibility of what opens within views: no serious or critical finding. `screens` covers the views. */
import { expect } from '@playwright/test';
import { expectNothingGrave } from './accessibility.ts';
import { goTo, open, openSample, rowsOf, test, write } from './workbench.ts';

test('has no serious accessibility finding in what views open', { tag: '@long' }, async ({
  page,
  service,
}) => {
  await openSample(page, service);
  await expectNothingGrave(page, 'the start with a sample');

  await goTo(page, 'Facts');
  await page.getByRole('option', { name: /^mother/ }).click();
  await rowsOf(page, 'Facts').nth(2).click();
  await expect(page.getByRole('region', { name: 'Detail' })).toContainText('History');
  await page.getByRole('button', { name: 'Retract…' }).click();
  await expect(page.getByRole('dialog')).toContainText('would no longer hold');
  await expectNothingGrave(page, 'the question before a retraction');
  await page.getByRole('button', { name: 'Keep it' }).click();
  await page.getByRole('button', { name: 'Add facts' }).click();
  await page.getByRole('tab', { name: 'Form' }).click();
  await expectNothingGrave(page, 'the form of a fact');
  await page.keyboard.press('Escape');

  await goTo(page, 'Rules');
  await write(page, 'New rules and facts', 'odd(?x) :- parent(?x, ?y), ?z < 3.');
  await expect(page.getByRole('list', { name: 'Problems' })).toBeVisible();
  await expectNothingGrave(page, 'Rules');

  await open(page, service, '/ask?question=ancestor(?who, ada)&why=ancestor(agnes, ada)');
  await expect(rowsOf(page, 'Answers').first()).toBeVisible();
  await expect(page.getByRole('tree', { name: 'Proof' })).toBeVisible();
  await expectNothingGrave(page, 'Ask with a proof');

  await open(page, service, '/proof?question=ancestor(agnes, ada)');
  await expect(page.getByRole('tree', { name: 'Proof' })).toBeVisible();

  await page.getByRole('button', { name: 'Alternatives' }).click();
  await expect(page.getByText('no other ways')).toBeVisible();
  await expectNothingGrave(page, 'Proof with alternatives');

  await open(page, service, '/ask?question=cousin(ada, ?who)&whyNot=cousin(ada, ?who)');
  await expect(page.getByRole('textbox', { name: '?who' })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'No answer' })).toBeVisible();
  await expectNothingGrave(page, 'Ask with a statement to complete');

  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/ask', async (route) => {
    await released;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Cancel' })).toBeVisible();
  await expectNothingGrave(page, 'Ask while a question runs');
  release();
  await expect(page.getByRole('button', { name: 'Cancel' })).toBeHidden();
  await page.unroute('**/ask');

  await open(page, service, '/trace?question=ancestor(agnes, ?who)');
  await expect(rowsOf(page, 'Rules by time').first()).toBeVisible();
  await page.getByRole('tab', { name: /^Events/ }).click();
  await expect(rowsOf(page, 'Events').first()).toBeVisible();
  await expectNothingGrave(page, 'the events of a trace');
});

test('has no serious accessibility finding in the view of windows', { tag: '@long' }, async ({
  page,
  service,
}) => {
  await openSample(page, service);
  await page.request.post(`${service.url}/tell`, {
    headers: { 'X-Tenant-ID': 'default' },
    data: { predicate: 'mother', args: ['agnes', 'ruth'], truthVal: false },
  });
  const buckets = JSON.stringify([{ name: 'mothers', predicates: ['mother'], weight: 2 }]);
  await open(
    page,
    service,
    `/context?goals=grandparent(agnes, ?who)&facts=12&buckets=${buckets}&session=agent-1`,
  );
  await rowsOf(page, 'Facts of the window').first().click();
  await expect(page.getByRole('region', { name: 'Detail' })).toContainText('Salience');
  await expectNothingGrave(page, 'Context');
  await page.getByRole('tab', { name: /^Rules/ }).click();
  await expectNothingGrave(page, 'the rules of a window');
  await page.getByRole('button', { name: 'Keep the window' }).click();
  await expect(page.getByText('keeps a window of')).toBeVisible();
  await page.getByRole('button', { name: 'Diff', exact: true }).first().click();
  await expect(page.getByText('Nothing changed')).toBeVisible();
  await expectNothingGrave(page, 'the diff of a session');

  await page.getByRole('tab', { name: /^Contradictions/ }).click();
  await expect(page.getByRole('region', { name: 'Side by side' })).toContainText('Retract…');
  await expectNothingGrave(page, 'contradictions');
  await page.getByRole('textbox', { name: 'Facts', exact: true }).fill('0');
  await expect(page.getByText('The form cannot be read')).toBeVisible();
  await expectNothingGrave(page, 'a form that cannot be read');
});
