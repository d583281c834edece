import { expect, test } from 'vitest';
import type { Literal } from '../../contract/language.ts';
import { FactStore, type FactToStore } from '../../store/fact-store.ts';
import { RuleStore } from '../../store/rule-store.ts';
import { ArgumentNames } from '../../language/argument-names.ts';
import { renderBody } from '../../language/print.ts';
import { relationKey } from '../../language/terms.ts';
import { changeRules } from '../../state/apply-rules.ts';
import {
  applyUpdate,
  type Flavour,
  plainFlavour,
  presentRules,
  randomBody,
  randomCase,
  randomUpdate,
  richFlavour,
  startCase,
} from '../../testing/generators.ts';
import {
  type Knowledge,
  modelOf,
  type ModelFact,
  type ModelRule,
  type ModelView,
} from '../../testing/naive-model.ts';
import { Prng } from '../../testing/prng.ts';
import { overSeeds } from '../../testing/twin.ts';
import { FactOverlay } from '../model/fact-overlay.ts';
import { MemoryBudget } from '../model/memory-budget.ts';
import { Program } from '../model/program.ts';
import { Reasoner } from './reasoner.ts';
import {
  AtomSet,
  boundByAtoms,
  type ComparedState,
  type ConstantTuple,
  type Denial,
  ViewDelta,
} from './view-delta.ts';

/** What denials gain and lose between two random states, against the naive models of both. */

const flavours: Record<string, Flavour> = {
  plain: plainFlavour,
  absence: { ...plainFlavour, defaultNegation: true, negation: true },
  numbers: { ...plainFlavour, arithmetic: true, comparisons: true, aggregates: true },
  scopes: { ...plainFlavour, scopes: true, negation: true },
  rich: richFlavour,
};

const limits = { timeoutMs: 600_000, maxDerivations: 1e9, signal: new AbortController().signal };

function toStore({ validFrom, validUntil, ...fact }: ModelFact): FactToStore {
  return { ...fact, validFrom: validFrom ?? 'always', validUntil: validUntil ?? 'never' };
}

function programOf(rules: readonly ModelRule[]): Program {
  const store = new RuleStore();
  for (const [index, { rule, scope, enabled }] of rules.entries())
    if (enabled)
      changeRules(
        store,
        { kind: 'teach', rule: { rule, scope, name: null, description: null, enabled } },
        { id: `r${index}`, time: 0, generation: 1 },
      );
  return new Program(store.all());
}

function instances({ body, variables }: Denial, knowledge: Knowledge, view: ModelView): Set<string> {
  const found = modelOf(knowledge, view).answers(body);
  return new Set(
    found.map(({ bindings }) => JSON.stringify(variables.map((variable) => bindings[variable.slice(1)]))),
  );
}

function keys(tuples: readonly ConstantTuple[]): string[] {
  return tuples.map((tuple) => JSON.stringify(tuple)).sort();
}

function missing(one: Set<string>, other: Set<string>): string[] {
  return [...one].filter((each) => !other.has(each)).sort();
}

function denialOf(body: readonly Literal[]): Denial {
  return { body, variables: [...boundByAtoms(body)] };
}

async function compareWithModels(flavour: Flavour, seed: number): Promise<void> {
  const prng = new Prng(seed);
  const start = randomCase(prng, flavour);
  const { vocabulary } = start;
  const current = startCase(start);
  const store = new FactStore(0);
  for (const fact of current.facts.values()) store.store(toStore(fact), 1, 0);
  const was: Knowledge = {
    facts: [...current.facts.values()],
    rules: presentRules(current),
    time: current.time,
  };
  const touched: ModelFact[] = [];
  const next = { ...current, facts: new Map(current.facts), rules: [...current.rules] };
  for (let index = prng.below(4); index >= 0; index--) {
    const update = randomUpdate(prng, vocabulary, flavour, next);
    if (update.kind === 'assert' || update.kind === 'retract') touched.push(update.fact);
    if (update.kind === 'time') touched.push(...next.facts.values());
    applyUpdate(next, update);
  }
  const now: Knowledge = { facts: [...next.facts.values()], rules: presentRules(next), time: next.time };
  const before = programOf(was.rules);
  const after = JSON.stringify(was.rules) === JSON.stringify(now.rules) ? before : programOf(now.rules);
  const reasoner = new Reasoner(store, before, new Map(), () => Promise.resolve(), new MemoryBudget(1e9));
  const stateOf = (program: Program, time: number, facts: readonly ModelFact[] | null): ComparedState => {
    const overlay = new FactOverlay({ facts: store, generation: 1, time, overlay: null });
    for (const text of program.constants) overlay.constants.idOf(text);
    if (facts !== null) {
      for (const { predicate, args, truthVal, scope } of was.facts) {
        const where = scope === null ? { kind: 'unscoped' as const } : { kind: 'scope' as const, scope };
        for (const _ of overlay.retract({ predicate, args, truthVal, scope: where }));
      }
      for (const fact of facts) overlay.store(toStore(fact));
    }
    const reader = { facts: store, generation: 1, time, overlay };
    return {
      reader,
      program,
      set: reasoner.tablesOver({ ...reader, program, names: new ArgumentNames([]), version: -1 }),
    };
  };
  const views: ModelView[] = [{ kind: 'unscoped' }];
  for (const scope of vocabulary.scopes) views.push({ kind: 'scope', scope });
  const denials = Array.from({ length: 3 }, () => denialOf(randomBody(prng, vocabulary, flavour)));
  for (const view of views) {
    const sets = new Map<string, AtomSet>();
    for (const { predicate, args, truthVal, scope } of touched) {
      if (scope !== (view.kind === 'scope' ? view.scope : null)) continue;
      const key = relationKey(predicate, args.length, !truthVal);
      const of = { predicate, arity: args.length, negated: !truthVal };
      const set = sets.get(key) ?? new AtomSet(of);
      sets.set(key, set);
      set.add(args);
    }
    const delta = new ViewDelta(
      view,
      stateOf(before, was.time, null),
      stateOf(after, now.time, now.facts),
      reasoner.pacer(limits),
    );
    await delta.follow(sets.values(), denials);
    for (const denial of denials) {
      const about = `${renderBody(denial.body)} in ${JSON.stringify(view)}`;
      const [then, later] = [instances(denial, was, view), instances(denial, now, view)];
      const found = await delta.denied(denial);
      expect(keys(found.gained), `gained of ${about}`).toEqual(missing(later, then));
      expect(keys(found.lost), `lost of ${about}`).toEqual(missing(then, later));
      expect(keys(await delta.deniedIn('after', denial)), `all of ${about}`).toEqual([...later].sort());
    }
  }
}

const timeout = 3_600_000;

for (const [name, flavour] of Object.entries(flavours))
  test(`finds what denials gain and lose (${name})`, { timeout }, () =>
    overSeeds({ name: `view delta ${name}`, few: 30, many: 3000 }, (seed) =>
      compareWithModels(flavour, seed),
    ),
  );
