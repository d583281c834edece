import { EngineError } from '../base/errors.ts';
import { compareText } from '../base/text-order.ts';
import { type Declaration, shownDeclaration } from '../contract/declarations.ts';
import type { FactDetail, PredicateList } from '../contract/facts.ts';
import { type ReadContext, storedFact, visibleIn } from '../session/read-context.ts';
import type { FactRow, ScopeChoice } from '../store/fact-store.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import { renderAtom } from '../language/print.ts';
import { relationKey } from '../language/terms.ts';
import type { RelationCount } from '../datalog/maintain/reasoner.ts';
import { type Reader, sees } from '../datalog/model/reader.ts';

/** The details of one fact, and the vocabulary of a tenant. */

/** The stored fact with this id. Throws FactNotFound if the tenant does not have it, or no longer. */
export function requireFact(context: ReadContext, id: string): FactRow {
  const { tenant, reader } = context;
  const newest = tenant.facts.byId(id);
  const fact = newest === null ? null : tenant.facts.heldAt(newest, reader.generation, reader.time);
  if (fact === null) throw noSuchFact(id);
  return fact;
}

/** The FactNotFound error for an id. */
export function noSuchFact(id: string): EngineError {
  return new EngineError(
    'FactNotFound',
    `there is no fact ${id} here: it may have been retracted, or belong to another tenant`,
  );
}

const maxHistory = 10;

/** A stored fact with its known dependents, salience breakdown and latest changes. */
export async function factDetail(context: ReadContext, fact: FactRow): Promise<FactDetail> {
  const { database, tenant, reader } = context;
  const stored = storedFact(context, fact);
  const asserted = tenant.facts.assertedIn(fact);
  const updates = tenant.facts
    .changesOf(fact)
    .filter((generation) => generation <= reader.generation)
    .map((generation) => ({ generation, change: 'updated' as const }));
  const changes = [{ generation: asserted, change: 'asserted' as const }, ...updates].slice(-maxHistory);
  return {
    ...stored,
    dependents: await dependentsOf(context, fact),
    salienceBreakdown: tenant.uses.salience(fact, stored.createdAt, reader.time),
    history: changes.map(({ generation, change }) => ({
      time: database.timeOf(generation),
      generation,
      requestId: database.requestOf(generation),
      change,
    })),
  };
}

/** Known conclusions whose current proof needs the fact. */
async function dependentsOf(context: ReadContext, fact: FactRow): Promise<string[]> {
  const { reasoner, reader, pacer, elsewhere } = context;
  const here = await reasoner.provedWith(fact, reader, pacer);
  const there = (await elsewhere?.dependentsOf(context, fact)) ?? [];
  return there.length === 0 ? here : [...new Set([...here, ...there])].sort(compareText);
}

/** The numbers of conclusions in the view, for each relation that rules conclude there, as far as they are known. */
export async function conclusionCounts(
  context: ReadContext,
  view: ScopeChoice = { kind: 'all' },
): Promise<RelationCount[]> {
  const { reasoner, reader, pacer, elsewhere } = context;
  const here = await reasoner.conclusionCounts(reader, pacer, view);
  if (elsewhere === null || here.every(({ isComplete }) => isComplete)) return here;
  const there = new Map<string, RelationCount>();
  for (const each of await elsewhere.counts(context, view)) there.set(keyOf(each), each);
  return here.map((each) => {
    const other = there.get(keyOf(each));
    if (other === undefined || each.isComplete) return each;
    // Both are lower bounds, unless that one is complete.
    return other.isComplete || other.count > each.count ? other : each;
  });
}

function keyOf({ of: { predicate, arity, negated } }: RelationCount): string {
  return relationKey(predicate, arity, negated);
}

interface Row {
  name: string;
  arity: number;
  facts: number;
  derived: number;
  derivedComplete: boolean;
  rules: number;
  scopes: Set<string | null>;
  example: string | null;
  declaration: Declaration | null;
}

/** Every predicate and arity with its facts, known conclusions, rules, scopes and an example, by name and arity. */
export async function listPredicates(context: ReadContext): Promise<PredicateList> {
  const { database, tenant, reader, pacer } = context;
  const rows = new Map<string, Row>();
  const rowOf = (name: string, arity: number): Row => {
    const key = relationKey(name, arity, false);
    let row = rows.get(key);
    if (row === undefined) {
      const counts = { facts: 0, derived: 0, derivedComplete: true, rules: 0 };
      rows.set(key, (row = { name, arity, ...counts, scopes: new Set(), example: null, declaration: null }));
    }
    return row;
  };
  for (const relation of tenant.facts.relations.values()) {
    const whole = wholeCount(relation, reader);
    let row: Row | null = null;
    let scope = -1;
    for (let at = 0; at < relation.count; at++) {
      if ((at & 0x3fff) === 0x3fff) await pacer.breathe();
      if (!sees(reader, relation, at)) continue;
      row ??= rowOf(relation.predicate, relation.arity);
      row.facts += whole ?? 1;
      const scopeOfRow = (relation.columns[relation.arity] as Int32Array)[at] as number;
      if (scopeOfRow !== scope) row.scopes.add(tenant.facts.scopeNames[scopeOfRow] ?? null);
      scope = scopeOfRow;
      row.example ??= exampleOf(relation, at, context);
      if (whole !== null) break;
    }
  }
  for (const declaration of database.declarations.all())
    rowOf(declaration.name, declaration.arity).declaration = shownDeclaration(declaration);
  for (const record of database.rules.all()) {
    const { head } = record.rule;
    const row = rowOf(head.predicate, head.args.length);
    row.rules++;
    row.scopes.add(record.scope);
  }
  for (const { of, count, example, isComplete } of await conclusionCounts(context)) {
    const row = rowOf(of.predicate, of.arity);
    row.derived += count;
    row.derivedComplete &&= isComplete;
    row.example ??= example;
  }
  const predicates = [...rows.values()]
    .sort((left, right) => compareText(left.name, right.name) || left.arity - right.arity)
    .map(({ declaration, ...row }) => ({
      ...row,
      ...(declaration === null ? {} : { declaration }),
      scopes: [...row.scopes].sort((a, b) => compareText(a ?? '', b ?? '')),
    }));
  const constraints = database.constraints
    .all()
    .map(({ id, name, text, mode, scope }) => ({ id, name, constraint: text, mode, scope }));
  return { predicates, ...(constraints.length === 0 ? {} : { constraints }) };
}

/**
 * The number of visible facts of a relation if it is known without scanning: all live facts are visible and in one
 * scope. Else null.
 */
function wholeCount(relation: StoredRelation, reader: Reader): number | null {
  if (relation.spansScopes || relation.validFrom !== null || relation.validUntil !== null) return null;
  if (reader.overlay?.hidden.has(relation) === true) return null;
  return relation.liveIn(reader.generation);
}

function exampleOf(relation: StoredRelation, row: number, { tenant }: ReadContext): string {
  const { predicate, negated } = relation;
  return renderAtom({ predicate, args: tenant.facts.argsOf({ relation, row }), negated });
}

/** The number of visible facts of each relation that has any in the view. */
export async function countsByRelation(
  context: ReadContext,
  view: ScopeChoice,
): Promise<Map<StoredRelation, number>> {
  const { tenant, reader, pacer } = context;
  const isVisible = visibleIn(context, view);
  const counts = new Map<StoredRelation, number>();
  for (const relation of tenant.facts.relations.values()) {
    const whole = view.kind === 'all' ? wholeCount(relation, reader) : null;
    let count = whole ?? 0;
    const rows = whole === null ? relation.rowsAt(reader.generation) : 0;
    for (let row = 0; row < rows; row++) {
      if ((row & 0xfff) === 0xfff) await pacer.breathe();
      if (isVisible(relation, row)) count++;
    }
    if (count > 0) counts.set(relation, count);
  }
  return counts;
}

type Entry = { -readonly [Key in keyof VocabularyEntry]: VocabularyEntry[Key] };

/**
 * The relations with facts or rules in the view: most facts first, then most rules, then by name, arity and truth
 * value.
 */
export async function vocabularyOf(context: ReadContext, view: ScopeChoice): Promise<VocabularyEntry[]> {
  const { database, tenant, reader, pacer } = context;
  const isVisible = visibleIn(context, view);
  const entries = new Map<string, Entry>();
  const entryOf = (predicate: string, arity: number, negated: boolean): Entry => {
    const key = relationKey(predicate, arity, negated);
    let entry = entries.get(key);
    if (entry === undefined)
      entries.set(key, (entry = { predicate, arity, negated, facts: 0, rules: 0, example: null }));
    return entry;
  };
  for (const relation of tenant.facts.relations.values()) {
    const { predicate, arity, negated } = relation;
    const count = relation.rowsAt(reader.generation);
    let entry: Entry | null = null;
    for (let row = 0; row < count; row++) {
      if ((row & 0xfff) === 0xfff) await pacer.breathe();
      if (!isVisible(relation, row)) continue;
      entry ??= entryOf(predicate, arity, negated);
      entry.facts++;
      entry.example ??= renderAtom({ predicate, args: tenant.facts.argsOf({ relation, row }), negated });
    }
  }
  for (const { rule, scope, enabled } of database.rules.all())
    if (
      enabled &&
      (scope === null || view.kind === 'all' || (view.kind === 'scope' && view.scope === scope))
    ) {
      const { predicate, args, negated } = rule.head;
      entryOf(predicate, args.length, negated).rules++;
    }
  return [...entries.values()].sort(
    (a, b) =>
      b.facts - a.facts ||
      b.rules - a.rules ||
      compareText(a.predicate, b.predicate) ||
      a.arity - b.arity ||
      Number(a.negated) - Number(b.negated),
  );
}

/** A relation that has facts in a view, or that a rule concludes there. */
export interface VocabularyEntry {
  readonly predicate: string;
  readonly arity: number;
  readonly negated: boolean;
  /** Number of visible stored facts in the view. */
  readonly facts: number;
  /** Number of enabled rules that conclude it in the view. */
  readonly rules: number;
  /** One fact, rendered; null if none is stored. */
  readonly example: string | null;
}
