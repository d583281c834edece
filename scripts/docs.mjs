import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { withModules } from './module-loader.mjs';
import { install, Refusal, root, runCommand, runNpm } from './prepare.mjs';
import { referencePages } from './reference-pages.mjs';
import { runProgram } from './run-program.mjs';

/**
 * `npm run docs`: the documentation as a site, in dist/docs, from the pages of docs/.
 *
 *   npm run docs                    regenerates the reference and builds the site
 *   npm run docs -- --reference     only regenerates the reference; a test fails if it is outdated
 *   npm run docs -- --serve         builds the site and shows it at http://localhost:4173/
 *
 * VitePress is downloaded when it is first needed, into dist/site-builder, so that its 100 MB are no dependency.
 * COROLLARY_VITEPRESS names a folder in which it is installed.
 */

const vitepressVersion = '1.6.4';
const vitepressFolder = join(root, 'dist/site-builder');

/** The folder that contains VitePress. */
async function vitepress() {
  const given = process.env['COROLLARY_VITEPRESS'];
  if (given !== undefined) return resolve(given);
  if (!existsSync(join(vitepressFolder, 'node_modules/vitepress/package.json'))) {
    mkdirSync(vitepressFolder, { recursive: true });
    writeFileSync(join(vitepressFolder, 'package.json'), '{ "private": true }\n');
    console.log('Fetching VitePress (once)...');
    const wanted = ['--no-audit', '--no-fund', '--loglevel=error', `vitepress@${vitepressVersion}`];
    await runNpm(['install', ...wanted], process.env, vitepressFolder);
  }
  return vitepressFolder;
}

/** @param {'build' | 'preview'} command */
async function runVitepress(command) {
  const program = join(await vitepress(), 'node_modules/vitepress/bin/vitepress.js');
  const { ok } = await runProgram(process.execPath, [program, command, 'docs'], {
    folder: root,
    environment: process.env,
    show: true,
  });
  if (!ok) throw new Refusal('VitePress failed: see above.');
}

await runCommand(async () => {
  await install();
  mkdirSync(join(root, 'docs/reference'), { recursive: true });
  for (const [path, text] of Object.entries(await withModules(referencePages)))
    writeFileSync(join(root, path), text);
  if (process.argv.includes('--reference')) return;
  await runVitepress('build');
  console.log('Site: dist/docs');
  if (process.argv.includes('--serve')) await runVitepress('preview');
});
