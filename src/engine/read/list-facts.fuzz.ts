import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { factSortKeys } from '../contract/fact-order.ts';
import { type FactList, listFactsQuerySchema } from '../contract/facts.ts';
import { askInputSchema } from '../contract/inference.ts';
import { maxListings } from '../session/caches.ts';
import {
  type Flavour,
  plainFlavour,
  randomCase,
  randomQuestion,
  randomUpdate,
  type Vocabulary,
} from '../testing/generators.ts';
import { fuzzCaller, overSeeds, Twin } from '../testing/twin.ts';

/** Pages of cached listings against those of an engine without a cache, while facts, rules, uses and time change. */

const flavour: Flavour = {
  ...plainFlavour,
  negation: true,
  scopes: true,
  validity: true,
  disabledRules: true,
};

type Query = Record<string, string>;

function randomQuery(prng: Prng, { relations, scopes }: Vocabulary): Query {
  const query: Query = { sort: prng.pick(factSortKeys), order: prng.pick(['asc', 'desc']) };
  query['limit'] = String(1 + prng.below(6));
  if (prng.chance(0.6)) {
    query['predicate'] = prng.pick(relations).predicate;
    if (prng.chance(0.4)) query['derived'] = 'true';
    if (prng.chance(0.3)) query['sort'] = prng.pick(['arg0', 'arg1', 'arg2']);
  }
  if (prng.chance(0.3)) query['scope'] = prng.pick([...scopes, 'none']);
  else if (prng.chance(0.2)) query['unscoped'] = 'true';
  if (prng.chance(0.2)) query['q'] = prng.pick(['A', '(b', ', c', 'p1', '']);
  if (prng.chance(0.2)) query['truthVal'] = prng.pick(['true', 'false']);
  return query;
}

async function page(twin: Twin, query: Query): Promise<FactList> {
  return twin.engine.facts(fuzzCaller, listFactsQuerySchema.parse(query));
}

/** The page from an engine with an emptied listing cache. */
async function coldPage(twin: Twin, query: Query): Promise<FactList> {
  for (let index = 0; index < maxListings; index++) await page(twin, { q: `nowhere ${index}` });
  return page(twin, query);
}

/** The atoms of all pages, each by its number. */
async function numbered(twin: Twin, query: Query): Promise<unknown[]> {
  const found: unknown[] = [];
  for (;;) {
    const { facts } = await page(twin, { ...query, offset: String(found.length) });
    if (facts.length === 0) return found;
    found.push(...facts);
  }
}

/** The atoms of all pages from the first on. */
async function walked(twin: Twin, query: Query): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const next: FactList = await page(twin, { ...query, ...(cursor === '' ? {} : { cursor }) });
    found.push(...next.facts);
    cursor = next.nextCursor;
  }
  return found;
}

test('returns the same page from a cached listing and without a cache', { timeout: 3_600_000 }, () =>
  overSeeds({ name: 'pages', few: 6, many: 3000 }, async (seed) => {
    const prng = new Prng(seed);
    const start = randomCase(prng, flavour);
    const warm = await Twin.open(start, () => Promise.resolve());
    const cold = await Twin.open(start, () => Promise.resolve());
    try {
      const open: { query: Query; cursor: string }[] = [];
      for (let step = 0; step < 30; step++) {
        const choice = prng.below(10);
        if (choice < 2) {
          const update = randomUpdate(prng, start.vocabulary, flavour, warm.current);
          await warm.apply(update);
          await cold.apply(update);
        } else if (choice < 3) {
          const { predicate, args, negated } = randomQuestion(prng, start.vocabulary, flavour);
          const input = askInputSchema.parse({ predicate, args, negated });
          for (const twin of [warm, cold]) await twin.engine.ask(fuzzCaller, input);
        } else {
          const going = prng.chance(0.6) && open.length > 0 ? prng.pick(open) : null;
          const query = going?.query ?? randomQuery(prng, start.vocabulary);
          const wanted = going === null ? query : { ...query, cursor: going.cursor };
          const got = await page(warm, wanted);
          expect(got, JSON.stringify(wanted)).toEqual(await coldPage(cold, wanted));
          if (got.nextCursor !== null) open.push({ query, cursor: got.nextCursor });
          if (going === null) {
            const all = (await page(warm, { ...query, limit: '1000' })).facts;
            expect(await walked(warm, query), JSON.stringify(query)).toEqual(all);
            expect(await numbered(warm, query), JSON.stringify(query)).toEqual(all);
          }
        }
      }
    } finally {
      await warm.engine.close();
      await cold.engine.close();
    }
  }),
);
