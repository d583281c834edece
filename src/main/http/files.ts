/**
 * Static files: the built workbench at `/`, the samples under `/samples/`.
 *
 * Every file has its own route, listed once at the start, so no request can name anything outside the folders. Files
 * with a hash in their name are cached for good, all others never. If the build has also written a compressed version
 * (scripts/compress-files.mjs), clients that accept it get that. The content policy lets the workbench load only from
 * the service itself.
 *
 * Monaco and Mantine add style elements to the page at run time. So the page gets a nonce with each answer, which its own
 * scripts give to the style elements that they create (src/renderer/ui/style-nonce.ts): markup that got into the page has
 * none. Monaco also writes lines of text as markup with style attributes, which have no nonce: they stay allowed.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';

/**
 * For pages of the service: nothing from other origins, no inline script, no framing. `styles` are the style elements
 * allowed beside the service's files.
 */
function policyWith(styles: string): string {
  return [
    "default-src 'self'",
    "script-src 'self'",
    `style-src 'self' ${styles}`.trimEnd(),
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "worker-src 'self' blob:",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const contentPolicy = policyWith('');

/** What stands in a page for the nonce. */
export const noncePlaceholder = 'STYLE-NONCE';
const nonceBytes = 16;

/** The path of the MCP bridge's bundle, if it was built. */
export const bundlePath = '/corollary.mcpb';

const compressed = /\.(?:br|gz)$/;
const forGood = 'public, max-age=31536000, immutable';

/** Adds the routes of all static files. */
export async function addFiles(
  app: FastifyInstance,
  folders: { workbench: string; samples: string; bundle: string | null },
): Promise<void> {
  await app.register(fastifyStatic, { root: folders.samples, serve: false, preCompressed: true });
  const files = filesIn(folders.workbench).filter((file) => !compressed.test(file));
  for (const file of files.filter((each) => each !== 'index.html'))
    addFile(app, folders.workbench, file, `/${file}`, file.startsWith('assets/') ? forGood : 'no-store');
  if (files.includes('index.html')) {
    const page = readFileSync(join(folders.workbench, 'index.html'), 'utf8');
    for (const url of ['/', '/index.html']) addPage(app, url, page);
  } else app.get('/', { config: { isStatic: true } }, (_request, reply) => sayNotBuilt(reply));
  for (const file of filesIn(folders.samples))
    addFile(app, folders.samples, file, `/samples/${file}`, 'no-store');
  if (folders.bundle !== null) addBundle(app, folders.bundle);
}

/** Adds a page; each answer has a nonce of its own in place of `STYLE-NONCE`. */
export function addPage(app: FastifyInstance, url: string, page: string): void {
  app.get(url, { config: { isStatic: true } }, (_request, reply) => {
    const nonce = randomBytes(nonceBytes).toString('base64');
    return reply
      .headers({ 'content-security-policy': policyWith(`'nonce-${nonce}'`), 'cache-control': 'no-store' })
      .type('text/html; charset=utf-8')
      .send(page.replaceAll(noncePlaceholder, nonce));
  });
}

/** Adds the bundle of the MCP bridge, for download; the program that installs it opens it. */
function addBundle(app: FastifyInstance, file: string): void {
  app.get(bundlePath, { config: { isStatic: true } }, (_request, reply) =>
    reply
      .headers({
        'cache-control': 'no-store',
        'content-disposition': `attachment; filename="${basename(file)}"`,
        'content-type': 'application/octet-stream',
      })
      .sendFile(basename(file), dirname(file), { cacheControl: false, contentType: false }),
  );
}

/** A policy is for pages, pictures opened as such, and workers: browsers ignore it on the files that these load. */
const withoutPolicy = /\.(?:css|woff2|ttf)$|^(?!.*worker)(?:.*\/)?assets\/[^/]+\.js$/i;

function addFile(app: FastifyInstance, folder: string, file: string, url: string, caching: string): void {
  const policy = withoutPolicy.test(file) ? {} : { 'content-security-policy': contentPolicy };
  app.get(encodeURI(url), { config: { isStatic: true } }, (_request, reply) =>
    reply
      .headers({ ...policy, 'cache-control': caching })
      .sendFile(file, folder, { cacheControl: false, dotfiles: 'deny', index: false }),
  );
}

function sayNotBuilt(reply: FastifyReply): FastifyReply {
  return reply
    .headers({ 'content-security-policy': contentPolicy })
    .type('text/html; charset=utf-8')
    .send(
      '<!doctype html><html lang="en"><title>Corollary</title><h1>The workbench is not built</h1>' +
        '<p>The service is running. Build the workbench with <code>npm run build</code> and start again; ' +
        'the API is described at <a href="/docs">/docs</a>.</p></html>',
    );
}

/** Paths of the files below a folder, with `/`, sorted; empty if the folder is missing. */
function filesIn(folder: string): string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .toSorted();
}
