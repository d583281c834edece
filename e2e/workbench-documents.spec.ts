/** Rules as one document, and find and replace in rules and facts. */
import { expect, type Page } from '@playwright/test';
import { expectNothingGrave } from './accessibility.ts';
import type { ServiceProcess } from './service.ts';
import { open, rowsOf, test, write } from './workbench.ts';

const headers = { 'X-Tenant-ID': 'default' };

async function teach(page: Page, service: ServiceProcess, rule: object): Promise<void> {
  const response = await page.request.post(`${service.url}/teach`, { headers, data: rule });
  expect(response.ok()).toBe(true);
}

async function rulesOf(
  page: Page,
  service: ServiceProcess,
): Promise<{ id: string; text: string; description: string }[]> {
  const response = await page.request.get(`${service.url}/rules`, { headers });
  const { rules } = (await response.json()) as {
    rules: { id: string; text: string; description: string }[];
  };
  return rules;
}

test.beforeEach(async ({ page, service }) => {
  const pairs = ['a b', 'b c', 'd e'].map((pair) => ({ predicate: 'street', args: pair.split(' ') }));
  await page.request.post(`${service.url}/assert/facts`, { headers, data: { facts: pairs } });
  await teach(page, service, { text: 'reach(?x, ?y) :- street(?x, ?y)', description: 'One street.' });
  await teach(page, service, { text: 'reach(?x, ?z) :- reach(?x, ?y), street(?y, ?z)' });
  await teach(page, service, { text: 'ends(?x) :- street(?_, ?x), not street(?x, ?_)' });
});

test('all rules are one text, saved as one step that undo takes back', async ({ page, service }) => {
  await open(page, service, '/rules');
  const view = page.getByRole('radiogroup', { name: 'Show rules as' });
  await view.getByText('Document').click();
  const editor = page.getByRole('textbox', { name: 'All rules' });
  const lines = page.locator('.view-lines').first();
  await expect(lines).toContainText('%% reach/2');
  await expect(lines).toContainText('% One street.');
  await expect(lines).toContainText('never fired');
  const save = page.getByRole('button', { name: 'Save…' });
  await expect(save).toBeDisabled();

  await test.step('definitions and usages are found in the text', async () => {
    await page.getByRole('listbox', { name: 'Heads of the rules' }).getByText('ends/1').click();
    await expect(editor).toBeFocused();
    // The second argument list of the line: `street`.
    for (let moved = 0; moved < 12; moved++) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+F12');
    await expect(page.locator('.peekview-widget')).toContainText('All rules');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
  });

  await test.step('edits are shown with their consequences, and saved together', async () => {
    await editor.focus();
    await page.keyboard.press('ControlOrMeta+Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await page.keyboard.type(' Or none.');
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type('back(?y, ?x) :- street(?x, ?y).');
    await expect(page.getByRole('status').filter({ hasText: '1 new and 1 changed' })).toBeVisible();
    await teach(page, service, { text: 'other(?x) :- street(?x, ?_)' });
    await expect(page.getByRole('option').filter({ hasText: 'other/1' })).toBeVisible();
    await page.keyboard.press('ControlOrMeta+Enter');
    const dialog = page.getByRole('dialog', { name: 'Save the rules' });
    await expect(dialog).toContainText('back(?y, ?x) :- street(?x, ?y).');
    await expect(dialog).toContainText('One street. Or none.');
    await expect(dialog.getByRole('status')).toContainText('gain 3 conclusions');
    await expectNothingGrave(page, 'the changes of the document');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(dialog).toBeHidden();
    const saved = await rulesOf(page, service);
    expect(saved.map(({ text }) => text)).toContain('back(?y, ?x) :- street(?x, ?y)');
    expect(saved[0]?.description).toBe('One street. Or none.');
    expect(saved).toHaveLength(5);
    await expect(save).toBeDisabled();
  });

  await test.step('undo takes the whole step back', async () => {
    await page.getByRole('listbox', { name: 'Heads of the rules' }).focus();
    await page.keyboard.press('ControlOrMeta+k');
    await page.keyboard.type('Undo: saved rules');
    await page.getByRole('option', { name: /Undo: saved rules/ }).click();
    await expect(lines).not.toContainText('Or none');
    const texts = (await rulesOf(page, service)).map(({ text }) => text);
    expect(texts).not.toContain('back(?y, ?x) :- street(?x, ?y)');
    expect(texts).toHaveLength(4);
  });

  await test.step('a rule changed here and elsewhere is a conflict', async () => {
    await editor.focus();
    await page.keyboard.press('ControlOrMeta+Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await page.keyboard.type(' Mine.');
    const theirs = { headers, data: { description: 'Theirs.' } };
    const [first] = await rulesOf(page, service);
    const put = await page.request.put(`${service.url}/rules/${first?.id}`, theirs);
    expect(put.ok()).toBe(true);
    const conflict = page.getByRole('region', { name: 'Conflict' });
    await expect(conflict).toBeVisible();
    await expect(save).toBeDisabled();
    await conflict.getByRole('button', { name: 'Take what is stored' }).click();
    await expect(lines).toContainText('% Theirs.');
  });
});

test('a question is composed without its syntax, and a name is replaced in rules and facts', async ({
  page,
  service,
}) => {
  await open(page, service, '/ask');
  const question = page.locator('.view-lines').first();

  await test.step('the form makes the text, and the text the form', async () => {
    await page.getByRole('button', { name: 'Compose' }).click();
    await page.getByRole('button', { name: 'Pattern', exact: true }).click();
    const first = page.getByRole('group', { name: 'Condition 1' });
    await first.getByRole('combobox', { name: 'Predicate' }).fill('reach');
    await page.getByRole('option', { name: 'reach/2' }).click();
    await expect(question).toContainText('reach(?x, ?y)');
    await first.getByRole('combobox', { name: 'Argument 1' }).fill('');
    await page.getByRole('option', { name: 'a', exact: true }).click();
    await expect(question).toContainText('reach(a, ?y)');
    await page.getByRole('button', { name: 'Pattern', exact: true }).click();
    const second = page.getByRole('group', { name: 'Condition 2' });
    await second.getByRole('combobox', { name: 'Predicate' }).fill('street');
    await page.getByRole('option', { name: 'street/2' }).click();
    await second.getByRole('combobox', { name: 'Argument 1' }).fill('?y');
    await second.getByRole('combobox', { name: 'Argument 2' }).fill('');
    await second.getByRole('combobox', { name: 'Which' }).click();
    await page.getByRole('option', { name: 'not known' }).click();
    await expect(question).toContainText('reach(a, ?y), not street(?y, ?_)');
    await expectNothingGrave(page, 'the form of a question');
    await page.getByRole('button', { name: /^Ask/ }).click();
    await expect(rowsOf(page, 'Answers')).toHaveCount(1);
    await write(page, 'Question', '?n = count { ?y : reach(a, ?y), ?y != b }');
    await expect(page.getByRole('status').filter({ hasText: 'more than patterns is beyond' })).toBeVisible();
    await write(page, 'Question', '?n = count { ?y : reach(a, ?y) }, ?m = ?n + 1');
    await expect(page.getByRole('group', { name: 'Pattern 1 within' })).toBeVisible();
    await first.getByRole('combobox', { name: 'Is the' }).click();
    await page.getByRole('option', { name: 'greatest of' }).click();
    await second.getByRole('combobox', { name: 'Calculation' }).click();
    await page.getByRole('option', { name: 'times' }).click();
    await expect(question).toContainText('?n = max { ?y : reach(a, ?y) }, ?m = ?n * 1');
  });

  await test.step('hits are chosen one by one, and replaced as one step', async () => {
    await open(page, service, '/rules?find=');
    const dialog = page.getByRole('dialog', { name: 'Find and replace' });
    await dialog.getByLabel('Find', { exact: true }).fill('street');
    await dialog.getByLabel('Replace with').fill('road');
    await expect(dialog.getByRole('status')).toContainText('Found in 3 rules and 3 facts');
    await rowsOf(page, 'What would be replaced').getByText('street').last().click();
    await page.keyboard.press('Space');
    await expectNothingGrave(page, 'find and replace');
    await dialog.getByRole('button', { name: 'Replace in 5' }).click();
    await expect(dialog).toBeHidden();
    const stored = await page.request.get(`${service.url}/facts`, { headers });
    const { facts } = (await stored.json()) as { facts: { predicate: string; args: string[] }[] };
    const rendered = facts.map(({ predicate, args }) => `${predicate}(${args.join(', ')})`).sort();
    expect(rendered).toEqual(['road(a, b)', 'road(b, c)', 'street(d, e)']);
    expect((await rulesOf(page, service)).filter(({ text }) => text.includes('road('))).toHaveLength(3);
    await page.keyboard.press('ControlOrMeta+k');
    await page.keyboard.type('Undo: replaced street');
    await page.getByRole('option', { name: /Undo: replaced street/ }).click();
    await expect(rowsOf(page, 'Rules').filter({ hasText: 'road' })).toHaveCount(0);
    expect((await rulesOf(page, service)).filter(({ text }) => text.includes('street('))).toHaveLength(3);
  });
});
