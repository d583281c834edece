import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
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

it("serves the compressed copy of a file to clients that accept it, and only at the file's own address", async () => {
  const workbench = join(folder, 'workbench');
  mkdirSync(join(workbench, 'assets'), { recursive: true });
  const plain = 'export const words = 1;\n'.repeat(100);
  writeFileSync(join(workbench, 'assets', 'a-1.js'), plain);
  writeFileSync(join(workbench, 'assets', 'a-1.js.br'), brotliCompressSync(plain));
  writeFileSync(join(workbench, 'assets', 'a-1.js.gz'), gzipSync(plain));
  writeFileSync(join(workbench, 'assets', 'b-2.js'), 'export {};');
  const app = fastify();
  await addFiles(app, { workbench, samples: join(folder, 'none'), bundle: null });
  const get = (url: string, takes: string) =>
    app.inject({ method: 'GET', url, headers: { 'accept-encoding': takes } });
  const answers = {
    br: await get('/assets/a-1.js', 'gzip, deflate, br'),
    gzip: await get('/assets/a-1.js', 'gzip'),
    identity: await get('/assets/a-1.js', 'identity'),
  };
  expect(brotliDecompressSync(answers.br.rawPayload).toString()).toBe(plain);
  expect(gunzipSync(answers.gzip.rawPayload).toString()).toBe(plain);
  expect(answers.identity.body).toBe(plain);
  for (const [coding, { headers }] of Object.entries(answers)) {
    expect(headers['content-encoding'] ?? 'identity').toBe(coding);
    expect(headers).toMatchObject({
      'content-type': expect.stringMatching(/^(text|application)\/javascript/),
      'cache-control': 'public, max-age=31536000, immutable',
      vary: expect.stringMatching(/accept-encoding/i),
    });
  }
  expect((await get('/assets/b-2.js', 'br, gzip')).body).toBe('export {};');
  expect((await get('/assets/a-1.js.br', 'br')).statusCode).toBe(404);
  await app.close();
});

it('gives each answer of the page a nonce of its own, for the styles that its scripts add', async () => {
  const workbench = join(folder, 'page');
  mkdirSync(workbench);
  const page = '<!doctype html><meta property="csp-nonce" nonce="STYLE-NONCE">';
  writeFileSync(join(workbench, 'index.html'), page);
  writeFileSync(join(workbench, 'index.html.br'), brotliCompressSync(page));
  const app = fastify();
  await addFiles(app, { workbench, samples: join(folder, 'none'), bundle: null });
  const nonces = new Set<string>();
  for (const url of ['/', '/', '/index.html']) {
    const { headers, body } = await app.inject({ url, headers: { 'accept-encoding': 'br' } });
    const directives = String(headers['content-security-policy']).split('; ');
    const nonce = /nonce="([\w+/=]{24})"/.exec(body)?.[1] ?? '';
    nonces.add(nonce);
    expect(directives).toContain(`style-src 'self' 'nonce-${nonce}'`);
    expect(directives).toContain("script-src 'self'");
    expect(headers['cache-control']).toBe('no-store');
  }
  expect(nonces.size).toBe(3);
  await app.close();
});

it('offers the bundle of the bridge as a download if it was built, else 404', async () => {
  const { statusCode, headers, body } = await get(join(folder, 'corollary.mcpb'));
  expect({ statusCode, body }).toEqual({ statusCode: 200, body: 'PK of a bundle' });
  expect(headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment; filename="corollary.mcpb"',
    'cache-control': 'no-store',
  });
  expect((await get(null)).statusCode).toBe(404);
});
