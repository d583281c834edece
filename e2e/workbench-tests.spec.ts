/** Tests in the Rules view: run, explained, edited, and asked before a rule or a merge is saved. */
import { expect } from '@playwright/test';
import { expectNothingGrave, expectNothingGraveIn } from './accessibility.ts';
import { forgive, open, rowsOf, test, write } from './workbench.ts';

const headers = { 'X-Tenant-ID': 'default' };

test('tests are written, run and mended, and guard a rule and a merge', { tag: '@long' }, async ({
  page,
  service,
  watched,
}) => {
  const post = (path: string, data: object) => page.request.post(`${service.url}${path}`, { headers, data });
  await post('/assert/facts', {
    facts: [
      { predicate: 'parent', args: ['alma', 'nora'] },
      { predicate: 'parent', args: ['nora', 'otto'] },
      { predicate: 'likes', args: ['ann', 'tea'], scope: 'plan' },
    ],
  });
  await post('/teach', { text: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)' });
  await post('/scope/fork', { source: 'plan', target: 'draft' });
  await post('/tell', { predicate: 'likes', args: ['ann', 'milk'], scope: 'draft' });
  await page.request.put(`${service.url}/tests`, {
    headers,
    data: { text: 'test "only tea" { expect likes(ann, ?x) = tea. }', scope: 'plan' },
  });

  await test.step('a new test is saved by key, run with the others, and its failure is explained', async () => {
    await open(page, service, '/rules?view=tests');
    // The editor closes the brace and indents.
    await write(page, 'New tests', 'test "grand" {\nexpect grandparent(alma, ?x) = emil.');
    await page.keyboard.press('ControlOrMeta+Enter');
    await expect(rowsOf(page, 'Tests')).toHaveCount(2);
    await expect(page).toHaveURL(/test=grand/);
    await page.getByRole('switch', { name: 'Coverage' }).click();
    await page.getByRole('button', { name: 'Run all' }).click();
    const result = page.getByRole('region', { name: 'Result of grand' });
    await expect(result).toContainText('1 of the expected answers missing, 1 unexpected');
    await expect(result.getByLabel('Proof of what was not expected')).toContainText('parent(nora, otto)');
    await expect(result.getByLabel('Why what is missing is not true')).toContainText('parent(nora, emil)');
    await expect(page.getByRole('region', { name: 'Coverage' })).toContainText('1 of 1 rule exercised');
    await expectNothingGrave(page, 'Tests');
    await expectNothingGraveIn(page, 'Tests', ['dark']);
  });

  await test.step('the edited test runs before it is saved', async () => {
    await write(page, 'Text of the test', 'test "grand" {\nexpect grandparent(alma, ?x) = otto.');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await expect(page.getByText('1 passed')).toBeVisible();
    await page.getByRole('button', { name: /^Save/ }).click();
    await expect(rowsOf(page, 'Tests').filter({ hasText: 'grand' })).toContainText('passed');
  });

  await test.step('a rule under which a test fails is not taught', async () => {
    await page.getByText('List', { exact: true }).click();
    await page.getByRole('switch', { name: 'Run tests first' }).click();
    await write(page, 'New rules and facts', 'grandparent(?x, ?y) :- parent(?x, ?y).');
    await page.getByRole('button', { name: /^Teach/ }).click();
    await expect(page.getByRole('region', { name: 'Result of grand' })).toContainText('nora');
    await expect(rowsOf(page, 'Rules')).toHaveCount(1);
  });

  await test.step('a merge under which a test fails is not made', async () => {
    await open(page, service, '/scopes?source=draft&target=plan&strategy=SOURCE_WINS');
    await expect(page.getByRole('switch', { name: 'Run tests first' })).toBeChecked();
    await page.getByRole('button', { name: /^Merge into plan/ }).click();
    await expect(page.getByRole('region', { name: 'Result of only tea' })).toContainText('milk');
    await expect(page.getByText('Nothing was merged.')).toBeVisible();
  });
  forgive(watched, /422/);
});
