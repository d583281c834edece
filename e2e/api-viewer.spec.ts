/** The viewer of the API description at /docs, in a browser and without a network. */
import { expect, type Page } from '@playwright/test';
import { ServiceProcess, test } from './service.ts';

/** Requests to other origins, and the browser's errors. */
function watch(page: Page, url: string): { foreign: string[]; complaints: string[] } {
  const seen = { foreign: [] as string[], complaints: [] as string[] };
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`) && !/^(data|blob):/.test(request.url()))
      seen.foreign.push(request.url());
  });
  page.on('console', (message) => {
    if (message.type() === 'error') seen.complaints.push(message.text());
  });
  page.on('pageerror', (error) => seen.complaints.push(String(error)));
  return seen;
}

test('GET /docs shows the description in the browser, offline, and calls the service from there', async ({
  page,
  service,
}) => {
  const seen = watch(page, service.url);
  await page.goto(`${service.url}/docs`);
  await expect(page.getByText('get the proof of every answer')).toBeVisible();
  // Groups and operations are listed at the left.
  for (const group of ['facts', 'inference', 'authentication', 'service'])
    await expect(page.locator(`[id="link-tag--${group}"]`)).toBeVisible();

  await page.locator('[id="link-post-/ask"]').click();
  const ask = page.locator('[id="post-/ask"]');
  await expect(ask).toContainText('answer is complete, without duplicates');
  await expect(ask).toContainText('grandparent');

  await page.locator('[id="link-get-/health"]').click();
  const health = page.locator('[id="get-/health"]');
  await health.getByRole('button', { name: 'Execute' }).click();
  await expect(health).toContainText('Status: OK (200)');

  await page.setViewportSize({ width: 500, height: 900 });
  await page.reload();
  await expect(page.getByText('get the proof of every answer')).toBeVisible();
  expect(seen).toEqual({ foreign: [], complaints: [] });
  await page.evaluate(() =>
    document.body.insertAdjacentHTML('beforeend', '<style>body { display: none }</style>'),
  );
  await expect(page.getByText('get the proof of every answer')).toBeVisible();
});

test('GET /docs asks for a key if the service requires one', async ({ page }) => {
  const service = new ServiceProcess({ API_KEY: 'the-key-of-this-test' });
  try {
    await service.start();
    const { foreign } = watch(page, service.url);
    await page.goto(`${service.url}/docs`);
    await page.getByLabel('API key').fill('another');
    await page.getByRole('button', { name: 'Show the API' }).click();
    await expect(page.getByRole('status')).toHaveText('That key is not valid.');
    await page.getByLabel('API key').fill('the-key-of-this-test');
    await page.getByRole('button', { name: 'Show the API' }).click();
    // About a hundred operations render at once.
    await expect(page.locator('[id="link-tag--facts"]')).toBeVisible();
    await expect(page.getByLabel('API key')).toBeHidden();
    expect(foreign).toEqual([]);
  } finally {
    await service.dispose();
  }
});
