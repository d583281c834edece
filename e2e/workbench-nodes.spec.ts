/** The nodes of a store in the workbench: who stores the writes, and the log moved to another node. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { postgresMissing, startPostgres } from '../src/engine/testing/private-postgres.ts';
import { expectNothingGrave } from './accessibility.ts';
import { ServiceProcess, test } from './service.ts';
import { open } from './workbench.ts';

test('a service by itself says how to share its knowledge', async ({ page, service }) => {
  await open(page, service, '/admin/nodes');
  await expect(
    page.getByRole('heading', { name: 'This service keeps its knowledge by itself' }),
  ).toBeVisible();
  await expect(page.getByText('STORE_URL=postgres://')).toBeVisible();
  await expectNothingGrave(page, 'the nodes of a service by itself');
});

test('everything is moved from one node to the other, and one database back @long', async ({ page }) => {
  test.skip(postgresMissing !== null, postgresMissing ?? '');
  const server = await startPostgres();
  const folder = mkdtempSync(join(tmpdir(), 'corollary-nodes-'));
  const secret = join(folder, 'secret');
  writeFileSync(secret, 'a secret of at least 32 characters');
  const [first, second] = [1, 2].map(
    () => new ServiceProcess({ STORE_URL: server.url, NODE_SECRET_FILE: secret }),
  ) as [ServiceProcess, ServiceProcess];
  try {
    await first.start();
    await second.start();
    await open(page, second, '/admin/nodes');
    const strip = page.getByLabel('The catalogue of the store');
    await expect(strip).toContainText(first.url);
    await expect(page.getByRole('heading', { name: '2 nodes' })).toBeVisible();
    await expectNothingGrave(page, 'the nodes of a store');
    await page.getByRole('button', { name: `Move what the owner has to ${second.url}` }).click();
    await expect(page.getByText(`${second.url} stores the writes now`)).toBeVisible();
    await expect(strip).toContainText(second.url);
    await expect(page.getByRole('button', { name: `Move what the owner has to ${first.url}` })).toBeVisible();
    const row = page.getByLabel('Databases of the store').getByRole('row', { name: 'default' });
    const owner = row.getByRole('cell').first();
    await expect(owner).toHaveText(second.url);
    await expect(row.getByRole('cell').nth(1)).toHaveText(first.url);
    await row.getByLabel('Move default to another node').click();
    await page.getByRole('option', { name: first.url }).click();
    await expect(page.getByText(`${first.url} stores the writes to default now`)).toBeVisible();
    await expect(owner).toHaveText(first.url);
    await expect(strip).toContainText(second.url);
  } finally {
    await first.dispose();
    await second.dispose();
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  }
});
