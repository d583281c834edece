/** What one write changed, net: from a report of `apply`, right after it was applied. */
import type { Actor, ChangeKindOfHistory, ChangeList, LifeBound } from '../contract/history.ts';
import { maxChangesListed } from '../contract/history.ts';
import { renderConstant, renderIdentity } from '../language/print.ts';
import type { LogRecord } from '../log/codec.ts';
import type { ShapeChange } from '../state/apply-shape.ts';
import type { FactChange, Report, RuleChange } from '../state/report.ts';
import { type FactRow, type FactStore } from '../store/fact-store.ts';
import { areAlike } from '../store/fact-to-store.ts';

/** The effect of a write on one fact. */
export interface FactEffect {
  readonly kind: ChangeKindOfHistory;
  /** Its version before the write; null: it was added. */
  readonly before: FactRow | null;
  /** Its version after the write; null: it was removed. */
  readonly after: FactRow | null;
}

/**
 * The effects on facts, net: a fact that the write asserted and retracted has none, and one that it retracted and asserted
 * again was changed, if its validity or metadata differ.
 */
export function* factEffects({ database, tenant, changes }: Report): Generator<FactEffect> {
  const facts = database.tenants.get(tenant ?? '')?.facts;
  if (facts === undefined) return;
  const isMixed = changes.countOf('fact.asserted') > 0 && changes.countOf('fact.asserted') < changes.length;
  // Facts that were removed, by identity: they may have been asserted again under a new id.
  const removed = new Map<string, FactRow>();
  if (isMixed)
    for (const change of changes) {
      const before = removedRow(facts, change, database.lastGeneration);
      if (before !== null) removed.set(keyOf(before), before);
    }
  for (const { kind, fact } of changes) {
    if (!fact.relation.isAlive(fact.row)) continue;
    if (kind === 'memory.evicted') {
      yield { kind: 'removed', before: fact, after: null };
      continue;
    }
    const before = versionBefore(facts, fact, database.lastGeneration);
    if (before !== null) {
      yield { kind: 'changed', before, after: fact };
      continue;
    }
    const key = isMixed ? keyOf(fact) : '';
    const replaced = removed.get(key);
    if (replaced === undefined) yield { kind: 'added', before: null, after: fact };
    else {
      removed.delete(key);
      if (!areAlike(facts.versionAt(replaced), facts.versionAt(fact)))
        yield { kind: 'changed', before: replaced, after: fact };
    }
  }
  if (isMixed) for (const before of removed.values()) yield { kind: 'removed', before, after: null };
  else
    for (const change of changes) {
      const before = removedRow(facts, change, database.lastGeneration);
      if (before !== null) yield { kind: 'removed', before, after: null };
    }
}

/** The version that the change ended without a newer one; null: there is none, or the write had asserted it. */
function removedRow(facts: FactStore, { fact }: FactChange, generation: number): FactRow | null {
  const { relation, row } = fact;
  if (relation.isAlive(row) || facts.versionOf(relation.number[row] as number).row !== row) return null;
  return versionBefore(facts, fact, generation);
}

/** The version of the same life before this generation; null: the generation asserted it. */
function versionBefore(facts: FactStore, fact: FactRow, generation: number): FactRow | null {
  if (facts.assertedIn(fact) === generation) return null;
  const row = fact.relation.versionAt(fact.row, generation - 1);
  return row < 0 ? null : { relation: fact.relation, row };
}

function keyOf({ relation, row }: FactRow): string {
  let key = `${relation.storeIndex}`;
  for (const column of relation.columns) key += `,${column[row] as number}`;
  return key;
}

/** A list of changed facts that counts all and keeps the first. */
export class Listed {
  #count = 0;
  readonly #facts: string[] = [];

  /** `render` is called only for what is listed. */
  add(render: () => string): void {
    this.#count++;
    if (this.#facts.length < maxChangesListed) this.#facts.push(render());
  }

  get list(): ChangeList {
    return { count: this.#count, facts: this.#facts };
  }
}

/** The lists of facts by kind of change. */
export class ListedEffects {
  readonly #lists = { added: new Listed(), removed: new Listed(), changed: new Listed() };
  isEmpty = true;

  add(kind: ChangeKindOfHistory, render: () => string): void {
    this.isEmpty = false;
    this.#lists[kind].add(render);
  }

  get lists(): Readonly<Record<ChangeKindOfHistory, ChangeList>> {
    const { added, removed, changed } = this.#lists;
    return { added: added.list, removed: removed.list, changed: changed.list };
  }
}

/** The fact as text. */
export function factText(facts: FactStore, fact: FactRow): string {
  return renderIdentity(facts.identityOf(fact));
}

/** The change of a rule as answers show it. */
export function shownRule({ before, after, status }: RuleChange): {
  id: string;
  rule: string;
  change: ChangeKindOfHistory;
} {
  const change = before === null ? 'added' : status === 'retracted' ? 'removed' : 'changed';
  return { id: after.id, rule: after.text, change };
}

/** The change of a declaration, constraint, test or alias as answers show it. */
export function shownShape(each: ShapeChange): {
  kind: ShapeChange['kind'];
  name: string;
  change: ChangeKindOfHistory;
} {
  const { kind, before, after } = each;
  const change = before === null ? 'added' : after === null ? 'removed' : 'changed';
  return { kind, name: nameOf(each), change };
}

function nameOf(change: ShapeChange): string {
  switch (change.kind) {
    case 'declaration': {
      const named = change.after ?? change.before;
      return named === null ? '' : `${named.name}/${named.arity}`;
    }
    case 'constraint': {
      const { id = '', text = '' } = change.after ?? change.before ?? {};
      return `${id}: ${text}`;
    }
    case 'test':
      return (change.after ?? change.before)?.name ?? '';
    case 'alias': {
      const { alias = '', entity = '' } = change.after ?? change.before ?? {};
      return `${renderConstant(alias)} of ${renderConstant(entity)}`;
    }
  }
}

/** Who made a record; null: records of earlier versions do not say. */
export function actorOf({ actor, origin }: Pick<LogRecord, 'actor' | 'origin'>): Actor {
  if (actor !== null) return { id: actor, name: origin?.keyName ?? null };
  return origin === undefined ? null : { id: 'local', name: null };
}

/** The write that began or ended a version. */
export function boundOf(record: LogRecord, generation: number): LifeBound {
  const { time, origin } = record;
  return { generation, time, actor: actorOf(record), surface: origin?.surface ?? null };
}
