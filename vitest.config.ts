import { defineConfig } from 'vitest/config';

/**
 * Unit tests: `x.test.ts` beside the code and the seeded fuzz `x.fuzz.ts`. LONG=1 (npm run test:long)
 * adds `x.long.ts` and lets the fuzz run for longer. Two workers: what the smallest machine has.
 */
const long = process.env['LONG'] === '1';

export default defineConfig({
  test: {
    include: [
      'src/**/*.{test,fuzz}.{ts,tsx}',
      'bench/**/*.test.ts',
      'scripts/**/*.test.mjs',
      ...(long ? ['src/**/*.long.ts'] : []),
    ],
    environment: 'node',
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: long ? 600_000 : 30_000,
    hookTimeout: 30_000,
    passWithNoTests: false,
  },
});
