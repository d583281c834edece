/** GET /history: who changed what, newest first. */
import { present } from '../base/assert.ts';
import type { Caller } from '../base/caller.ts';
import { invalid } from '../base/errors.ts';
import type { Slices } from '../base/slices.ts';
import type { GenerationEntry, History, HistoryQuery } from '../contract/history.ts';
import { type Operation, operationName } from '../state/operation.ts';
import { isVariable } from '../contract/language.ts';
import type { LogRecord } from '../log/codec.ts';
import type { RetainedLog } from '../log/retained.ts';
import type { FactRow, FactStore } from '../store/fact-store.ts';
import { actorOf, factEffects, ListedEffects, factText, shownRule, shownShape } from './effects.ts';
import { HistoryReplay, type ReplayedRecord, type ReplaySlices } from './replay.ts';

/** Time after which a page ends with what it has found, in milliseconds. */
const pageMs = 2000;
const effectsBetweenBreaths = 256;

/** An entry, and the sequence of its record. */
interface Found {
  readonly sequence: number;
  readonly entry: GenerationEntry;
}

/** What a page is about. */
interface Wanted {
  readonly query: HistoryQuery;
  readonly tenant: string;
  /** The entity and its other names; null: any. */
  readonly names: ReadonlySet<string> | null;
  /** What was stored for the tenant up to this generation was erased. */
  readonly erasedThrough: number;
}

/**
 * A page of the history. Each part between two retained snapshots is replayed whole, newest part first, until the page is
 * full or its time has passed; then the page has a cursor.
 */
export async function listHistory(
  retained: RetainedLog,
  { database, tenant }: Caller,
  wanted: Omit<Wanted, 'tenant'>,
  { newest, slices }: { readonly newest: number; readonly slices: ReplaySlices },
): Promise<History> {
  const { query } = wanted;
  const startedAt = performance.now();
  const found: Found[] = [];
  let end = query.cursor === null ? newest : Math.min(newest, sequenceIn(query.cursor) - 1);
  /** Records before this one are for the next page; null: there are none. */
  let next: number | null = null;
  const parts = [...retained.parts()].reverse();
  const places = parts.flatMap((part) => part.bases.toReversed().map((base) => ({ part, base })));
  for (const { part, base } of places) {
    if (base.sequence >= end) continue;
    if (found.length >= query.limit || performance.now() - startedAt > pageMs) {
      next = end + 1;
      break;
    }
    const isAfterAll = query.before?.kind === 'instant' && base.time >= query.before.time;
    if (!isAfterAll) {
      const replay = await HistoryReplay.from(part, base, database, slices);
      const isBeforeAll = query.after?.kind === 'generation' && replay.generation <= query.after.generation;
      const page = new Page({ ...wanted, tenant }, query.limit - found.length);
      for await (const replayed of replay.through(end)) await page.take(replayed, slices);
      found.push(...page.newestFirst());
      if (page.isFull) {
        next = present(found.at(-1), 'a full page has entries').sequence;
        break;
      }
      if (isBeforeAll || page.isCleared) break;
    }
    if (query.after?.kind === 'instant' && base.time <= query.after.time) break;
    end = base.sequence;
  }
  const first = places.at(-1)?.base;
  return {
    generations: found.map(({ entry }) => entry),
    nextCursor: next === null ? null : `s${next}`,
    since: first === undefined || first.snapshot === null ? null : first.time,
    gaps: await gapsIn(parts),
  };
}

/** Where records were lost, the latest first. */
async function gapsIn(parts: readonly RetainedLog[]): Promise<History['gaps']> {
  const gaps: History['gaps'] = [];
  for (const [at, part] of parts.entries()) {
    const behind = parts[at - 1]?.bases[0];
    if (behind === undefined) continue;
    const last = part.segments.at(-1)?.lastSequence ?? 0;
    let from = part.bases.at(-1)?.time ?? 0;
    for await (const { time } of part.records(last - 1)) from = time;
    gaps.push({ from, to: behind.time });
  }
  return gaps;
}

/** The entries of one replayed part: the newest ones, as many as fit. */
class Page {
  readonly #wanted: Wanted;
  readonly #limit: number;
  #found: Found[] = [];
  /** More entries were found than fit. */
  isFull = false;
  /** Everything in the database was removed: nothing before that is listed. */
  isCleared = false;

  constructor(wanted: Wanted, limit: number) {
    this.#wanted = wanted;
    this.#limit = limit;
  }

  /** The entries, newest first. */
  newestFirst(): Found[] {
    return this.#found.slice(-this.#limit).reverse();
  }

  async take({ record, report }: ReplayedRecord, slices: Slices): Promise<void> {
    const { tenant, query, erasedThrough } = this.#wanted;
    const { generation, cleared } = report;
    if (cleared !== null && (cleared.isDatabaseGone || report.tenant === null)) {
      this.#found = [];
      this.isFull = false;
      this.isCleared = true;
    }
    const isAbout = isWithin(query, generation, record.time) && isBy(query, record);
    if (!isAbout) return;
    const isOwn = report.tenant === null || report.tenant === tenant;
    const lists = new ListedEffects();
    const facts = report.database.tenants.get(tenant)?.facts;
    let redacted = cleared !== null && isOwn ? countOf(cleared.tenants.get(tenant)?.facts) : 0;
    if (isOwn && facts !== undefined && query.rule === null) {
      let seen = 0;
      for (const { kind, before, after } of factEffects(report)) {
        if (++seen % effectsBetweenBreaths === 0) await slices.breathe();
        const fact = after ?? before;
        if (fact === null || !matches(this.#wanted, facts, fact)) continue;
        if (generation <= erasedThrough) redacted++;
        else lists.add(kind, () => factText(facts, fact));
      }
    }
    const isOfFacts = query.entity !== null || query.predicate !== null;
    const rules = isOfFacts
      ? []
      : report.rules
          .filter(({ isChange, after }) => isChange && (query.rule === null || after.id === query.rule))
          .map(shownRule);
    const declarations =
      isOfFacts || query.rule !== null
        ? []
        : report.shape
            .filter(({ isChange, kind }) => isChange && (kind !== 'alias' || isOwn))
            .map(shownShape);
    redacted += this.#redactedIn(record.operation as Operation, isOwn);
    if (lists.isEmpty && redacted + rules.length + declarations.length === 0) return;
    this.#add(record, {
      ...originOf(record, isOwn),
      generation,
      ...lists.lists,
      rules,
      declarations,
      redacted,
    });
  }

  /** What the record lost of the tenant; of which entity or predicate that was is not known any more. */
  #redactedIn(operation: Operation, isOwn: boolean): number {
    const { entity, predicate, rule } = this.#wanted.query;
    const isOfAny = entity === null && predicate === null && rule === null;
    return operation.kind === 'redacted' && isOwn && isOfAny ? operation.changes : 0;
  }

  #add(record: LogRecord, entry: GenerationEntry): void {
    this.#found.push({ sequence: record.sequence, entry });
    if (this.#found.length <= this.#limit) return;
    this.isFull = true;
    // Dropped in bulk: a part can have far more entries than a page.
    if (this.#found.length > 2 * this.#limit + 100) this.#found.splice(0, this.#found.length - this.#limit);
  }
}

/** Of a write of another tenant, which changed rules as well, only who made it is shown. */
function originOf(
  record: LogRecord,
  isOwn: boolean,
): Pick<GenerationEntry, 'time' | 'actor' | 'surface' | 'client' | 'session' | 'reason' | 'operation'> {
  const { time, origin, operation } = record;
  const logged = operation as Operation;
  const kind = logged.kind === 'redacted' ? logged.of : operationName(logged);
  return {
    time,
    actor: actorOf(record),
    surface: origin?.surface ?? null,
    client: isOwn ? (origin?.client ?? null) : null,
    session: isOwn ? (origin?.session ?? null) : null,
    reason: isOwn ? (origin?.reason ?? null) : null,
    operation: kind,
  };
}

function countOf(facts: FactStore | undefined): number {
  let count = 0;
  for (const { live } of facts?.relations.values() ?? []) count += live;
  return count;
}

function isWithin({ after, before }: HistoryQuery, generation: number, time: number): boolean {
  const isAfter =
    after === null || (after.kind === 'generation' ? generation > after.generation : time > after.time);
  return (
    isAfter &&
    (before === null || (before.kind === 'generation' ? generation < before.generation : time < before.time))
  );
}

function isBy({ actor, surface }: HistoryQuery, record: LogRecord): boolean {
  if (surface !== null && record.origin?.surface !== surface) return false;
  if (actor === null) return true;
  const by = actorOf(record);
  return by !== null && (by.id === actor || by.name === actor);
}

function matches({ query, names }: Wanted, facts: FactStore, fact: FactRow): boolean {
  const { predicate, args } = query;
  if (predicate !== null && fact.relation.predicate !== predicate) return false;
  if (names === null && args === null) return true;
  const own = facts.argsOf(fact);
  if (names !== null && !own.some((arg) => names.has(arg))) return false;
  return args === null || isMatch(args, own);
}

/** True if the arguments match the pattern; the same variable stands for the same value, `?_` for any. */
function isMatch(pattern: readonly string[], args: readonly string[]): boolean {
  if (pattern.length !== args.length) return false;
  const bound = new Map<string, string>();
  return pattern.every((each, at) => {
    const arg = args[at] as string;
    if (!isVariable(each)) return each === arg;
    if (each === '?_') return true;
    const known = bound.get(each);
    bound.set(each, arg);
    return known === undefined || known === arg;
  });
}

function sequenceIn(cursor: string): number {
  const match = /^s(\d{1,15})$/.exec(cursor);
  if (match === null)
    throw invalid('cursor', 'this is no nextCursor of this service: begin without a cursor');
  return Number(match[1]);
}
