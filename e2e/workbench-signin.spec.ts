/** Sign-in and keys: bootstrap, permissions, revocation. */
import { expect } from '@playwright/test';
import type { CommandState } from '../src/desktop-contract/commands.ts';
import { expectNothingGrave } from './accessibility.ts';
import { ServiceProcess, test as base } from './service.ts';
import { lastOf, standInShell } from './shell-stand-in.ts';
import { goTo, open, rowsOf } from './workbench.ts';

const password = 'a password for this test';

/** Refused calls are under test, so the console is not checked. */
const test = base.extend<{ service: ServiceProcess }>({
  service: async ({ browserName: _browserName }, provide) => {
    const service = new ServiceProcess({ AUTH_ENABLED: 'true', SERVICE_ADMIN_PASS: password });
    try {
      await service.start();
      await provide(service);
    } finally {
      await service.dispose();
    }
  },
});

interface Made {
  readonly id: string;
  readonly key: string;
  readonly prefix: string;
}

async function send<Answer>(
  service: ServiceProcess,
  key: string | null,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      'X-Tenant-ID': 'acme',
      ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(response.ok, `${method} ${path}: ${response.status}`).toBe(true);
  return (await response.json()) as Answer;
}

/** Creates the first admin key without the workbench. */
async function bootstrap(service: ServiceProcess): Promise<string> {
  const made = await send<Made>(service, null, 'POST', '/auth/bootstrap', { username: 'admin', password });
  return made.key;
}

test.use({ viewport: { width: 1280, height: 800 } });

test('the first admin key is created by keyboard alone, and creates a key that is shown once @long', async ({
  page,
  service,
}) => {
  await open(page, service, '/facts');
  const dialog = page.getByRole('dialog');
  await expect(dialog).toHaveAccessibleName('Make the first admin key');
  await expect(page.getByRole('textbox', { name: 'User name' })).toBeFocused();
  await expectNothingGrave(page, 'bootstrap');
  await page.keyboard.type('admin');
  await page.keyboard.press('Tab');
  await page.keyboard.type('wrong');
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('alert')).toContainText('the user name or the password is wrong');
  await expect(dialog.getByRole('alert')).toContainText('Request');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');

  await expect(dialog).toHaveAccessibleName('The admin key');
  await expect(dialog.getByLabel('The key')).toHaveText(/^cor_\w{49}$/);
  // Escape must not discard it.
  await page.keyboard.press('Escape');
  await expect(dialog.getByRole('button', { name: 'Sign in with it' })).toBeDisabled();
  await dialog.getByRole('checkbox', { name: 'I have stored it' }).focus();
  await page.keyboard.press('Space');
  await page.keyboard.press('Enter');
  await expect(dialog).toBeHidden();
  await expect(page.getByRole('heading', { name: 'No facts yet' })).toBeVisible();
  await expect(page.getByRole('status').filter({ hasText: /^Live$/ })).toBeVisible();

  await open(page, service, '/admin/keys');
  await expect(rowsOf(page, 'Keys')).toHaveCount(1);
  await expect(rowsOf(page, 'Keys').first()).toContainText('yours');
  await page.getByRole('button', { name: 'New key…' }).focus();
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('radio', { name: 'reader' })).toBeFocused();
  await dialog.getByLabel('Tenants').first().focus();
  await page.keyboard.type('acme');
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: 'Description' }).fill('for the reports');
  await expectNothingGrave(page, 'a new key');
  await dialog.getByRole('button', { name: 'Make the key' }).focus();
  await page.keyboard.press('Enter');
  await expect(dialog.getByLabel('The key')).toHaveText(/^cor_\w{49}$/);
  await expect(dialog.getByLabel('curl', { exact: true }).last()).toContainText('X-Tenant-ID: acme');
  await dialog.getByRole('checkbox', { name: 'I have stored it' }).press('Space');
  await dialog.getByRole('button', { name: 'Done' }).press('Enter');
  await expect(rowsOf(page, 'Keys')).toHaveCount(2);
  const reader = rowsOf(page, 'Keys').filter({ hasText: 'for the reports' });
  await expect(reader).toContainText('tenant acme');
  await expect(page.getByText(/^cor_\w{49}$/)).toHaveCount(0);

  await page.getByRole('grid', { name: 'Keys' }).focus();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.press('Enter');
  await dialog.getByRole('textbox', { name: 'Description' }).fill('for the yearly reports');
  await page.keyboard.press('Enter');
  await expect(rowsOf(page, 'Keys').nth(1)).toContainText('for the yearly reports');

  await page.getByRole('grid', { name: 'Keys' }).focus();
  await page.keyboard.press('ControlOrMeta+Home');
  await page.keyboard.press('Delete');
  await expect(dialog).toContainText('you will be signed out');
  await expect(dialog).toContainText('It is the last admin key');
  await expect(dialog.getByRole('button', { name: 'Revoke' })).toBeDisabled();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('grid', { name: 'Keys' })).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Delete');
  await dialog.getByRole('button', { name: 'Revoke' }).press('Enter');
  await expect(rowsOf(page, 'Keys')).toHaveCount(1);
  await expect(page.getByRole('grid', { name: 'Keys' })).toBeFocused();
});

test('a restricted or revoked key: the missing permission is explained, and no input is lost', async ({
  page,
  service,
}) => {
  const admin = await bootstrap(service);
  await send(service, admin, 'POST', '/tell', { predicate: 'item', args: ['tea'] });
  const restricted = { role: 'reader', tenants: ['acme'] };
  const reader = await send<Made>(service, admin, 'POST', '/auth/keys', restricted);
  const writer = { role: 'writer', tenants: ['acme'] };
  const second = await send<Made>(service, admin, 'POST', '/auth/keys', writer);
  const third = await send<Made>(service, admin, 'POST', '/auth/keys', writer);

  await open(page, service, '/facts');
  const dialog = page.getByRole('dialog');
  const field = dialog.getByRole('textbox', { name: 'API key' });
  await expect(field).toBeFocused();
  await field.fill('wrong');
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('alert')).toContainText('the key is not valid');
  await expect(dialog.getByRole('alert')).toContainText('Request');
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  await expect(page.getByText('You are not signed in')).toBeVisible();
  await page.getByRole('button', { name: 'Sign in…' }).click();
  await field.fill(`  ${reader.key}\n`);
  await page.keyboard.press('Enter');
  await expect(dialog).toBeHidden();

  await expect(
    page.getByRole('heading', { name: 'Your key does not reach the tenant default' }),
  ).toBeVisible();
  await page.getByRole('button', { name: 'Open acme' }).click();
  await expect(rowsOf(page, 'Facts')).toHaveCount(1);
  const add = page.getByRole('button', { name: 'Add facts' });
  await expect(add).toHaveAttribute('aria-disabled', 'true');
  await add.focus();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Tab');
  await expect(add).toBeFocused();
  await expect(page.getByRole('tooltip')).toContainText('you are signed in as reader');
  await page.keyboard.press('Enter');
  await expect(dialog).toBeHidden();
  await page.getByRole('button', { name: /^Tenant: / }).click();
  await expect(page.getByRole('menuitem', { name: 'default' })).toHaveCount(0);
  await expect(page.getByText('Your key is good for these tenants alone.')).toBeVisible();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Signed in as reader' }).click();
  await expect(dialog).toContainText(`Signed in as reader ${reader.prefix}`);
  await expectNothingGrave(page, 'who is signed in');
  await page.keyboard.press('Escape');

  await goTo(page, 'Ask');
  const editor = page.getByRole('textbox', { name: 'Question' });
  await editor.focus();
  await page.keyboard.type('item(?what');
  await send(service, admin, 'DELETE', `/auth/keys/${reader.id}`);
  await expect(dialog).toContainText('does not take the key');
  await expect(dialog).toContainText(reader.prefix);
  await expectNothingGrave(page, 'a key that was revoked');
  await field.fill(second.key);
  await page.keyboard.press('Enter');
  await expect(dialog).toBeHidden();
  await expect(page).toHaveURL(/#\/ask/);
  await expect(page.getByTestId('editor').getByText('item(?what')).toBeVisible();
  await expect(page.getByRole('status').filter({ hasText: /^Live$/ })).toBeVisible();

  await goTo(page, 'Facts');
  await expect(add).not.toHaveAttribute('aria-disabled');
  await add.click();
  const adding = page.getByRole('dialog', { name: 'Add facts' });
  await adding.getByRole('textbox', { name: 'Facts as statements' }).focus();
  await page.keyboard.type('item(salt).');
  await send(service, admin, 'DELETE', `/auth/keys/${second.id}`);
  await expect(field).toBeFocused();
  // Escape closes the sign-in and nothing below it.
  await page.keyboard.press('Escape');
  await expect(field).toBeHidden();
  await expect(adding).toContainText('item(salt).');
  // A wanted call opens the sign-in again and completes after it.
  await adding.getByRole('button', { name: 'Assert' }).click();
  await field.fill(third.key);
  await page.keyboard.press('Enter');
  await expect(adding).toBeHidden();
  await expect(rowsOf(page, 'Facts')).toHaveCount(2);
  await page.getByRole('button', { name: 'Signed in as writer' }).click();
  await dialog.getByRole('button', { name: 'Sign out' }).click();
  await expect(dialog).toHaveAccessibleName('Sign in');
  await expect(rowsOf(page, 'Facts')).toHaveCount(0);
});

test('a key stored by the desktop application signs in silently, and is deleted at sign-out @long', async ({
  page,
}) => {
  const guarded = new ServiceProcess({ API_KEY: 'sesame' });
  try {
    await guarded.start();
    const shell = await standInShell(page, { key: 'sesame' });
    await open(page, guarded, '/settings');
    await expect(page.getByText('Kept by the system’s store for secrets.', { exact: true })).toBeVisible();
    await expect(page.getByRole('dialog')).toHaveCount(0);
    const told = () => (lastOf(shell, 'setCommands') as CommandState[]).map(({ id }) => id);
    await expect.poll(told).toContain('sign-out');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await expect
      .poll(() => shell.asked.filter(({ name }) => name === 'keepKey').map(({ argument }) => argument))
      .toEqual([null]);
    const stored = () => page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }));
    expect(await stored()).not.toContain('sesame');
  } finally {
    await guarded.dispose();
  }
});
