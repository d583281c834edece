import { defineConfig } from 'vitest/config';

/**
 * Unit tests: `x.test.ts` beside the code and the seeded fuzz `x.fuzz.ts`. LONG=1 (npm run test:long)
 * adds `x.long.ts` and lets the fuzz run for longer. Each worker loads a module once for all files that it runs, which takes
 * a third of the time: a test leaves nothing behind in a module.
 */
const long = process.env['LONG'] === '1';

const include = [
  'src/**/*.{test,fuzz}.{ts,tsx}',
  'client/src/*.test.ts',
  'bench/**/*.test.ts',
  'scripts/**/*.test.mjs',
  ...(long ? ['src/**/*.long.ts', 'bench/**/*.long.ts'] : []),
];

/**
 * In processes of their own: what looks into work that is under way, which is done before anybody looks where the code ran
 * often before; and what collects all garbage, which takes ten times as long in a process with everything loaded.
 */
const alone = [
  'src/engine/write/large-{scopes,writes}.test.ts',
  'src/engine/read/{explosions,list-facts}.test.ts',
];

export default defineConfig({
  test: {
    environment: 'node',
    // Style sheets are read as text by what checks them; else they would be empty.
    css: { include: [/\.css\?raw/] },
    pool: 'forks',
    // One more than the smallest machine has processors: a third of the time a test waits for a timer, a disk or a process.
    maxWorkers: 3,
    // No test is about how long something takes: these are for what hangs, on a machine that is busy with other things.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 300_000, interval: 20 } },
    // On a shared machine a pause of the thread may fall between any two steps. What passed only the second time is told by
    // name, with how it failed the first time (scripts/check.mjs), and is looked into.
    retry: long ? 0 : 1,
    passWithNoTests: false,
    projects: [
      { extends: true, test: { name: 'unit', include, exclude: alone, isolate: false } },
      { extends: true, test: { name: 'alone', include: alone } },
    ],
  },
});
