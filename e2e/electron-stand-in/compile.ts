/**
 * Compiles the stand-ins for plain Node, for bundles that import `electron`.
 *
 * `stand-ins` writes a folder with both and the hooks that replace Electron: `register.mjs` for the main bundle,
 * `register.cjs` for the preload.
 */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript';

export interface StandIns {
  readonly folder: string;
  /** For `--import`, before the main bundle. */
  readonly mainHook: string;
  /** For `--require`, before the preload. */
  readonly preloadHook: string;
}

/** Writes the stand-ins; the caller removes the folder. */
export function writeStandIns(): StandIns {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-electron-'));
  const main = join(folder, 'electron.mjs');
  const preload = join(folder, 'electron.cjs');
  writeFileSync(main, compiled('electron.ts', ModuleKind.ESNext));
  writeFileSync(preload, compiled('preload-electron.ts', ModuleKind.CommonJS));

  const resolver = `
    export async function resolve(specifier, context, next) {
      const url = ${JSON.stringify(pathToFileURL(main).href)};
      return specifier === 'electron' ? { url, shortCircuit: true } : next(specifier, context);
    }`;
  const mainHook = join(folder, 'register.mjs');
  writeFileSync(
    mainHook,
    `import { register } from 'node:module';
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(resolver)}));`,
  );
  const preloadHook = join(folder, 'register.cjs');
  writeFileSync(
    preloadHook,
    `const Module = require('node:module');
    const resolve = Module._resolveFilename;
    Module._resolveFilename = function (request, ...rest) {
      return request === 'electron' ? ${JSON.stringify(preload)} : resolve.call(this, request, ...rest);
    };`,
  );
  return { folder, mainHook, preloadHook };
}

function compiled(name: string, module: ModuleKind): string {
  const source = readFileSync(new URL(name, import.meta.url), 'utf8');
  return transpileModule(source, { compilerOptions: { module, target: ScriptTarget.ES2022 } }).outputText;
}
