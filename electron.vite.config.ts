import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'electron-vite';
import { mantineStyles } from './scripts/mantine-styles.mjs';
import { texts } from './scripts/texts/plugin.mjs';

/**
 * The workbench's code in few files: what the first page runs is one; what several later views share is another; each
 * view adds its own. Without groups every module that two views share becomes a file of its own, a hundred in all, and a
 * browser asks for each. What only an editor needs is with the editor: among what is shared it made every view fetch that.
 */
const chunks = [
  { name: 'first', tags: ['$initial' as const], priority: 3 },
  {
    name: 'monaco',
    test: /[\\/]node_modules[\\/]monaco-editor[\\/]|[\\/]editor[\\/](monaco|language-services)\.ts$/,
    priority: 2,
  },
  { name: 'shared', minShareCount: 2, priority: 1 },
];

/**
 * What a build makes: the service and the desktop shell in out/main, the preload in out/preload and the
 * workbench in out/renderer.
 *
 * Kept: everything in out/main starts with Node and the production dependencies alone (they stay
 * imports, never bundled), and lies flat in that folder, so that `../renderer` seen from any built file
 * is the workbench. The preload is CommonJS and a single file, since a sandboxed one can be nothing
 * else. The workbench is bundled whole, with every asset a file of its own: its content security policy
 * allows no inline anything.
 */
export default defineConfig({
  main: {
    // Where the desktop application asks for newer versions, once its user wants that. None here: it asks nowhere.
    define: { builtReleasesAddress: JSON.stringify(process.env['RELEASES_ADDRESS'] ?? '') },
    build: {
      target: 'node20.19',
      rolldownOptions: {
        input: {
          headless: 'src/main/entry/headless.ts',
          main: 'src/main/entry/main.ts',
          'service-thread': 'src/main/entry/service-thread.ts',
          'reasoning-thread': 'src/main/entry/reasoning-thread.ts',
        },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  },
  preload: {
    build: {
      externalizeDeps: false,
      rolldownOptions: {
        input: { preload: 'src/main/entry/preload.ts' },
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer: {
    root: 'src/renderer',
    base: './',
    plugins: [texts(), mantineStyles(), react(), apiViewer()],
    worker: { format: 'es' },
    build: {
      target: 'es2023',
      outDir: 'out/renderer',
      emptyOutDir: true,
      assetsInlineLimit: 0,
      minify: true,
      // The editor is one large chunk, loaded from this machine when it is first opened.
      chunkSizeWarningLimit: 8000,
      rolldownOptions: {
        input: { index: 'src/renderer/index.html' },
        output: { codeSplitting: { includeDependenciesRecursively: false, groups: chunks } },
      },
    },
  },
});

/** The viewer of GET /docs, as its package ships it: a file of the workbench that only that page loads. */
function apiViewer() {
  const path = createRequire(import.meta.url).resolve(
    'openapi-explorer/dist/browser/openapi-explorer.min.js',
  );
  return {
    name: 'api-viewer',
    generateBundle(this: { emitFile(file: object): string }) {
      this.emitFile({ type: 'asset', fileName: 'docs/openapi-explorer.js', source: readFileSync(path) });
    },
  };
}
