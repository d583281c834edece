import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addFiles, bundlePath } from './files.ts';

let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'corollary-files-'));
  writeFileSync(join(folder, 'corollary.mcpb'), 'PK of a bundle');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function get(bundle: string | null) {
  const app = fastify();
  await addFiles(app, { workbench: join(folder, 'none'), samples: folder, bundle });
  const answered = await app.inject({ method: 'GET', url: bundlePath });
  await app.close();
  return answered;
}

it('the bundle of the bridge is a download where it was built, and no address where not', async () => {
  const { statusCode, headers, body } = await get(join(folder, 'corollary.mcpb'));
  expect({ statusCode, body }).toEqual({ statusCode: 200, body: 'PK of a bundle' });
  expect(headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment; filename="corollary.mcpb"',
    'cache-control': 'no-store',
  });
  expect((await get(null)).statusCode).toBe(404);
});
