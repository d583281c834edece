import type { ChangeKind, ChangeData } from '../contract/administration.ts';
import { present } from '../base/assert.ts';
import type { FactStore } from '../store/fact-store.ts';
import type { ArgumentNames } from '../language/argument-names.ts';
import { parseAtom } from '../language/parse.ts';
import { renderIdentity } from '../language/print.ts';
import type { ErasingRecord } from '../state/redaction.ts';
import type { FactChange, FactChanges, Report } from '../state/report.ts';

/** Events remembered for subscribers that reconnect, and events queued for one subscriber. */
const historySize = 10_000;
const maxQueued = 10_000;
/** Bytes of the same: an atom may be long. */
const historyBytes = 16 * 1024 * 1024;
const maxQueuedBytes = 16 * 1024 * 1024;
/** Approximate bytes of an event without its atom. */
const bytesOfEvent = 250;

/** Spaces (database and tenant) whose last evicted event is remembered. */
const maxSpaces = 1000;

/** For how long, and of how many entities, events that name what was forgotten are not remembered. */
const erasureMs = 600_000;
const maxErasures = 100;

/**
 * The events of all databases as they happen, and the latest of them for subscribers that reconnect.
 *
 * Changes and tool calls are remembered separately, so that many calls do not evict changes. A subscriber that
 * reconnects receives all events since that concern it, in order, or a `reset`, never only some. A subscriber that
 * falls too far behind receives a `reset`, so queues stay bounded. History and queues are bounded in events and in bytes.
 */
export class ChangeFeed {
  readonly #changes = new History();
  readonly #calls = new History();
  #published = 0;
  readonly #listeners = new Set<(change: Change) => void>();
  /** What was erased a short while ago, with the time of the first event after it. */
  #erasures: { readonly erasure: ErasingRecord; since: number | null }[] = [];

  publish(change: Change): void {
    const history = change.kind === 'mcp.call' ? this.#calls : this.#changes;
    const published = { at: this.#published++, change };
    if (this.#isErased(change)) history.evict([published]);
    else history.add(published);
    for (const listener of this.#listeners) listener(change);
  }

  /**
   * Erases the remembered events of a tenant or a database. Of an entity, what is published for a while after it is not
   * remembered either where it names the entity: what its retraction withdrew is known only later. Subscribers that
   * reconnect receive a `reset`.
   */
  erase(erasure: ErasingRecord): void {
    for (const history of [this.#changes, this.#calls])
      history.evictWhere(({ database, tenant }) => isOf(erasure, database, tenant));
    if (erasure.facts === null) return;
    this.#erasures.push({ erasure, since: null });
    if (this.#erasures.length > maxErasures) this.#erasures.shift();
  }

  #isErased({ database, tenant, data }: Change): boolean {
    if (this.#erasures.length === 0) return false;
    for (const each of this.#erasures) each.since ??= data.time;
    this.#erasures = this.#erasures.filter(({ since }) => data.time - (since ?? 0) < erasureMs);
    const text = JSON.stringify(data);
    return this.#erasures.some(
      ({ erasure }) => isOf(erasure, database, tenant) && erasure.facts?.isIn(text) === true,
    );
  }

  subscribe(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Events that `concerns` accepts, from this call on or after `lastId`. If that event or a later one is no longer
   * remembered, the first event is `reset`. Ends when the signal aborts or the reader leaves.
   */
  stream(
    concerns: (change: Change) => boolean,
    lastId: string | null,
    reset: () => Change,
    signal: AbortSignal,
  ): AsyncIterableIterator<Change> {
    const missed = lastId === null ? [] : (this.#after(lastId, concerns) ?? [reset()]);
    const subscription = new Subscription(missed, reset, signal);
    if (!signal.aborted)
      subscription.onEnd = this.subscribe((change) => {
        if (concerns(change)) subscription.add(change);
      });
    return subscription;
  }

  /** null: some are no longer remembered. */
  #after(lastId: string, concerns: (change: Change) => boolean): Change[] | null {
    const histories = [this.#changes, this.#calls];
    const mine = histories
      .flatMap((history) => history.entries.filter(({ change }) => concerns(change)))
      .toSorted((left, right) => left.at - right.at);
    const index = mine.findLastIndex(({ change }) => change.id === lastId);
    const last = mine[index];
    if (last === undefined || histories.some((history) => history.hasEvicted(last.at, concerns))) return null;
    return mine.slice(index + 1).map(({ change }) => change);
  }
}

/** True if the events of this tenant are among what was erased; null: events of all tenants. */
function isOf(erasure: ErasingRecord, database: string, tenant: string | null): boolean {
  return erasure.database === database && (erasure.tenant === null || erasure.tenant === tenant);
}

/** An event with its position in order of publication. */
interface Published {
  readonly at: number;
  readonly change: Change;
}

/** Approximate bytes of an event in memory. */
function bytesOf({ data }: Change): number {
  let characters = (data.atom?.length ?? 0) + (data.entity?.length ?? 0) + (data.alias?.length ?? 0);
  for (const fields of [data.bindings ?? {}, data.named ?? {}])
    for (const [name, value] of Object.entries(fields)) characters += name.length + value.length;
  return bytesOfEvent + 2 * characters;
}

/** The latest published events, and the last evicted one of each space. */
class History {
  entries: Published[] = [];
  #bytes = 0;
  /** By space, most recently evicted last. */
  readonly #evicted = new Map<string, Published>();
  /** Position of the last evicted event of all other spaces. */
  #evictedElsewhere = -1;

  add(published: Published): void {
    this.entries.push(published);
    this.#bytes += bytesOf(published.change);
    // Half of it at a time.
    if (this.entries.length <= 2 * historySize && this.#bytes <= 2 * historyBytes) return;
    let kept = 0;
    let first = this.entries.length;
    for (; first > 0 && this.entries.length - first < historySize; first--) {
      const bytes = bytesOf((this.entries[first - 1] as Published).change);
      if (kept + bytes > historyBytes) break;
      kept += bytes;
    }
    const gone = this.entries.slice(0, first);
    this.entries = this.entries.slice(first);
    this.#bytes = kept;
    this.evict(gone);
  }

  /** Evicts the events of these spaces. */
  evictWhere(isGone: (change: Change) => boolean): void {
    const gone = this.entries.filter(({ change }) => isGone(change));
    if (gone.length === 0) return;
    this.entries = this.entries.filter(({ change }) => !isGone(change));
    for (const { change } of gone) this.#bytes -= bytesOf(change);
    this.evict(gone);
  }

  /** Notes that these events, in order, are not remembered. */
  evict(gone: readonly Published[]): void {
    for (const { at, change } of gone) {
      const space = `${change.database} ${change.tenant ?? ''}`;
      const { generation, time, requestId } = change.data;
      this.#evicted.delete(space);
      // Without its atom.
      this.#evicted.set(space, { at, change: { ...change, data: { generation, time, requestId } } });
    }
    for (const [space, { at }] of this.#evicted) {
      if (this.#evicted.size <= maxSpaces) break;
      this.#evicted.delete(space);
      this.#evictedElsewhere = Math.max(this.#evictedElsewhere, at);
    }
  }

  /** True if an event after `at` that concerns the reader was, or may have been, evicted. */
  hasEvicted(at: number, concerns: (change: Change) => boolean): boolean {
    if (this.#evictedElsewhere > at) return true;
    return [...this.#evicted.values()].some((each) => each.at > at && concerns(each.change));
  }
}

/** One subscriber's queue of events. */
class Subscription implements AsyncIterableIterator<Change> {
  onEnd: () => void = () => {};
  #queue: Change[];
  #bytes = 0;
  #wake: (() => void) | null = null;
  #isOver = false;
  readonly #reset: () => Change;
  readonly #signal: AbortSignal;
  readonly #onAbort = (): void => this.#end();

  constructor(waiting: Change[], reset: () => Change, signal: AbortSignal) {
    this.#queue = waiting;
    for (const change of waiting) this.#bytes += bytesOf(change);
    this.#reset = reset;
    this.#signal = signal;
    if (signal.aborted) this.#end();
    else signal.addEventListener('abort', this.#onAbort);
  }

  add(change: Change): void {
    const bytes = bytesOf(change);
    if (this.#queue.length >= maxQueued || this.#bytes + bytes > maxQueuedBytes) {
      this.#queue = [this.#reset()];
      this.#bytes = bytesOfEvent;
    } else {
      this.#queue.push(change);
      this.#bytes += bytes;
    }
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<Change>> {
    while (!this.#isOver) {
      const change = this.#queue.shift();
      if (change !== undefined) {
        this.#bytes -= bytesOf(change);
        return { done: false, value: change };
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Change>> {
    this.#end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #end(): void {
    this.#isOver = true;
    this.#queue = [];
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.onEnd();
    this.#wake?.();
  }
}

/**
 * One event, as subscribers and GET /events receive it. `id` is `generation.index`; a subscriber resumes after the id
 * it names. Withdrawn conclusions are published when known, so events of later writes can precede them.
 */
export interface Change {
  readonly id: string;
  readonly kind: ChangeKind;
  readonly database: string;
  /** null: concerns every tenant of the database (rules, scopes of rules). */
  readonly tenant: string | null;
  readonly data: ChangeData;
}

/**
 * A write with more changes is published as one `reset`: subscribers read again, which costs less than the changes
 * would.
 */
export const maxChangesPublished = 1000;
/** So is one of facts whose constants have more bytes: a subscriber's queue takes hardly more, and rendering them one turn. */
const maxBytesPublished = maxQueuedBytes / 2;

/**
 * Assigns the event ids of one generation of a database. It is their only source; ids ascend in order of publication
 * and are never reused. `feed` ends each id: nodes that publish the same generation do not publish the same events.
 */
export class EventIds {
  readonly database: string;
  readonly generation: number;
  readonly #feed: string;
  #next: number;

  /** `first` is the number of the first id. */
  constructor(database: string, generation: number, first = 0, feed = '') {
    this.#feed = feed;
    this.database = database;
    this.generation = generation;
    this.#next = first;
  }

  nextId(): string {
    return `${this.generation}.${this.#next++}${this.#feed}`;
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
  const { names } = database.declarations;
  if (cleared !== null) {
    const isChange = cleared.facts + cleared.rules > 0 || cleared.isDatabaseGone;
    return isChange ? [change('reset', tenant, origin, {})] : [];
  }
  const facts = tenant === null ? undefined : database.tenants.get(tenant)?.facts;
  const changes = facts === undefined ? [] : factChanges(facts, tenant, report.changes, names, origin);
  for (const { after, isChange } of rules) {
    if (!isChange) continue;
    const { id, text, scope } = after;
    // Rules apply to all tenants.
    changes.push(change('rule.changed', null, origin, { id, rule: text, scope }));
  }
  for (const each of report.shape) {
    if (!each.isChange) continue;
    const absent = 'a change has a before or an after';
    if (each.kind === 'constraint') {
      const { id, text, scope } = present(each.after ?? each.before, absent);
      changes.push(change('constraint.changed', null, origin, { id, constraint: text, scope }));
    } else if (each.kind === 'declaration') {
      const { name, arity } = present(each.after ?? each.before, absent);
      changes.push(change('declaration.changed', null, origin, { predicate: `${name}/${arity}` }));
    } else if (each.kind === 'test') {
      const { name, scope } = present(each.after ?? each.before, absent);
      changes.push(change('test.changed', null, origin, { test: name, scope }));
    } else {
      const { entity, alias } = present(each.after ?? each.before, absent);
      changes.push(change('alias.changed', tenant, origin, { entity, alias }));
    }
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
  names: ArgumentNames,
  origin: Origin,
): Change[] {
  if (changes.length > maxChangesPublished || areLong(facts, changes))
    return [change('reset', tenant, origin, {})];
  return Array.from(changes, ({ kind, fact }) => {
    const identity = facts.identityOf(fact);
    const { predicate, args, scope } = identity;
    const atom = renderIdentity(identity);
    return change(kind, tenant, origin, {
      atom,
      ...names.part(predicate, args),
      id: facts.idOf(fact),
      scope,
    });
  });
}

function areLong({ dictionary }: FactStore, changes: readonly FactChange[] | FactChanges): boolean {
  let left = maxBytesPublished;
  for (const { fact } of changes) {
    const { relation, row } = fact;
    for (let position = 0; position < relation.arity; position++)
      left -= dictionary.sizeOf((relation.columns[position] as Int32Array)[row] as number);
    if (left < 0) return true;
  }
  return false;
}

/** The events for conclusions that a change withdrew, published after the change itself; null: too many to list. */
export function withdrawalsOf(
  tenant: string,
  atoms: readonly string[] | null,
  names: ArgumentNames,
  origin: Origin,
): Change[] {
  if (atoms === null || atoms.length > maxChangesPublished) return [change('reset', tenant, origin, {})];
  const named = (atom: string): Pick<ChangeData, 'named'> => {
    if (names.isEmpty) return {};
    const { predicate, args } = parseAtom(atom);
    return names.part(predicate, args);
  };
  return atoms.map((atom) => change('conclusion.withdrawn', tenant, origin, { atom, ...named(atom) }));
}

/** A violation that began or ended. */
export interface ViolationChange {
  readonly kind: 'constraint.violated' | 'constraint.satisfied';
  /** The id of the constraint. */
  readonly constraint: string;
  readonly scope: string | null;
  readonly bindings: Readonly<Record<string, string>>;
}

/** The events for violations that a change began or ended; null: not known which. */
export function violationChanges(
  tenant: string,
  changes: readonly ViolationChange[] | null,
  origin: Origin,
): Change[] {
  if (changes === null || changes.length > maxChangesPublished) return [change('reset', tenant, origin, {})];
  return changes.map(({ kind, ...about }) => change(kind, tenant, origin, about));
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
 * the instants `since` and `time`, inclusive, in order. `passed` are the facts that have, or once had, a bound there; a
 * bound that was moved, removed or replaced up to this generation is no change. Of more than are published, only so many
 * that this shows.
 */
export function boundsPassed(
  facts: FactStore,
  passed: readonly number[],
  generation: number,
  { since, time }: { readonly since: number; readonly time: number },
): FactChange[] {
  const changes = new Map<number, FactChange & { readonly at: number }>();
  for (const number of passed) {
    if (changes.size > maxChangesPublished) break;
    const { relation, row: newest } = facts.versionOf(number);
    // A write that is not yet visible may be in progress.
    const row = relation.versionAt(newest, generation);
    if (row < 0 || !relation.wasAlive(row, generation)) continue;
    const fact = { relation, row };
    const { from, until } = relation.boundsOf(row);
    if (until <= time) {
      if (until >= since) changes.set(number, { kind: 'fact.retracted', fact, at: until });
    } else if (from >= since && from <= time) changes.set(number, { kind: 'fact.asserted', fact, at: from });
  }
  return [...changes]
    .sort(([left, one], [right, other]) => one.at - other.at || left - right)
    .map(([, change]) => change);
}
