/** Followers in the workbench: their state, their leader, and where writes go. */
import { expect } from '@playwright/test';
import { expectNothingGrave } from './accessibility.ts';
import { ServiceProcess, test } from './service.ts';
import { open } from './workbench.ts';

test('a leader shows its followers, and a follower shows its leader and where to write', async ({
  page,
  service,
}) => {
  const told = await fetch(`${service.url}/tell`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-tenant-id': 'default' },
    body: JSON.stringify({ predicate: 'parent', args: ['ann', 'bob'] }),
  });
  expect(told.status).toBe(200);
  const follower = new ServiceProcess({
    REPLICATION_MODE: 'FOLLOWER',
    LEADER_URL: service.url,
    REPLICATION_POLL_INTERVAL_MS: '200',
  });
  try {
    await follower.start();
    await expect.poll(async () => (await fetch(`${follower.url}/health/ready`)).status).toBe(200);
    await open(page, service, '/admin/replication');
    await expect(page.getByRole('heading', { name: 'This is a leader' })).toBeVisible();
    await expect(page.getByRole('cell', { name: '127.0.0.1' })).toBeVisible();
    await expectNothingGrave(page, 'the replication of a leader');
    await expect(page.getByText('Follower of')).toHaveCount(0);

    await open(page, follower, '/admin/replication');
    await expect(page.getByRole('heading', { name: 'This is a follower' })).toBeVisible();
    await expect(page.getByText('streaming')).toBeVisible();
    const { host } = new URL(service.url);
    const link = page.getByRole('link', { name: `Follower of ${host}` });
    await expect(link).toHaveAttribute('href', service.url);
    await expectNothingGrave(page, 'the replication of a follower');

    await open(page, follower, '/facts');
    await expect(page.getByRole('gridcell', { name: /parent/ }).first()).toBeVisible();
    const add = page.getByRole('button', { name: 'Add facts' });
    await add.hover({ force: true });
    await expect(page.getByText(`its leader at ${service.url} takes what is written`)).toBeVisible();
  } finally {
    await follower.dispose();
  }
});
