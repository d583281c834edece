/** Administration: databases, tenants, deletion and what remains, storage figures. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
import { expectNothingGrave } from './accessibility.ts';
import { type ServiceProcess, test as unwatched } from './service.ts';
import { goTo, open, openSample, rowsOf, test } from './workbench.ts';

interface Where {
  readonly database: string;
  readonly tenant: string;
}

async function send(service: ServiceProcess, path: string, body: unknown, where: Where): Promise<void> {
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Database': where.database,
      'X-Tenant-ID': where.tenant,
    },
    body: JSON.stringify(body),
  });
  expect(response.ok, `${path}: ${response.status}`).toBe(true);
}

/** A database `shop` with two tenants of three facts and one, a scope and a rule. */
async function createShop(service: ServiceProcess): Promise<void> {
  const acme = { database: 'shop', tenant: 'acme' };
  await send(service, '/databases', { name: 'shop' }, acme);
  const item = (name: string, scope: string | null = null) => ({ predicate: 'item', args: [name], scope });
  await send(service, '/assert/facts', [item('tea'), item('salt'), item('oil', 'draft')], acme);
  await send(service, '/assert/facts', [item('rope')], { ...acme, tenant: 'globex' });
  await send(service, '/teach', { text: 'sold(?x) :- item(?x)' }, acme);
}

/** Opens a section of administration. */
async function section(page: Page, name: 'Dashboard' | 'Databases'): Promise<void> {
  await page.getByRole('navigation', { name: 'Administration' }).getByRole('link', { name }).click();
}

function list(page: Page, name: 'Databases' | 'Tenants' | 'Scopes') {
  return page.getByRole('region', { name, exact: true });
}

/** Types a name into the dialog, after checking that anything less keeps it disabled. */
async function confirmByName(page: Page, name: string, action: 'Delete' | 'Empty'): Promise<void> {
  const dialog = page.getByRole('dialog');
  const field = dialog.getByRole('textbox');
  const button = dialog.getByRole('button', { name: action, exact: true });
  await expect(field).toBeFocused();
  await expect(button).toBeDisabled();
  await field.fill(`${name} `);
  await expect(button).toBeDisabled();
  await field.fill(name.slice(0, -1));
  await page.keyboard.press('Enter');
  await expect(button).toBeDisabled();
  await page.keyboard.type(name.slice(-1));
  await expect(button).toBeEnabled();
  await page.keyboard.press('Enter');
  await expect(dialog).toBeHidden();
}

test('databases and tenants can be created, viewed and used', async ({ page, service }) => {
  await openSample(page, service);
  await goTo(page, 'Admin');
  await section(page, 'Databases');
  await expect(rowsOf(page, 'Databases')).toHaveCount(1);
  await expect(rowsOf(page, 'Databases').first()).toContainText('in use');

  await page.getByRole('button', { name: 'New database…' }).click();
  await page.keyboard.type('not a name');
  await expect(page.getByRole('dialog').getByRole('button', { name: 'Create' })).toBeDisabled();
  await page.getByRole('textbox', { name: 'Name' }).fill('shop');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog')).toBeHidden();
  await expect(rowsOf(page, 'Databases')).toHaveCount(2);
  // The new database is shown; the workbench stays where it was.
  await expect(page).toHaveURL(/of=shop/);
  await expect(page.getByRole('button', { name: 'Database: default' })).toBeVisible();
  await expect(list(page, 'Tenants')).toContainText('of shop');
  await expect(list(page, 'Tenants')).toContainText('No tenants yet');

  await page.getByRole('button', { name: 'New tenant…' }).click();
  await page.keyboard.type('acme/nord');
  await page.keyboard.press('Enter');
  await expect(rowsOf(page, 'Tenants')).toHaveCount(1);

  await page.getByRole('button', { name: 'Use acme/nord' }).click();
  await expect(page.getByRole('button', { name: 'Database: shop' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Tenant: acme/nord' })).toBeVisible();
  await expect(rowsOf(page, 'Tenants').first()).toContainText('in use');
});

test('counts are correct, follow changes, and an address opens its view', async ({ page, service }) => {
  await createShop(service);
  await open(page, service, '/admin/databases?of=shop&tenantOf=acme');
  const shop = rowsOf(page, 'Databases').filter({ hasText: 'shop' });
  await expect(shop.getByRole('gridcell').nth(2)).toHaveText('2');
  await expect(shop.getByRole('gridcell').nth(3)).toHaveText('4');
  await expect(shop.getByRole('gridcell').nth(4)).toHaveText('1');
  await expect(rowsOf(page, 'Tenants')).toHaveCount(2);
  await expect(rowsOf(page, 'Scopes')).toHaveCount(1);
  await expect(rowsOf(page, 'Scopes').first()).toContainText('draft');
  await expect(page.getByRole('link', { name: 'Open in Scopes' })).toHaveAttribute(
    'href',
    '#/scopes?database=shop&tenant=acme',
  );

  await page.getByRole('textbox', { name: 'Filter tenants' }).fill('GLO');
  await expect(rowsOf(page, 'Tenants')).toHaveCount(1);
  await expect(page).toHaveURL(/tenants=GLO/);

  // Visible although the workbench is in another space.
  await send(service, '/tell', { predicate: 'item', args: ['flax'] }, { database: 'shop', tenant: 'globex' });
  await expect(rowsOf(page, 'Tenants').first().getByRole('gridcell').nth(2)).toHaveText('2');
  await expect(shop.getByRole('gridcell').nth(3)).toHaveText('5');
});

test('a deletion is previewed and requires the name', async ({ page, service }) => {
  await createShop(service);
  await open(page, service, '/admin/databases?of=shop');
  const tenants = page.getByRole('grid', { name: 'Tenants' });
  await expect(rowsOf(page, 'Tenants')).toHaveCount(2);
  await tenants.focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('Empty the tenant acme?');
  await expect(dialog).toContainText('This deletes 3 facts, for good.');
  await expect(dialog).toContainText('The rules stay');
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  await expect(tenants).toBeFocused();

  await page.keyboard.press('n');
  await confirmByName(page, 'acme', 'Empty');
  await expect(rowsOf(page, 'Tenants').filter({ hasText: 'acme' }).getByRole('gridcell').nth(2)).toHaveText(
    '0',
  );
  await expect(tenants).toBeFocused();

  await page.keyboard.press('Delete');
  await expect(dialog).toContainText('Delete the tenant acme?');
  await confirmByName(page, 'acme', 'Delete');
  await expect(rowsOf(page, 'Tenants')).toHaveCount(1);

  await page.getByRole('button', { name: 'Delete shop' }).click();
  await expect(dialog).toContainText('This deletes 1 fact of 1 tenant, and 1 rule, for good.');
  await confirmByName(page, 'shop', 'Delete');
  await expect(rowsOf(page, 'Databases')).toHaveCount(1);
  await expect(page.getByRole('grid', { name: 'Databases' })).toBeFocused();
  // The database that cannot be deleted has no button.
  await expect(page.getByRole('button', { name: 'Delete default' })).toHaveCount(0);
});

test('the workbench leaves what it deletes', async ({ page, service }) => {
  await createShop(service);
  await open(page, service, '/admin/databases?database=shop&tenant=acme');
  await page.getByRole('button', { name: 'Delete acme' }).click();
  await expect(page.getByRole('dialog')).toContainText('goes to the tenant default');
  await confirmByName(page, 'acme', 'Delete');
  await expect(page.getByRole('button', { name: 'Tenant: default' })).toBeVisible();

  await page.getByRole('button', { name: 'Delete shop' }).click();
  await expect(page.getByRole('dialog')).toContainText('goes to the database default');
  await confirmByName(page, 'shop', 'Delete');
  await expect(page.getByRole('button', { name: 'Database: default' })).toBeVisible();
  await expect(rowsOf(page, 'Databases')).toHaveCount(1);
});

unwatched('a database that somebody else deletes is missed', async ({ page, service }) => {
  await createShop(service);
  await open(page, service, '/facts?database=shop&tenant=acme');
  await expect(rowsOf(page, 'Facts').first()).toBeVisible();
  const response = await fetch(`${service.url}/databases/shop`, { method: 'DELETE' });
  expect(response.status).toBe(200);
  await expect(page.getByRole('heading', { name: 'There is no database shop' })).toBeVisible();
  await page.getByRole('button', { name: 'Open the default database' }).click();
  await expect(page.getByRole('button', { name: 'Database: default' })).toBeVisible();
});

test('a snapshot can be taken, and the numbers are those of the service', { tag: '@long' }, async ({
  page,
  service,
}) => {
  await createShop(service);
  await open(page, service, '/admin');
  const panel = page.getByRole('region', { name: 'Service' });
  await expect(panel).toContainText('takes writes');
  await panel.getByRole('button', { name: 'Snapshot now' }).click();
  await expect(panel).toContainText('Snapshot taken');
  await expect(panel).toContainText(/Up to record\d/);

  const stored = panel.getByText('Stored facts').locator('..');
  await expect(stored).toContainText('4');
  const questions = panel.getByText('Questions', { exact: true }).locator('..');
  await expect(questions).toContainText('0');
  await send(service, '/ask', { predicate: 'sold', args: ['?x'] }, { database: 'shop', tenant: 'acme' });
  await expect(questions).toContainText('1');
  await expect(panel.getByText('p95').first().locator('..')).toContainText(/\d (?:ms|s)$/);
});

test('a backup is saved to a file that --restore accepts', async ({ page, service }) => {
  await page.addInitScript(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
  await createShop(service);
  await open(page, service, '/admin');
  const panel = page.getByRole('region', { name: 'Service' });
  await expect(panel).toContainText('not encrypted');
  await expect(panel.getByText('Last backup').locator('..')).toContainText('none yet');
  const saving = page.waitForEvent('download');
  await panel.getByRole('button', { name: 'Back up to a file…' }).click();
  const file = await saving;
  expect(file.suggestedFilename()).toMatch(/^corollary-\d{4}-\d{2}-\d{2}\.backup$/);
  await expect(page.getByText(/\.backup: .+ saved/)).toBeVisible();
  await expect(panel.getByText('Last backup').locator('..')).not.toContainText('none yet');
  const folder = await mkdtemp(join(tmpdir(), 'corollary-restore-'));
  try {
    const STORAGE_DIR = join(folder, 'restored');
    const restored = await service.run(['--restore', await file.path()], '', { STORAGE_DIR });
    expect(restored).toMatchObject({ code: 0, stderr: '' });
    expect(restored.stdout).toContain('2 databases, 2 tenants, 4 facts and 1 rule');
    const verified = await service.run(['--verify'], '', { STORAGE_DIR });
    expect(verified.stdout).toContain('Everything verifies.');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('the dashboard shows activity as charts and as a table', { tag: '@long' }, async ({ page, service }) => {
  await createShop(service);
  await open(page, service, '/admin');
  await expect(page.getByText('Nothing needs attention.')).toBeVisible();
  const facts = page.getByRole('listitem').filter({ hasText: 'Stored facts' });
  await expect(facts).toContainText('4');
  const where = { database: 'shop', tenant: 'acme' };
  await send(service, '/assert/facts', [{ predicate: 'item', args: ['fig'] }], where);
  await send(service, '/ask', { predicate: 'sold', args: ['?x'] }, where);
  await expect(facts).toContainText('1 asserted');
  const inference = page.getByRole('listitem').filter({ hasText: 'Inference' });
  await expect(inference).toContainText(/\d (?:ms|s)/);

  await page.getByText('Table', { exact: true }).click();
  const row = page.getByRole('row').filter({ hasText: 'Stored facts' });
  await expect(row.getByRole('cell').first()).toHaveText('5');
});

unwatched('what the service refuses to a key is offered no more', async ({ page, service }) => {
  await open(page, service, '/admin/databases');
  await page.route('**/databases', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    await route.fulfill({
      status: 403,
      contentType: 'application/problem+json',
      json: { code: 'Forbidden', status: 403, detail: 'this call needs the role admin', requestId: 'r-403' },
    });
  });
  await page.getByRole('button', { name: 'New database…' }).click();
  await page.keyboard.type('shop');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog').getByRole('alert')).toContainText('this call needs the role admin');
  await expect(page.getByRole('dialog').getByRole('alert')).toContainText('r-403');
  await page.keyboard.press('Escape');
  await expect(page.getByText('The key in use may read, but not administer')).toBeVisible();
  await expect(rowsOf(page, 'Databases')).toHaveCount(1);
  for (const name of ['New database…', 'New tenant…', 'Empty default'])
    await expect(page.getByRole('button', { name })).toHaveCount(0);
  await section(page, 'Dashboard');
  await expect(page.getByText('takes writes')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Snapshot now' })).toHaveCount(0);
  await section(page, 'Databases');
  await page.getByRole('button', { name: 'Offer it again' }).click();
  await expect(page.getByRole('button', { name: 'New database…' })).toBeVisible();
});

test('Admin has no serious accessibility finding @long', async ({ page, service }) => {
  await createShop(service);
  await open(page, service, '/admin/databases?of=shop&tenantOf=acme');
  await expect(rowsOf(page, 'Scopes')).toHaveCount(1);
  await expectNothingGrave(page, 'the databases');
  await page.getByRole('button', { name: 'Delete shop' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await expectNothingGrave(page, 'the question before a deletion');
  await page.keyboard.press('Escape');
  await section(page, 'Dashboard');
  await page.getByRole('button', { name: 'Snapshot now' }).click();
  await expect(page.getByText('Snapshot taken')).toBeVisible();
  await expect(page.getByRole('img', { name: /^Stored facts: 4/ })).toBeVisible();
  await expectNothingGrave(page, 'the dashboard');
});
