/** Packages in the Rules view: listed once applied, opened, followed to what they hold, and removed. */
import { expect } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { expectNothingGrave, expectNothingGraveIn } from './accessibility.ts';
import { open, rowsOf, test } from './workbench.ts';

const headers = { 'X-Tenant-ID': 'default' };
const text = readFileSync(new URL('../examples/family/family.kb', import.meta.url), 'utf8');

test('a package is listed once it is applied, opened, and removed after a look', { tag: '@long' }, async ({
  page,
  service,
}) => {
  const remove = page.getByRole('dialog', { name: 'Remove the package family?' });
  const contents = rowsOf(page, 'Contents of family');

  await test.step('without packages it says how one is applied', async () => {
    await open(page, service, '/rules?view=packages');
    await expect(page.getByText(`corollary apply FOLDER --url ${service.url}`)).toBeVisible();
    await expectNothingGrave(page, 'No packages');
  });

  await test.step('one that is applied elsewhere appears, and a key opens it', async () => {
    await page.request.put(`${service.url}/packages/family`, { headers, data: { text } });
    await expect(rowsOf(page, 'Packages')).toContainText('7 facts, 5 rules, 2 declarations, 2 constraints');
    await page.getByRole('grid', { name: 'Packages' }).focus();
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/package=family/);
    await expect(contents).toHaveCount(16);
  });

  await test.step('what others change is marked at once', async () => {
    const rule = contents.filter({ hasText: 'cousin(?x, ?y) :-' });
    await expect(rule).toContainText('held');
    const { rules } = await (await page.request.get(`${service.url}/rules`, { headers })).json();
    const { id } = rules.find((each: { text: string }) => each.text.startsWith('cousin'));
    await page.request.put(`${service.url}/rules/${id}`, { headers, data: { description: 'mine' } });
    await expect(rule).toContainText('changed');
    await page.request.post(`${service.url}/retract`, {
      headers,
      data: { predicate: 'parent', args: ['ann', 'bob'] },
    });
    await expect(contents.filter({ hasText: 'parent(ann, bob)' })).toContainText('gone');
    await expectNothingGrave(page, 'Packages');
    await expectNothingGraveIn(page, 'Packages', ['dark']);
  });

  await test.step('links lead to what it holds, and the address back to it', async () => {
    await contents.getByRole('link', { name: 'parent(eve, dora)' }).click();
    await expect(page).toHaveURL(/\/facts\?.*fact=/);
    await open(page, service, '/rules?view=packages&package=family');
    await contents.getByRole('link', { name: /^cousin/ }).click();
    await expect(page).toHaveURL(/\/rules\?rule=/);
    await expect(page.getByRole('region', { name: 'Rule', exact: true })).toContainText('cousin');
    await open(page, service, '/rules?view=packages&package=family');
  });

  await test.step('the preview says what goes, what stays and what is lost; the name confirms', async () => {
    await page.getByRole('button', { name: 'Remove…' }).click();
    await expect(remove.getByRole('list', { name: 'Goes' })).toContainText('parent(eve, dora)');
    await expect(remove.getByRole('list', { name: 'Stays' })).toContainText('cousin');
    await expect(remove.getByRole('list', { name: 'Conclusions lost' })).toContainText('ancestor');
    await expectNothingGrave(page, 'Remove a package');
    await remove.getByRole('textbox').fill('family');
    await page.keyboard.press('Enter');
    await expect(page.getByText('No packages yet')).toBeVisible();
    const { facts } = await (await page.request.get(`${service.url}/facts`, { headers })).json();
    expect(facts).toEqual([]);
  });
});
