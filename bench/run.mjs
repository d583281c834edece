#!/usr/bin/env node
/**
 * Starts the benchmark named by the first argument (storage, memory, space, large, shape, past, packages, context, import, http, nodes,
 * fairness, mcp, turns, threads, ui, desktop), or that of the engine: bundles it and the engine for Node, then runs the bundle with the same arguments. So
 * it measures what ships, code that went through the bundler, and not a development server.
 */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const outDir = join(root, 'out', 'bench');

await build({
  root,
  configFile: false,
  logLevel: 'warn',
  build: {
    ssr: true,
    outDir,
    emptyOutDir: true,
    target: 'node20.19',
    minify: false,
    rolldownOptions: {
      input: {
        main: join(root, 'bench', 'main.ts'),
        storage: join(root, 'bench', 'storage', 'main.ts'),
        context: join(root, 'bench', 'context', 'main.ts'),
        memory: join(root, 'bench', 'memory.ts'),
        import: join(root, 'bench', 'import.ts'),
        space: join(root, 'bench', 'space.ts'),
        large: join(root, 'bench', 'large.ts'),
        shape: join(root, 'bench', 'shape.ts'),
        past: join(root, 'bench', 'past.ts'),
        'reasoning-thread': join(root, 'src', 'main', 'entry', 'reasoning-thread.ts'),
        packages: join(root, 'bench', 'packages.ts'),
        http: join(root, 'bench', 'http', 'main.ts'),
        nodes: join(root, 'bench', 'nodes', 'main.ts'),
        'nodes-relay-child': join(root, 'bench', 'nodes', 'relay-child.ts'),
        fairness: join(root, 'bench', 'fairness', 'main.ts'),
        'fairness-prober-child': join(root, 'bench', 'fairness', 'prober-child.ts'),
        mcp: join(root, 'bench', 'mcp', 'main.ts'),
        'sdk-child': join(root, 'bench', 'mcp', 'sdk-child.ts'),
        'sdk-v1-child': join(root, 'bench', 'mcp', 'sdk-v1-child.ts'),
        collecting: join(root, 'bench', 'mcp', 'collecting.ts'),
        ui: join(root, 'bench', 'ui', 'main.ts'),
        turns: join(root, 'bench', 'turns', 'main.ts'),
        threads: join(root, 'bench', 'threads.ts'),
        'turns-monitor': join(root, 'bench', 'turns', 'monitor.ts'),
        desktop: join(root, 'bench', 'desktop', 'main.ts'),
        'fastify-child': join(root, 'bench', 'http', 'fastify-child.ts'),
        'corollary-child': join(root, 'bench', 'contestants', 'corollary-child.ts'),
        'n3-child': join(root, 'bench', 'contestants', 'n3-child.ts'),
        'duckdb-child': join(root, 'bench', 'contestants', 'duckdb-child.ts'),
        'swipl-wasm-child': join(root, 'bench', 'contestants', 'swipl-wasm-child.ts'),
      },
    },
  },
});

const [first, ...rest] = process.argv.slice(2);
const others = [
  'storage',
  'memory',
  'space',
  'large',
  'shape',
  'past',
  'packages',
  'context',
  'import',
  'http',
  'nodes',
  'fairness',
  'mcp',
  'turns',
  'threads',
  'ui',
  'desktop',
];
const program = others.includes(first) ? `${first}.js` : 'main.js';
const args = others.includes(first) || first === 'engine' ? rest : process.argv.slice(2);
const result = spawnSync(process.execPath, ['--expose-gc', join(outDir, program), ...args], {
  stdio: 'inherit',
});
process.exitCode = result.status ?? 1;
