import type { Rule } from '../contract/language.ts';
import { present } from '../base/assert.ts';
import { runInSlices } from '../base/slices.ts';
import { type FactBlock, framesOf } from '../store/fact-block.ts';
import type { FactIdentity, FactRow, FactStore, FactToStore } from '../store/fact-store.ts';
import type { ConstraintRecord } from '../store/constraint-store.ts';
import { TestStore } from '../store/test-store.ts';
import { DeclarationStore } from '../store/declaration-store.ts';
import type { RuleRecord } from '../store/rule-store.ts';
import { relationKey, relationOf } from '../language/terms.ts';
import { AtomSet } from '../datalog/maintain/view-delta.ts';
import { FactOverlay } from '../datalog/model/fact-overlay.ts';
import { Program } from '../datalog/model/program.ts';
import type { PinnedReader } from '../datalog/maintain/reasoner.ts';
import { aliveOf, importedFacts, storedOf, summariesOf } from '../state/apply-facts.ts';
import { changeRules } from '../state/apply-rules.ts';
import { collected, rulesOfScope } from '../state/apply-scopes.ts';
import { changeShape, declarationsAfter } from '../state/apply-shape.ts';
import { StrictKeys } from '../state/key-rule.ts';
import { supersedeInOverlay } from './supersede-in-overlay.ts';
import { baseOfMerge, type MergePlan, planMerge } from '../state/merge-plan.ts';
import type { Operation, RuleOperation, ShapeOperation } from '../state/operation.ts';
import { factsOfScope, type ReadMoment } from '../state/scope-join.ts';
import type { DatabaseState, TenantState } from '../state/state.ts';
import type { ReadContext } from './read-context.ts';

/** The operations that constraints can refuse. The others are never refused: sweeps, forks, administration. */
export type JudgedOperation = Extract<
  Operation,
  {
    kind:
      | 'assert'
      | 'retract'
      | 'retractById'
      | 'undoImport'
      | 'commit'
      | 'mergeScopes'
      | 'deleteScope'
      | 'consolidate'
      | 'restore'
      | RuleOperation['kind']
      | 'addConstraint'
      | 'updateConstraint'
      | 'deleteConstraint';
  }
>;

const judgedKinds: ReadonlySet<Operation['kind']> = new Set([
  'assert',
  'retract',
  'retractById',
  'undoImport',
  'commit',
  'mergeScopes',
  'deleteScope',
  'consolidate',
  'restore',
  'teach',
  'updateRule',
  'forgetRule',
  'addConstraint',
  'updateConstraint',
  'deleteConstraint',
] satisfies JudgedOperation['kind'][]);

/** True if constraints can refuse the operation. */
export function isJudged(operation: Operation): operation is JudgedOperation {
  return judgedKinds.has(operation.kind);
}

/** By scope (null: the facts without scope), then by relation: the stored atoms that a change adds or removes. */
export class TouchedAtoms {
  readonly scopes = new Map<string | null, Map<string, AtomSet>>();

  /** Notes a scope that may begin to exist. */
  addScope(scope: string | null): Map<string, AtomSet> {
    let relations = this.scopes.get(scope);
    if (relations === undefined) this.scopes.set(scope, (relations = new Map()));
    return relations;
  }

  add({
    predicate,
    args,
    truthVal,
    scope,
  }: Pick<FactToStore, 'predicate' | 'args' | 'truthVal' | 'scope'>): void {
    const relations = this.addScope(scope);
    const key = relationKey(predicate, args.length, !truthVal);
    let atoms = relations.get(key);
    if (atoms === undefined)
      relations.set(key, (atoms = new AtomSet({ predicate, arity: args.length, negated: !truthVal })));
    atoms.add(args);
  }
}

/** The state after a write that has not been made. */
export interface SupposedWrite {
  readonly reader: PinnedReader & { readonly overlay: FactOverlay };
  readonly constraints: readonly ConstraintRecord[];
  readonly rules: readonly RuleRecord[];
  readonly touched: TouchedAtoms;
  readonly hasScope: (scope: string) => Promise<boolean>;
}

const factsBetweenBreaths = 256;

/**
 * What the write would make of the tenant's facts, and of the rules and constraints, at the reader's time. Facts of relations
 * that `isRead` rejects are left out. `context.reader` sees the state right before the write.
 */
export async function supposeWrite(
  context: ReadContext,
  operation: JudgedOperation,
  isRead: (relation: string) => boolean,
): Promise<SupposedWrite> {
  const supposing = new SupposedChange(context, isRead);
  await supposing.add(operation);
  return supposing.made();
}

class SupposedChange {
  readonly #context: ReadContext;
  readonly #isRead: (relation: string) => boolean;
  readonly #overlay: FactOverlay;
  readonly #touched = new TouchedAtoms();
  #program: Program;
  #rules: readonly RuleRecord[];
  #constraints: readonly ConstraintRecord[];
  #deletedScope: string | null = null;
  /** Scopes that get a fact, and the numbers of the facts that others lose. */
  readonly #filled = new Set<string | null>();
  readonly #removed = new Map<string | null, Set<number>>();
  #done = 0;

  constructor(context: ReadContext, isRead: (relation: string) => boolean) {
    this.#context = context;
    this.#isRead = isRead;
    this.#overlay = new FactOverlay(context.reader);
    this.#program = context.reader.program;
    this.#rules = context.database.rules.all();
    this.#constraints = context.database.constraints.all();
  }

  made(): SupposedWrite {
    const reader = {
      ...this.#context.reader,
      overlay: this.#overlay,
      program: this.#program,
      version: -1,
    };
    for (const text of this.#program.constants) this.#overlay.constants.idOf(text);
    const [constraints, rules, touched] = [this.#constraints, this.#rules, this.#touched];
    return { reader, constraints, rules, touched, hasScope: (scope) => this.#hasScope(scope) };
  }

  async #hasScope(scope: string): Promise<boolean> {
    if (this.#filled.has(scope)) return true;
    if (this.#deletedScope === scope) return false;
    const { tenant, reader } = this.#context;
    return this.#inSlices(scopeHasFacts(tenant, scope, reader, this.#removed.get(scope)));
  }

  async add(operation: JudgedOperation): Promise<void> {
    const { tenant, database, reader } = this.#context;
    const { facts } = tenant;
    const { time, generation } = reader;
    switch (operation.kind) {
      case 'assert':
        return this.#storeAll(operation.facts, StrictKeys.of(database.declarations));
      case 'retract':
        return this.#hideAll(facts.match(operation.pattern, generation, time, true));
      case 'retractById': {
        const fact = facts.byId(operation.id);
        return fact === null ? undefined : this.#hideAll([fact]);
      }
      case 'undoImport': {
        const { own } = await this.#inSlices(importedFacts(database, operation, time));
        return this.#hideAll(own);
      }
      case 'commit':
        await this.#hideAll(storedOf(facts, operation, time));
        await this.#storeAll(
          operation.assert,
          operation.isExact === true
            ? null
            : StrictKeys.of(declarationsAfter(database, operation.shape ?? [])),
        );
        this.#changeRules(operation.rules);
        return this.#changeShape(operation.shape ?? []);
      case 'consolidate':
        await this.#hideAll(aliveOf(facts, operation.retract));
        return this.#storeAll(summariesOf(operation));
      case 'restore':
        await this.#hideAll(aliveOf(facts, [operation.summary]));
        return this.#storeAll(operation.facts);
      case 'mergeScopes': {
        const moment = { generation, time };
        const base = baseOfMerge(facts, operation, moment);
        const { retracted, stored } = await this.#inSlices(
          planMerge(facts, operation, base, moment, database.declarations),
        );
        await this.#hideAll(retracted);
        return this.#storeAll(factsInTarget(facts, stored, operation.target));
      }
      case 'deleteScope': {
        const { scope, withRules } = operation;
        this.#deletedScope = scope;
        await this.#hideAll(
          await this.#inSlices(collected(facts, facts.scopeNumber(scope), generation, time)),
        );
        const others = [...database.tenants.values()].filter((each) => each !== tenant);
        if (!withRules || (await this.#inSlices(isHeldByAny(others, scope, { generation, time })))) return;
        this.#changeRules(rulesOfScope(database.rules, scope).map(({ id }) => ({ kind: 'forgetRule', id })));
        return;
      }
      case 'teach':
      case 'updateRule':
      case 'forgetRule':
        return this.#changeRules([operation]);
      case 'addConstraint':
      case 'updateConstraint':
      case 'deleteConstraint':
        return this.#changeShape([operation]);
    }
  }

  /** `keys`: those by which the facts supersede others; null: by none. */
  async #storeAll(stored: Iterable<FactToStore>, keys: StrictKeys | null = null): Promise<void> {
    for (const given of stored) {
      await this.#breathe();
      const fact = keys?.keyOf(given)?.onConflict === 'supersede' ? await this.#keyed(given, keys) : given;
      const { predicate, args, truthVal, scope, validUntil } = fact;
      const hasEnded = typeof validUntil === 'number' && validUntil <= this.#context.reader.time;
      if (!hasEnded) this.#filled.add(scope);
      if (!this.#isRead(relationKey(predicate, args.length, !truthVal))) {
        // An empty view is a view too, if its scope begins to exist.
        if (!hasEnded) this.#touched.addScope(scope);
        continue;
      }
      this.#overlay.store(fact);
      this.#touched.add(fact);
    }
  }

  /** Ends and retracts what the fact supersedes, as `KeyedFacts` does, and returns the fact with its beginning. */
  async #keyed(fact: FactToStore, keys: StrictKeys): Promise<FactToStore> {
    const key = present(keys.keyOf(fact), 'the fact is under a key');
    if (!this.#isRead(relationKey(fact.predicate, fact.args.length, false))) return fact;
    const { facts } = this.#context.tenant;
    const steps = supersedeInOverlay(this.#overlay, facts, fact, key);
    const { fact: begins, superseded } = await this.#inSlices(steps);
    for (const identity of superseded) this.#touched.add(identity);
    return begins;
  }

  async #hideAll(rows: Iterable<FactRow | null>): Promise<void> {
    const { reader, tenant } = this.#context;
    const { facts } = tenant;
    for (const fact of rows) {
      await this.#breathe();
      if (fact === null) continue;
      const { predicate, arity, negated } = fact.relation;
      if (fact.relation.isHeld(fact.row, reader.generation, reader.time)) {
        const scope = facts.scopeOf(fact);
        const removed = this.#removed.get(scope) ?? new Set();
        this.#removed.set(scope, removed.add(fact.relation.number[fact.row] as number));
      }
      if (!this.#isRead(relationKey(predicate, arity, negated))) continue;
      this.#overlay.hideStored(fact);
      this.#touched.add(facts.identityOf(fact));
    }
  }

  #changeRules(operations: readonly RuleOperation[]): void {
    if (operations.length === 0) return;
    const { database, reader } = this.#context;
    const rules = database.rules.copy();
    const origin = { time: reader.time, generation: reader.generation + 1 };
    for (const [at, operation] of operations.entries())
      changeRules(rules, operation, { ...origin, id: `supposed-${at}` });
    this.#rules = rules.all();
    this.#program = new Program(this.#rules);
  }

  #changeShape(operations: readonly ShapeOperation[]): void {
    const concerned = operations.filter(({ kind }) => kind.endsWith('Constraint'));
    if (concerned.length === 0) return;
    const { time, generation } = this.#context.reader;
    const constraints = this.#context.database.constraints.copy();
    const shape = { constraints, declarations: new DeclarationStore(), tests: new TestStore() };
    changeShape(shape, null, concerned, { time, generation: generation + 1 });
    this.#constraints = constraints.all();
  }

  #inSlices<Result>(steps: Generator<'more', Result, undefined>): Promise<Result> {
    return runInSlices(steps, () => this.#context.pacer.breathe());
  }

  async #breathe(): Promise<void> {
    if (++this.#done % factsBetweenBreaths === 0) await this.#context.pacer.breathe();
  }
}

/** True if one of the tenants has a fact in the scope. */
function* isHeldByAny(
  tenants: readonly Pick<TenantState, 'facts'>[],
  scope: string,
  { generation, time }: ReadMoment,
): Generator<'more', boolean, undefined> {
  for (const { facts } of tenants) {
    const number = facts.scopeNumber(scope);
    if (number < 0) continue;
    for (const found of factsOfScope(facts, number, generation, time)) {
      if (found !== 'more') return true;
      yield found;
    }
  }
  return false;
}

const noNumbers: ReadonlySet<number> = new Set();

/** True if the scope has a fact of the tenant besides those with these numbers, or was forked and not deleted. */
export function* scopeHasFacts(
  { facts }: Pick<TenantState, 'facts'>,
  scope: string,
  moment: ReadMoment,
  besides: ReadonlySet<number> = noNumbers,
): Generator<'more', boolean, undefined> {
  const number = facts.scopeNumber(scope);
  const record = number < 0 ? null : facts.scopes.get(number);
  if (record === null) return false;
  if (record.isForked) return true;
  if (facts.scopes.isSettledThrough(moment.time)) return record.held > besides.size;
  for (const found of factsOfScope(facts, number, moment.generation, moment.time))
    if (found === 'more') yield found;
    else if (!besides.has(found.relation.number[found.row] as number)) return true;
  return false;
}

/** The relations that an operation may change, of facts and by rules; null: any. */
export function relationsChangedBy(
  operation: JudgedOperation,
  { rules }: Pick<DatabaseState, 'rules'>,
  facts: FactStore | null,
): Set<string> | null {
  const found = new Set<string>();
  const addRule = (rule: Rule | null | undefined): void => {
    if (rule !== null && rule !== undefined) found.add(relationOf(rule.head));
  };
  switch (operation.kind) {
    case 'assert':
      for (const { predicate, arity, truthVal } of framesOf(operation.facts))
        found.add(relationKey(predicate, arity, !truthVal));
      return found;
    case 'retract': {
      const { predicate, args, truthVal } = operation.pattern;
      for (const truth of truthVal === null ? [true, false] : [truthVal])
        found.add(relationKey(predicate, args.length, !truth));
      return found;
    }
    case 'retractById': {
      const fact = facts?.byId(operation.id) ?? null;
      if (fact === null) return found;
      const { predicate, arity, negated } = fact.relation;
      return found.add(relationKey(predicate, arity, negated));
    }
    case 'commit': {
      if (operation.shape?.some(({ kind }) => kind.endsWith('Constraint')) === true) return null;
      addRelations(operation.assert, found);
      addRelations(operation.retract, found);
      for (const each of operation.rules) {
        if (each.kind !== 'teach') addRule(rules.get(each.id)?.rule);
        if (each.kind !== 'forgetRule') addRule(each.rule.rule);
      }
      return found;
    }
    case 'teach':
      addRule(operation.rule.rule);
      return found;
    case 'updateRule':
      addRule(rules.get(operation.id)?.rule);
      addRule(operation.rule.rule);
      return found;
    case 'forgetRule':
      addRule(rules.get(operation.id)?.rule);
      return found;
    default:
      return null;
  }
}

/** Adds the relations of the facts; facts of one relation mostly follow one another. */
function addRelations(facts: readonly FactIdentity[] | FactBlock, into: Set<string>): void {
  let last = { predicate: '', arity: -1, truthVal: true };
  for (const { predicate, arity, truthVal } of framesOf(facts)) {
    if (last.predicate === predicate && last.arity === arity && last.truthVal === truthVal) continue;
    last = { predicate, arity, truthVal };
    into.add(relationKey(predicate, arity, !truthVal));
  }
}

/** What a merge stores in the target. */
function* factsInTarget(
  facts: TenantState['facts'],
  stored: MergePlan['stored'],
  target: string | null,
): Generator<FactToStore> {
  for (const { fact, version } of stored) {
    const { from, until, metadata } = version;
    yield {
      ...facts.identityOf(fact),
      scope: target,
      validFrom: Number.isFinite(from) ? from : 'always',
      validUntil: Number.isFinite(until) ? until : 'never',
      metadata: metadata ?? {},
    };
  }
}
