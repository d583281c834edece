import type { ChangeData, ChangeKind } from '../contract/administration.ts';
import type { Change } from './change-feed.ts';
import type { FactStore } from '../store/fact-store.ts';
import { renderAtom } from '../language/print.ts';
import type { FactChange, FactChanges } from '../state/fact-changes.ts';
import type { Report } from '../state/report.ts';

/**
 * What subscribers are told of a change, and by which ids. A write of very many facts is told as one `reset`: whoever follows reads
 * again, which is less than the changes themselves would be.
 */
export const maxChangesPublished = 1000;

/**
 * A generation of a database, and the only place that gives numbers to what is told of it: they ascend in the order of
 * telling, and none is given twice.
 */
export class EventIds {
  readonly database: string;
  readonly generation: number;
  #next: number;

  /** Numbers begin with `first`. */
  constructor(database: string, generation: number, first = 0) {
    this.database = database;
    this.generation = generation;
    this.#next = first;
  }

  nextId(): string {
    return `${this.generation}.${this.#next++}`;
  }
}

/** What made a change: the generation it belongs to, when it was, and the request, null where it was the time. */
export interface Origin {
  readonly ids: EventIds;
  readonly time: number;
  readonly requestId: string | null;
}

/** The changes that a write made itself. */
export function changesOf(report: Report, origin: Origin): Change[] {
  const { database, tenant, rules, cleared } = report;
  if (cleared !== null) {
    const isChange = cleared.facts + cleared.rules > 0 || cleared.isDatabaseGone;
    return isChange ? [change('reset', tenant, origin, {})] : [];
  }
  const facts = tenant === null ? undefined : database.tenants.get(tenant)?.facts;
  const changes = facts === undefined ? [] : factChanges(facts, tenant, report.changes, origin);
  for (const { after, isChange } of rules) {
    if (!isChange) continue;
    const { id, text, scope } = after;
    // Rules serve all tenants.
    changes.push(change('rule.changed', null, origin, { id, rule: text, scope }));
  }
  if (report.scope?.isChange === true)
    changes.push(change('scope.changed', tenant, origin, { scope: report.scope.name }));
  return changes;
}

/** What a tenant is told of its stored facts. */
export function factChanges(
  facts: FactStore,
  tenant: string | null,
  changes: readonly FactChange[] | FactChanges,
  origin: Origin,
): Change[] {
  if (changes.length > maxChangesPublished) return [change('reset', tenant, origin, {})];
  return Array.from(changes, ({ kind, fact }) => {
    const { predicate, negated } = fact.relation;
    const atom = renderAtom({ predicate, args: facts.argsOf(fact), negated });
    return change(kind, tenant, origin, { atom, id: facts.idOf(fact), scope: facts.scopeOf(fact) });
  });
}

/** The conclusions that a change withdrew; null: more than can be told. They come after the change itself. */
export function withdrawalsOf(tenant: string, atoms: readonly string[] | null, origin: Origin): Change[] {
  if (atoms === null || atoms.length > maxChangesPublished) return [change('reset', tenant, origin, {})];
  return atoms.map((atom) => change('conclusion.withdrawn', tenant, origin, { atom }));
}

/** An agent called a tool in this tenant; `id` is the call's. */
export function toolCallOf(tenant: string, id: string, origin: Origin): Change {
  return change('mcp.call', tenant, origin, { id });
}

function change(
  kind: ChangeKind,
  tenant: string | null,
  { ids, time, requestId }: Origin,
  about: Partial<ChangeData>,
): Change {
  const data = { generation: ids.generation, time, requestId, ...about };
  return { id: ids.nextId(), kind, database: ids.database, tenant, data };
}

/** The change that tells a subscriber to read everything again. */
export function resetChange(
  database: string,
  tenant: string | null,
  generation: number,
  time: number,
): Change {
  return {
    id: `${generation}.0`,
    kind: 'reset',
    database,
    tenant,
    data: { generation, time, requestId: null },
  };
}

/**
 * What the passing of time changed for who reads, told in the words of writes: a stored fact whose validity ended, or
 * began, from the instant `since` up to `time`. `passed` are the facts of which a bound lies there or lay there once;
 * one that was put off, taken back or replaced up to this generation is no change. In their order.
 */
export function boundsPassed(
  facts: FactStore,
  passed: readonly number[],
  generation: number,
  { since, time }: { readonly since: number; readonly time: number },
): FactChange[] {
  const changes: FactChange[] = [];
  for (const number of passed) {
    const { relation, row: newest } = facts.versionOf(number);
    // A write that nobody sees yet may be under way.
    const row = relation.versionAt(newest, generation);
    if (row < 0 || !relation.wasAlive(row, generation)) continue;
    const fact = { relation, row };
    const from = relation.validFrom?.[row] ?? Number.NEGATIVE_INFINITY;
    const until = relation.validUntil?.[row] ?? Number.POSITIVE_INFINITY;
    if (until <= time) {
      if (until >= since) changes.push({ kind: 'fact.retracted', fact });
    } else if (from >= since && from <= time) changes.push({ kind: 'fact.asserted', fact });
  }
  return changes;
}
