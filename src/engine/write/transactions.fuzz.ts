import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { type Flavour, plainFlavour, richFlavour } from '../testing/generators.ts';
import { Play } from '../testing/transaction-play.ts';
import { threadsInProcess } from '../testing/threads-in-process.ts';
import { overSeeds } from '../testing/twin.ts';

/**
 * Several transactions interleaved with plain writes, questions inside and outside, validities that begin and end, and
 * restarts: the view of each, the outcome of each commit and the final state are the model's. What a reasoning thread answers
 * about a transaction is what is answered in place.
 */
const flavours: Record<string, Flavour> = {
  plain: plainFlavour,
  absence: { ...plainFlavour, defaultNegation: true, negation: true },
  numbers: { ...plainFlavour, arithmetic: true, comparisons: true, aggregates: true },
  time: { ...plainFlavour, negation: true, scopes: true, validity: true, disabledRules: true },
  rich: richFlavour,
};

const timeout = 3_600_000;

/** Questions of transactions that threads were asked. */
let crossed = 0;

for (const [name, flavour] of Object.entries(flavours))
  test(`transactions have the model's outcomes (${name})`, { timeout }, () =>
    overSeeds({ name, few: 4, many: 1500 }, async (seed) => {
      const prng = new Prng(seed);
      const folder = seed % 4 === 0 ? await mkdtemp(join(tmpdir(), 'transactions-')) : null;
      const threads = seed % 2 === 0 ? threadsInProcess() : null;
      if (threads !== null) threads.afterMs = Number.POSITIVE_INFINITY;
      const play = await Play.begin(prng, { ...flavour, relations: flavour.relations + 1 }, folder, threads);
      try {
        for (let step = 0; step < 60; step++) await play.step();
      } finally {
        await play.close();
        crossed += threads?.asked ?? 0;
        if (folder !== null) await rm(folder, { recursive: true });
      }
    }),
  );

test('questions of transactions crossed threads', () => {
  expect(crossed).toBeGreaterThan(0);
});
