import { AliasStore } from '../store/alias-store.ts';
import { expect, test } from 'vitest';
import { changeRules } from '../state/apply-rules.ts';
import { ask, askByPointLookup, bodyOf } from './ask.ts';
import { Prng } from '../testing/prng.ts';
import { compareText } from '../base/text-order.ts';
import { FactUses } from '../store/fact-uses.ts';
import { type FactPattern, FactStore, type FactToStore, type ScopeChoice } from '../store/fact-store.ts';
import { pointLookup } from './point-lookup.ts';
import { ListingCache } from '../session/caches.ts';
import { shippedTokens } from '../log/shipped-tokens.ts';
import { parseRule } from '../language/parse.ts';
import { MemoryBudget } from '../datalog/model/memory-budget.ts';
import { Program } from '../datalog/model/program.ts';
import { Reasoner } from '../datalog/maintain/reasoner.ts';
import { DatabaseState } from '../state/state.ts';
import { overSeeds } from '../testing/twin.ts';

/**
 * Point look-ups against a scan of all rows: facts of several scopes (few, or more than are searched one after the
 * other), of either truth value, in several versions, valid from or until some time, asserted, changed, retracted and
 * asserted again, for readers of every generation.
 */

const texts = ['a', 'b', 'c', 'é', '\u{1f600}', 'ab', ''];
const arities = [0, 1, 2, 3];
const generations = 12;

function randomTerm(prng: Prng, variables: number): string {
  return prng.chance(variables) ? prng.pick(['?x', '?y', '?_']) : prng.pick(texts);
}

function randomFact(prng: Prng, scopes: readonly (string | null)[]): FactToStore {
  const args = Array.from({ length: prng.pick(arities) }, () => randomTerm(prng, 0));
  const bounds = {
    ...(prng.chance(0.15) ? { validFrom: prng.below(10) } : {}),
    ...(prng.chance(0.15) ? { validUntil: 10 + prng.below(10) } : {}),
  };
  const metadata = prng.chance(0.2) ? { metadata: { importance: prng.next() } } : {};
  return {
    predicate: 'p',
    args,
    truthVal: prng.chance(0.7),
    scope: prng.pick(scopes),
    ...bounds,
    ...metadata,
  };
}

function randomStore(prng: Prng, scopes: readonly (string | null)[]): FactStore {
  const store = new FactStore(0);
  for (let generation = 1; generation <= generations; generation++)
    for (let write = prng.below(12); write >= 0; write--) {
      const stored = store.store(randomFact(prng, scopes), generation, 0);
      if (stored.status === 'unchanged' || !prng.chance(0.3)) continue;
      if (prng.chance(0.5)) store.retract(stored, generation);
    }
  return store;
}

function randomPattern(prng: Prng, scopes: readonly (string | null)[]): FactPattern {
  const args = Array.from({ length: prng.pick(arities) }, () => randomTerm(prng, 0.4));
  const scope = prng.pick(scopes);
  const choice = prng.pick<ScopeChoice>([
    { kind: 'all' },
    { kind: 'unscoped' },
    { kind: 'scope', scope: scope ?? 'never named' },
  ]);
  return { predicate: 'p', args, truthVal: prng.pick([true, false, null]), scope: choice };
}

/** True if the row's arguments are an instance of the pattern's. */
function isInstance(args: readonly string[], pattern: readonly string[]): boolean {
  const bound = new Map<string, string>();
  return pattern.every((term, at) => {
    const text = args[at] as string;
    if (!term.startsWith('?')) return term === text;
    if (term === '?_') return true;
    const known = bound.get(term) ?? text;
    bound.set(term, known);
    return known === text;
  });
}

/** Every atom as text with the ids of its facts, in order: by a scan of all rows. */
function walked(store: FactStore, pattern: FactPattern, generation: number, time: number): string[] {
  const { args, truthVal, scope } = pattern;
  const atoms = new Map<string, { args: string[]; negated: boolean; ids: string[] }>();
  for (const relation of store.relations.values())
    for (let row = 0; row < relation.count; row++) {
      const fact = { relation, row };
      const found = { args: store.argsOf(fact), negated: relation.negated };
      const own = store.scopeOf(fact);
      const isOfScope =
        scope.kind === 'all' || (scope.kind === 'unscoped' ? own === null : own === scope.scope);
      if (!isOfScope || found.args.length !== args.length || found.negated === truthVal) continue;
      if (!isInstance(found.args, args) || !relation.isVisible(row, generation, time)) continue;
      const key = JSON.stringify(found);
      const known = atoms.get(key) ?? { ...found, ids: [] };
      known.ids.push(store.idOf(fact));
      atoms.set(key, known);
    }
  return [...atoms.values()]
    .sort((left, right) => {
      for (const [at, text] of left.args.entries()) {
        const order = compareText(text, right.args[at] as string);
        if (order !== 0) return order;
      }
      return Number(left.negated) - Number(right.negated);
    })
    .map((atom) => JSON.stringify({ ...atom, ids: atom.ids.sort() }));
}

test('finds the atoms of a scan of all rows', async () => {
  let found = 0;
  await overSeeds({ name: 'few atoms', few: 60, many: 3_000 }, async (seed) => {
    const prng = new Prng(seed);
    const count = prng.pick([1, 2, 3, 12]);
    const scopes = Array.from({ length: count }, (_, at) => (at === 0 ? null : `s${at}`));
    const store = randomStore(prng, scopes);
    for (let question = 0; question < 60; question++) {
      const pattern = randomPattern(prng, scopes);
      const generation = prng.below(generations + 2);
      const time = prng.below(20);
      const part = { offset: prng.below(3), limit: prng.pick([null, 0, 1, 2, 9]) };
      const reader = { facts: store, generation, time, overlay: null };
      const few = pointLookup(reader, pattern, part);
      const isBound = pattern.args.some((term) => !term.startsWith('?'));
      if (few === null) {
        expect(isBound && store.scopeNames.length < 3, 'an index finds a constant').toBe(false);
        continue;
      }
      const all = walked(store, pattern, generation, time);
      const end = part.limit === null ? all.length : Math.min(all.length, part.offset + part.limit);
      expect(
        few.atoms.map(({ args, negated, facts }) =>
          JSON.stringify({ args, negated, ids: facts.map((fact) => store.idOf(fact)).sort() }),
        ),
      ).toEqual(all.slice(part.offset, end));
      expect(few.isTruncated).toBe(end < all.length);
      found += few.atoms.length;
    }
    await Promise.resolve();
  });
  expect(found).toBeGreaterThan(0);
});

test('selects the facts of a scan of all rows, in order of birth, also those not yet valid', async () => {
  let found = 0;
  await overSeeds({ name: 'selected facts', few: 60, many: 3_000 }, async (seed) => {
    const prng = new Prng(seed);
    const count = prng.pick([1, 2, 3, 12]);
    const scopes = Array.from({ length: count }, (_, at) => (at === 0 ? null : `s${at}`));
    const store = randomStore(prng, scopes);
    for (let question = 0; question < 60; question++) {
      const pattern = randomPattern(prng, scopes);
      const [generation, time, notYetValid] = [prng.below(generations + 2), prng.below(20), prng.chance(0.5)];
      const wanted: string[] = [];
      for (const negated of [false, true]) {
        const relation = store.relation('p', pattern.args.length, negated);
        if (relation === null || pattern.truthVal === negated) continue;
        const chosen = store.chosenScope(pattern.scope);
        for (let row = 0; row < relation.count; row++) {
          const isSeen = notYetValid
            ? relation.isHeld(row, generation, time)
            : relation.isVisible(row, generation, time);
          const isOfScope = chosen === null || relation.columns[relation.arity]?.[row] === chosen;
          if (isSeen && isOfScope && isInstance(store.argsOf({ relation, row }), pattern.args))
            wanted.push(`${negated} ${row}`);
        }
      }
      const selected = [...store.match(pattern, generation, time, notYetValid)];
      expect(selected.map(({ relation, row }) => `${relation.negated} ${row}`)).toEqual(wanted);
      found += selected.length;
    }
    await Promise.resolve();
  });
  expect(found).toBeGreaterThan(0);
});

const rules = [
  'p(?x) :- p(?x, ?y)',
  'p(?x, ?y) :- p(?y, ?x), not -p(?x)',
  '-p(?x, ?y, a) :- p(?x, ?y)',
  'q(?x) :- p(?x)',
];

/** Some of the rules, of one scope or none. */
function randomRules(prng: Prng, scopes: readonly (string | null)[]): DatabaseState {
  const database = new DatabaseState('default', 0);
  for (const [at, text] of rules.entries()) {
    if (prng.chance(0.7)) continue;
    const about = { name: null, description: null, enabled: null };
    const rule = { rule: parseRule(text), scope: prng.chance(0.3) ? prng.pick(scopes) : null, ...about };
    changeRules(database.rules, { kind: 'teach', rule }, { id: `r${at}`, time: 0, generation: 0 });
  }
  return database;
}

test('returns what tables answer, with the proofs, to the last byte', async () => {
  const asked = { at: 0, withSteps: 0, concluded: 0 };
  const limits = { timeoutMs: 1e9, maxDerivations: 1e9, signal: new AbortController().signal };
  const memory = new MemoryBudget(2 ** 30);
  await overSeeds({ name: 'answers at once', few: 30, many: 2_000 }, async (seed) => {
    const prng = new Prng(seed);
    const count = prng.pick([1, 2, 3, 12]);
    const scopes = Array.from({ length: count }, (_, at) => (at === 0 ? null : `s${at}`));
    const store = randomStore(prng, scopes);
    const tenant = {
      facts: store,
      uses: new FactUses(store),
      aliases: new AliasStore(),
      packages: new Map(),
    };
    const database = randomRules(prng, scopes);
    const program = new Program(database.rules.all());
    for (let question = 0; question < 30; question++) {
      const { predicate, args, scope } = randomPattern(prng, scopes);
      const [withProof, allProofs] = prng.pick([
        [true, false],
        [false, true],
        [false, false],
      ]);
      const input = {
        predicate,
        args: [...args],
        body: null,
        text: null,
        negated: prng.chance(0.4),
        scope: scope.kind === 'scope' ? scope.scope : null,
        unscoped: scope.kind === 'unscoped',
        withProof,
        allProofs,
        offset: prng.below(3),
        limit: prng.pick([null, 1, 2, 9]),
        timeoutMs: 1e9,
        maxDerivations: 1e9,
      };
      const reasoner = new Reasoner(store, program, new Map(), () => Promise.resolve(), memory);
      const reader = reasoner.reader(generations + prng.below(2), prng.below(20));
      const body = bodyOf(input);
      const few = askByPointLookup({ database, tenant, reader }, input, body);
      const listings = new ListingCache(0);
      const tokens = shippedTokens;
      const pacer = reasoner.pacer(limits);
      const context = {
        database,
        tenant,
        reasoner,
        reader,
        pacer,
        listings,
        meaning: null,
        tokens,
        elsewhere: null,
      };
      const whole = await ask(context, input, body);
      const kinds = whole.answer.proof?.steps.map(({ kind }) => kind) ?? [];
      if (few === null) {
        if (kinds.includes('rule')) asked.concluded++;
        continue;
      }
      const told = (answer: object): string => JSON.stringify({ ...answer, elapsedMs: 0 });
      expect(told(few.result)).toBe(told(whole.answer));
      const ids = [...few.facts].map((fact) => store.idOf(fact));
      expect(ids.sort()).toEqual([...whole.used].map((fact) => store.idOf(fact)).sort());
      asked.at++;
      if (kinds.length > 0) asked.withSteps++;
    }
  });
  expect(Math.min(asked.at, asked.withSteps, asked.concluded)).toBeGreaterThan(0);
});
