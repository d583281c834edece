import type { ChangeData, ChangeKind } from '../contract/administration.ts';
import type { Change } from './change-feed.ts';
import type { FactStore } from '../store/fact-store.ts';
import { renderAtom } from '../language/print.ts';
import type { FactChange, FactChanges } from '../state/fact-changes.ts';
import type { Report } from '../state/report.ts';

/**
 * A write with more changes is published as one `reset`: subscribers read again, which costs less than the changes
 * would.
 */
export const maxChangesPublished = 1000;

/**
 * Assigns the event ids of one generation of a database. It is their only source; ids ascend in order of publication
 * and are never reused.
 */
export class EventIds {
  readonly database: string;
  readonly generation: number;
  #next: number;

  /** The first id ends in `first`. */
  constructor(database: string, generation: number, first = 0) {
    this.database = database;
    this.generation = generation;
    this.#next = first;
  }

  nextId(): string {
    return `${this.generation}.${this.#next++}`;
  }
}

/**
 * The origin of a change: its generation's event ids, its time, and its request; `requestId` is null if time caused it.
 */
export interface Origin {
  readonly ids: EventIds;
  readonly time: number;
  readonly requestId: string | null;
}

/** The events for the changes that a write itself made. */
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
    // Rules apply to all tenants.
    changes.push(change('rule.changed', null, origin, { id, rule: text, scope }));
  }
  if (report.scope?.isChange === true)
    changes.push(change('scope.changed', tenant, origin, { scope: report.scope.name }));
  return changes;
}

/** The events for changes of a tenant's stored facts. */
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

/** The events for conclusions that a change withdrew, published after the change itself; null: too many to list. */
export function withdrawalsOf(tenant: string, atoms: readonly string[] | null, origin: Origin): Change[] {
  if (atoms === null || atoms.length > maxChangesPublished) return [change('reset', tenant, origin, {})];
  return atoms.map((atom) => change('conclusion.withdrawn', tenant, origin, { atom }));
}

/** The event for an agent's tool call in this tenant; `id` is the call's. */
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

/** The event that tells a subscriber to read everything again. */
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
 * The changes caused by the passing of time, in the form of writes: stored facts whose validity began or ended between
 * the instants `since` and `time`, inclusive. `passed` are the facts that have, or once had, a bound there, in order; a
 * bound that was moved, removed or replaced up to this generation is no change.
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
    // A write that is not yet visible may be in progress.
    const row = relation.versionAt(newest, generation);
    if (row < 0 || !relation.wasAlive(row, generation)) continue;
    const fact = { relation, row };
    const { from, until } = relation.boundsOf(row);
    if (until <= time) {
      if (until >= since) changes.push({ kind: 'fact.retracted', fact });
    } else if (from >= since && from <= time) changes.push({ kind: 'fact.asserted', fact });
  }
  return changes;
}
