/** Runs the examples as their readers would: with the built client package, a browser, Python. */
import { expect } from '@playwright/test';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ServiceProcess, test } from './service.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);

/** Runs an example against the service and returns its output. */
async function outputOf(service: ServiceProcess, program: string, file: string): Promise<string> {
  const env = { PATH: process.env['PATH'] ?? '', COROLLARY_URL: service.url };
  return (await run(program, [join(root, 'examples', file)], { env })).stdout;
}

async function factsLeft(service: ServiceProcess, tenant: string): Promise<unknown> {
  const response = await fetch(`${service.url}/facts`, { headers: { 'X-Tenant-ID': tenant } });
  return response.json();
}

/** Serves examples/ and the built client as static files. */
async function offerFiles(): Promise<{ server: Server; origin: string }> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const isKnown = /^\/(examples\/[a-z]+\.html|client\/dist\/[a-z-]+\.js)$/.test(pathname);
    response.writeHead(isKnown ? 200 : 404, {
      'Content-Type': pathname.endsWith('.js') ? 'text/javascript' : 'text/html',
    });
    response.end(isKnown ? readFileSync(join(root, pathname)) : '');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return { server, origin: `http://127.0.0.1:${address.port}` };
}

test('the example for Node shows a proof and the effect of a retraction, and cleans up', async ({
  service,
}) => {
  const output = await outputOf(service, process.execPath, 'node.mjs');
  expect(output).toContain('The shop needs cart, database, search');
  expect(output).toContain('example_needs(shop, database)  from ');
  expect(output).toMatch(/takes with it .*example_needs\(shop, database\)/);
  expect(output).toContain('Imported 1, failed 0');
  expect(output).toMatch(/Refused: .*example_lives_in/);
  expect(output).toContain('Violated: depends(cart, cart)');
  expect(await factsLeft(service, 'example-node')).toMatchObject({ total: 0 });
});

test('the example for Python does the same with only its standard library', async ({ service }) => {
  const output = await outputOf(service, 'python3', 'python.py');
  expect(output).toContain('Alma is an ancestor of eve, nora, pia');
  expect(output).toMatch(/no longer: .*example_ancestor\(alma, pia\)/);
  expect(await factsLeft(service, 'example-python')).toMatchObject({ total: 0 });
});

test('the page of another origin asks, and shows what another client tells', async ({ page }) => {
  const { server, origin } = await offerFiles();
  const service = new ServiceProcess({ CORS_ALLOWED_ORIGINS: origin });
  try {
    await service.start();
    await page.goto(`${origin}/examples/browser.html?service=${service.url}`);
    await page.getByRole('button', { name: 'Tell' }).click();
    await expect(page.getByRole('listitem')).toHaveText(['example_ancestor(alma, nora)']);
    await fetch(`${service.url}/tell`, {
      method: 'POST',
      headers: { 'X-Tenant-ID': 'example-browser', 'Content-Type': 'application/json' },
      body: JSON.stringify({ predicate: 'parent', args: ['nora', 'eve'] }),
    });
    await expect(page.getByRole('listitem')).toHaveCount(3);
    await expect(page.getByRole('alert')).toHaveText('');
  } finally {
    server.close();
    await service.dispose();
  }
});
