import { AliasStore } from '../store/alias-store.ts';
import { expect, test } from 'vitest';
import { ask } from './ask.ts';
import { Prng } from '../testing/prng.ts';
import { compareText } from '../base/text-order.ts';
import type { ReadContext } from '../session/read-context.ts';
import { consequencesOf } from '../session/consequences.ts';
import { FactUses } from '../store/fact-uses.ts';
import { askInputSchema } from '../contract/inference.ts';
import { FactStore, type FactToStore } from '../store/fact-store.ts';
import { ListingCache } from '../session/caches.ts';
import { shippedTokens } from '../log/shipped-tokens.ts';
import { renderAtom } from '../language/print.ts';
import { relationOf } from '../language/terms.ts';
import { MemoryBudget } from '../datalog/model/memory-budget.ts';
import { Program } from '../datalog/model/program.ts';
import { viewKey } from '../datalog/model/reader.ts';
import { Reasoner } from '../datalog/maintain/reasoner.ts';
import { changeRules } from '../state/apply-rules.ts';
import { DatabaseState } from '../state/state.ts';
import type { SupposedOperation } from './suppose.ts';
import {
  applyUpdate,
  type CurrentCase,
  type Flavour,
  plainFlavour,
  presentRules,
  type RandomCase,
  randomCase,
  randomQuestion,
  type RandomUpdate,
  randomUpdate,
  randomView,
  richFlavour,
  startCase,
} from '../testing/generators.ts';
import { type Knowledge, modelOf, type ModelFact, type ModelView } from '../testing/naive-model.ts';
import { suppose } from '../testing/supposed.ts';
import { overSeeds, viewFields } from '../testing/twin.ts';

/** Gained and lost conclusions, against the naive models of the state before and the state after. */

const flavours: Record<string, Flavour> = {
  plain: plainFlavour,
  absence: { ...plainFlavour, defaultNegation: true, negation: true },
  numbers: { ...plainFlavour, arithmetic: true, comparisons: true, aggregates: true },
  scopes: { ...plainFlavour, scopes: true, negation: true },
  rich: { ...richFlavour, validity: false },
};

const tenant = 'tenant';
const limits = { timeoutMs: 600_000, maxDerivations: 1e9, signal: new AbortController().signal };

function toStore({ validFrom, validUntil, ...fact }: ModelFact): FactToStore {
  return { ...fact, validFrom: validFrom ?? 'always', validUntil: validUntil ?? 'never' };
}

function knowledgeOf(current: CurrentCase): Knowledge {
  return { facts: [...current.facts.values()], rules: presentRules(current), time: current.time };
}

/** A state to which changes of facts are written. */
class Written {
  readonly current: CurrentCase;
  readonly ids = new Map<object, string>();
  readonly #database = new DatabaseState('default', 0);
  readonly #store = new FactStore(0);
  readonly #reasoner: Reasoner;
  #generation = 0;

  constructor(start: RandomCase) {
    this.current = startCase(start);
    this.#generation = this.#database.advance(0, 'request');
    for (const [index, { rule, scope, enabled }] of start.rules.entries()) {
      const id = `r${index}`;
      const kept = { rule, scope, name: null, description: null, enabled };
      const status = changeRules(
        this.#database.rules,
        { kind: 'teach', rule: kept },
        { id, time: 0, generation: this.#database.lastGeneration },
      );
      // A rule taught twice is stored once.
      if (status.after.id === id) this.ids.set(rule, id);
      else this.current.rules[index] = null;
    }
    for (const fact of this.current.facts.values()) this.#store.store(toStore(fact), this.#generation, 0);
    const program = new Program(this.#database.rules.all());
    const pause = (): Promise<void> => Promise.resolve();
    this.#reasoner = new Reasoner(this.#store, program, new Map(), pause, new MemoryBudget(1e9));
    this.#reasoner.readers++;
  }

  /** Of the current state, or of that of a generation. */
  context(generation = this.#generation): ReadContext {
    return {
      database: this.#database,
      tenant: {
        facts: this.#store,
        uses: new FactUses(this.#store),
        aliases: new AliasStore(),
        packages: new Map(),
      },
      reasoner: this.#reasoner,
      reader: this.#reasoner.reader(generation, 0),
      pacer: this.#reasoner.pacer(limits),
      listings: new ListingCache(0),
      meaning: null,
      tokens: shippedTokens,
      elsewhere: null,
    };
  }

  write(update: RandomUpdate): void {
    if (update.kind !== 'assert' && update.kind !== 'retract') return;
    applyUpdate(this.current, update);
    const { predicate, args, truthVal, scope } = update.fact;
    const generation = this.#generation + 1;
    let changed = this.#store.find(predicate, args, truthVal, scope);
    if (update.kind === 'assert') {
      const stored = this.#store.store(toStore(update.fact), generation, 0);
      if (stored.status === 'unchanged') return;
      changed = stored;
    } else if (changed === null || !this.#store.isStored(changed, 0)) return;
    else this.#store.retract(changed, generation);
    this.#generation = this.#database.advance(0, 'request');
    this.#reasoner.touched([changed.relation.number[changed.row] as number], this.#generation);
  }

  /** The number of cached conclusions, and how often rules concluded something. */
  get known() {
    const { conclusions, bytes, tallies } = this.#reasoner;
    return { conclusions, bytes, fired: [...tallies].map(([rule, { fired }]) => [rule, fired]) };
  }

  operation(update: RandomUpdate): SupposedOperation | null {
    if (update.kind === 'assert') return { kind: 'assert', tenant, facts: [toStore(update.fact)] };
    if (update.kind === 'removeRule') {
      const id = this.ids.get(this.current.rules[update.index]?.rule as object);
      return id === undefined ? null : { kind: 'forgetRule', id };
    }
    if (update.kind !== 'retract') return null;
    const { predicate, args, truthVal, scope } = update.fact;
    const where = scope === null ? { kind: 'unscoped' as const } : { kind: 'scope' as const, scope };
    return { kind: 'retract', tenant, pattern: { predicate, args, truthVal, scope: where } };
  }

  async ask(prng: Prng, { vocabulary }: RandomCase, flavour: Flavour): Promise<void> {
    const view: ModelView = flavour.scopes ? randomView(prng, vocabulary) : { kind: 'all' };
    const body = [{ ...randomQuestion(prng, vocabulary, flavour), naf: false }];
    const input = askInputSchema.parse({ body, ...viewFields(view), withProof: prng.chance(0.3) });
    await ask(this.context(), input, body);
    // It answers before unneeded tables are maintained; until then they know more.
    for (
      let next = this.#reasoner.maintenanceFor(null);
      next !== null;
      next = this.#reasoner.maintenanceFor(null)
    )
      await next.done;
  }
}

/** By rendered atom, the atoms true in a view and not stored there. */
function conclusionsIn({ facts, ...knowledge }: Knowledge, view: ModelView): Set<string> {
  const atoms = new Set(modelOf({ facts, ...knowledge }, view).heights.keys());
  for (const { predicate, args, truthVal, scope } of facts)
    if (view.kind === 'all' || scope === (view.kind === 'scope' ? view.scope : null))
      atoms.delete(renderAtom({ predicate, args: [...args], negated: !truthVal }));
  return atoms;
}

/** Conclusions of each kind that are listed. */
const maxFirst = 3;

/** The conclusions of the one state that are not true in the other, each once. */
function missing(one: Knowledge, other: Knowledge, views: readonly ModelView[]): string[] {
  const found = new Set<string>();
  for (const view of views) {
    const left = modelOf(other, view).heights;
    for (const atom of conclusionsIn(one, view)) if (!left.has(atom)) found.add(atom);
  }
  return [...found].sort(compareText);
}

function expected(before: Knowledge, after: Knowledge, views: readonly ModelView[]) {
  const lostAtoms = missing(before, after, views);
  const gainedAtoms = missing(after, before, views);
  return {
    gained: gainedAtoms.length,
    lost: lostAtoms.length,
    lostAtoms,
    first: { gained: gainedAtoms.slice(0, maxFirst), lost: lostAtoms.slice(0, maxFirst) },
    notWorkedOut: [],
  };
}

async function compareWithModels(flavour: Flavour, seed: number): Promise<void> {
  const prng = new Prng(seed);
  const start = randomCase(prng, { ...flavour, disabledRules: false });
  const written = new Written(start);
  const { vocabulary } = start;
  for (let round = 0; round < 5; round++) {
    for (let index = 0; index < 3; index++) await written.ask(prng, start, flavour);
    const before = written.context();
    const was = knowledgeOf(written.current);
    const known = written.known;
    const next: CurrentCase = {
      facts: new Map(written.current.facts),
      rules: [...written.current.rules],
      time: written.current.time,
    };
    const operations: SupposedOperation[] = [];
    for (let index = prng.below(4); index >= 0; index--) {
      const update = randomUpdate(prng, vocabulary, flavour, next);
      const operation = written.operation(update);
      if (operation === null) continue;
      operations.push(operation);
      applyUpdate(next, update);
    }
    const { context, touched } = await suppose(before, operations);
    const views = randomViews(prng, vocabulary, flavour);
    const about = JSON.stringify({ operations, views });
    const states = { before, after: context, relations: touched.keys(), views, listsLost: true, maxFirst };
    expect(await consequencesOf(states, limits), about).toEqual(expected(was, knowledgeOf(next), views));
    expect(written.known, 'it makes nothing known').toEqual(known);
    // The same for a change that was made.
    const touchedNow = new Set<string>();
    for (let index = prng.below(3); index >= 0; index--) {
      const update = randomUpdate(prng, vocabulary, flavour, written.current);
      if (update.kind !== 'assert' && update.kind !== 'retract') continue;
      written.write(update);
      const { predicate, args, truthVal } = update.fact;
      touchedNow.add(relationOf({ predicate, args: [...args], negated: !truthVal }));
    }
    const after = written.context();
    const made = { before, after, relations: touchedNow, views, listsLost: true, maxFirst };
    expect(await consequencesOf(made, limits)).toEqual(expected(was, knowledgeOf(written.current), views));
  }
}

function randomViews(prng: Prng, vocabulary: RandomCase['vocabulary'], flavour: Flavour): ModelView[] {
  if (!flavour.scopes) return [{ kind: 'all' }];
  const views = new Map<string, ModelView>();
  for (let index = prng.below(3); index >= 0; index--) {
    const view = randomView(prng, vocabulary);
    views.set(viewKey(view), view);
  }
  return [...views.values()];
}

const timeout = 3_600_000;

for (const [name, flavour] of Object.entries(flavours))
  test(`returns the gained and lost conclusions of the models (${name})`, { timeout }, () =>
    overSeeds({ name: `consequences ${name}`, few: 4, many: 3000 }, (seed) =>
      compareWithModels(flavour, seed),
    ),
  );
