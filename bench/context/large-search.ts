/** What a search of many facts takes: the first one, which makes the index, those after it, and the memory of the index. */
import { type Engine, openEngine } from '../../src/engine/index.ts';
import { searchInputSchema } from '../../src/engine/contract/search.ts';
import { Prng } from '../../src/engine/testing/prng.ts';
import { figure, table } from '../report.ts';
import { fact } from '../calls.ts';
import { callerOf } from './judge.ts';
import { oneOf, wordsOfSlot } from './vocabulary.ts';

const predicates = ['knows', 'manages', 'lives_in', 'works_at', 'bought', 'likes'];
const batch = 20_000;
const searches = 300;

/** The table for `facts` facts over three tenths as many constants. */
export async function largeSearchTable(facts: number): Promise<string> {
  const prng = new Prng(7);
  const constants = namesOf(Math.ceil(facts * 0.3), prng);
  const engine = await openEngine({ storageDir: null });
  const load = await timed(() => tellAll(engine, constants, facts, prng));
  const bytes = used();
  const first = await timed(() => searched(engine, constants[0] as string));
  const indexBytes = used() - bytes;
  const rows = [];
  for (const [name, textOf] of Object.entries(texts)) {
    const times: number[] = [];
    for (let search = 0; search < searches; search++) {
      const text = textOf(constants, prng);
      times.push(await timed(() => searched(engine, text)));
    }
    times.sort((left, right) => left - right);
    const at = (share: number): string => figure(times[Math.floor(times.length * share)] as number);
    rows.push([name, at(0.5), at(0.99)]);
  }
  await engine.close(0);
  const summary =
    `${facts} facts of ${constants.length} constants: the first search took ${figure(first / load)} of the time of ` +
    `loading; with it came ${figure(indexBytes / 1e6)} MB, which also has the indexes by argument.`;
  return `${table([`search, ms`, 'p50', 'p99'], rows)}\n\n${summary}`;
}

type TextOf = (constants: readonly string[], prng: Prng) => string;

const someone: TextOf = (constants, prng) => oneOf(constants, prng);

/** Kinds of texts that are searched for. */
const texts: Readonly<Record<string, TextOf>> = {
  'a name': someone,
  'a question about a name': (constants, prng) => `Where does ${someone(constants, prng)} live?`,
  'a question about two names': (constants, prng) =>
    `How do ${someone(constants, prng)} and ${someone(constants, prng)} know each other?`,
  'two words of names': (constants, prng) =>
    `${someone(constants, prng).split('_')[0]} ${oneOf(wordsOfSlot('city'), prng)}`,
  'a misspelt name': (constants, prng) => someone(constants, prng).replace('_', 'x_'),
};

function namesOf(count: number, prng: Prng): string[] {
  const slots = ['name', 'city', 'company', 'object', 'dish', 'plant', 'subject'].map((slot) =>
    wordsOfSlot(slot),
  );
  return Array.from({ length: count }, (_, number) =>
    [oneOf(wordsOfSlot('name'), prng), oneOf(oneOf(slots, prng), prng), number]
      .join('_')
      .replaceAll(' ', '_')
      .toLowerCase(),
  );
}

async function tellAll(
  engine: Engine,
  constants: readonly string[],
  facts: number,
  prng: Prng,
): Promise<void> {
  for (let from = 0; from < facts; from += batch) {
    const told = Array.from({ length: Math.min(batch, facts - from) }, (_, at) =>
      // Each constant at least once.
      fact(oneOf(predicates, prng), [
        constants[(from + at) % constants.length] as string,
        oneOf(constants, prng),
      ]),
    );
    await engine.tellAll(callerOf('default'), told);
  }
}

function searched(engine: Engine, text: string): Promise<unknown> {
  return engine.search(callerOf('default'), searchInputSchema.parse({ text }));
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function used(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
