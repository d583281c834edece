import { TextSet } from '../base/text-map.ts';
import type { ReadContext } from '../session/read-context.ts';
import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import type {
  ClearSessionInput,
  ContextWindow,
  DiffAnswer,
  OptimizeInput,
  WindowDiff,
  WindowDiffInput,
} from '../contract/context.ts';
import type { ContextEntry } from '../contract/memory.ts';
import { headingsOf, lineOf, readingOrder } from '../memory/fact-lines.ts';
import type { LiveState } from '../session/live-state.ts';
import { parseAtom } from '../language/parse.ts';
import { renderAtom } from '../language/print.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import type { Report } from '../state/report.ts';
import type { LeftOutFacts } from './window.ts';

/** Reads a window, and what `done` makes of it and of the context that it was read in. */
export type WindowReads = <Result>(
  caller: Caller,
  input: OptimizeInput,
  leftOut: LeftOutFacts | null,
  done: (window: ContextWindow, context: ReadContext) => Promise<Result>,
) => Promise<Result>;

/**
 * Serves context windows, alone or as a session in which each window is compared with the previous one.
 *
 * A window that is being built does not revive a session that was cleared, or whose tenant was deleted, in the
 * meantime.
 */
export class Windows {
  readonly #live: LiveState;
  readonly #sessions = new WindowSessions<OptimizeInput>();

  constructor(live: LiveState) {
    this.#live = live;
  }

  /** Number of remembered sessions. */
  get sessions(): number {
    return this.#sessions.size;
  }

  /** A window of facts. Being in it is not a use of a fact. `leftOut`: facts that are not added beside proofs. */
  async optimizeContext(
    reads: WindowReads,
    caller: Caller,
    input: OptimizeInput,
    leftOut: LeftOutFacts | null = null,
  ): Promise<ContextWindow> {
    return reads(caller, input, leftOut, async (window, context) => {
      if (input.sessionId !== null) await this.#keep(caller, context, input.sessionId, input, window);
      return window;
    });
  }

  async diffContext(reads: WindowReads, caller: Caller, input: WindowDiffInput): Promise<DiffAnswer> {
    const { sessionId } = input;
    const previous = this.#sessions.find(caller, sessionId);
    if (previous === null) throw noSuchSession(sessionId);
    const parameters = withChanges(previous.parameters, input);
    const wanted = { ...parameters, explainOmitted: false };
    return reads(caller, wanted, null, async (window, context) => {
      const [diff, addedEntries] = await differences(previous, window, context);
      if (this.#sessions.find(caller, sessionId) !== null)
        await this.#keep(caller, context, sessionId, parameters, window);
      return parameters.format === 'text' ? asLines(diff, addedEntries, context.pacer) : diff;
    });
  }

  /** Forgets the last window of the session, known or not; answers with a sentence that says so. */
  async clearContextSession(caller: Caller, { sessionId }: ClearSessionInput): Promise<string> {
    this.#live.refuseClosed();
    this.#live.database(caller);
    this.#sessions.drop(caller, sessionId);
    return `Session '${sessionId}' cleared`;
  }

  /** Must be called after a write was applied: drops the sessions of tenants of which something was erased. */
  applied({ database, tenant: of, cleared }: Report, isForgotten: boolean): void {
    if (isForgotten) this.#sessions.forget(database.name, (tenant) => tenant === of);
    if (cleared === null) return;
    const { tenants, isDatabaseGone } = cleared;
    this.#sessions.forget(database.name, (tenant) => isDatabaseGone || tenants.has(tenant));
  }

  async #keep(
    caller: Caller,
    { reasoner, pacer }: ReadContext,
    sessionId: string,
    parameters: OptimizeInput,
    { windowId, entries }: ContextWindow,
  ): Promise<void> {
    const atoms: string[] = [];
    for (const entry of entries) {
      atoms.push(renderAtom(entry));
      if ((atoms.length & 0x3ff) === 0) await pacer.breathe();
    }
    if (reasoner.isRetired) return;
    const snapshot = { windowId, parameters, atoms, scopes: entries.map(({ scope }) => scope) };
    this.#sessions.keep(caller, sessionId, snapshot);
  }
}

/** The parameters of the last window, overridden by the given ones. */
function withChanges(parameters: OptimizeInput, input: WindowDiffInput): OptimizeInput {
  const { maxFacts, maxTokens, goals, query, scope, unscoped, format } = input;
  return {
    ...parameters,
    ...(maxFacts === null ? {} : { maxFacts }),
    ...(maxTokens === null ? {} : { maxTokens }),
    ...(goals === null ? {} : { goals }),
    ...(query === null ? {} : { query }),
    ...(format === null ? {} : { format }),
    ...(scope === null && !unscoped ? {} : { scope, unscoped }),
  };
}

/** A full refresh is recommended above this fraction of changed entries. */
const maxChangedShare = 0.5;

async function differences(
  before: WindowSnapshot<OptimizeInput>,
  { windowId, entries }: ContextWindow,
  { pacer, reader: { names } }: ReadContext,
): Promise<[diff: WindowDiff, added: ContextEntry[]]> {
  const had = new TextSet(before.atoms);
  const has = new TextSet();
  const added: ContextEntry[] = [];
  for (const entry of entries) {
    const atom = renderAtom(entry);
    has.add(atom);
    if (!had.has(atom)) added.push(entry);
    if ((has.size & 0x3ff) === 0) await pacer.breathe();
  }
  const removed: WindowDiff['removed'] = [];
  for (const [at, atom] of before.atoms.entries()) {
    if ((at & 0x3ff) === 0x3ff) await pacer.breathe();
    if (has.has(atom)) continue;
    const { predicate, args, negated } = parseAtom(atom);
    const key = [predicate, ...args].join('/');
    const shownAtom = { predicate, args: [...args], ...names.part(predicate, args), negated };
    removed.push({ key, ...shownAtom, scope: before.scopes[at] ?? null });
  }
  const changed = added.length + removed.length;
  const fullRefreshRecommended = changed / Math.max(before.atoms.length, 1) > maxChangedShare;
  const reason = `${changed} entries were added or removed, more than half of the ${before.atoms.length} of the previous window`;
  const diff: WindowDiff = {
    previousWindowId: before.windowId,
    currentWindowId: windowId,
    added: added.map(shown),
    removed,
    unchanged: has.size - added.length,
    fullRefreshRecommended,
    reason: fullRefreshRecommended ? reason : null,
  };
  return [diff, added];
}

/** The comparison with lines instead of atoms: what was added in reading order, then what was removed. */
async function asLines(
  { added: _, removed, ...rest }: WindowDiff,
  added: readonly ContextEntry[],
  pacer: Pacer,
): Promise<DiffAnswer> {
  const inOrder = await readingOrder(added, () => pacer.breathe());
  const lines = headingsOf([...inOrder, ...removed]).map((heading) => `${heading}\n`);
  for (const entry of inOrder) lines.push(`+ ${lineOf(entry)}\n`);
  for (const atom of removed) lines.push(`- ${renderAtom(atom)}\n`);
  return { ...rest, text: lines.join('') };
}

function shown({
  predicate,
  args,
  named,
  negated,
  salience,
  category,
  charCount,
}: ContextEntry): WindowDiff['added'][number] {
  const byName = named === undefined ? {} : { named };
  return { predicate, args, ...byName, negated, salience, category, charCount };
}

function noSuchSession(sessionId: string): EngineError {
  return new EngineError(
    'SessionNotFound',
    `there is no session ${sessionId}: create a window with this sessionId by POST /context/optimize first; ` +
      `sessions end with the process, and the least recently used are dropped when there are many`,
  );
}

/** The last window of a session, as the baseline for later ones. */
interface WindowSnapshot<Parameters> {
  readonly windowId: string;
  readonly parameters: Parameters;
  /** Rendered, each once, in window order. */
  readonly atoms: readonly string[];
  /** Of the entries, in the same order. */
  readonly scopes: readonly (string | null)[];
}

interface SessionOwner {
  readonly database: string;
  readonly tenant: string;
}

interface CachedSession<Parameters> {
  readonly snapshot: WindowSnapshot<Parameters>;
  readonly owner: SessionOwner;
  readonly bytes: number;
}

const defaultMaxSessions = 100_000;
const defaultMaxBytes = 64 * 2 ** 20;
/** Approximate overhead in bytes of a session and of an entry. */
const bytesOfSession = 512;
const bytesOfEntry = 48;

/**
 * LRU cache of the last window of every session.
 *
 * In memory only. It keeps the atoms and parameters of a window, for at most `maxSessions` sessions in at most
 * `maxBytes`, except that the latest always stays. A session belongs to a database and a tenant and is dropped with
 * either.
 */
export class WindowSessions<Parameters> {
  /** Least recently used first. */
  readonly #sessions = new Map<string, CachedSession<Parameters>>();
  readonly #maxSessions: number;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxSessions = defaultMaxSessions, maxBytes = defaultMaxBytes) {
    this.#maxSessions = maxSessions;
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** The last window of the session; null: none. */
  find(owner: SessionOwner, session: string): WindowSnapshot<Parameters> | null {
    const key = keyOf(owner, session);
    const cached = this.#sessions.get(key);
    if (cached === undefined) return null;
    this.#sessions.delete(key);
    this.#sessions.set(key, cached);
    return cached.snapshot;
  }

  keep({ database, tenant }: SessionOwner, session: string, snapshot: WindowSnapshot<Parameters>): void {
    const owner = { database, tenant };
    this.drop(owner, session);
    const bytes = bytesOf(session, snapshot);
    this.#sessions.set(keyOf(owner, session), { snapshot, owner, bytes });
    this.#bytes += bytes;
    for (const [key, { bytes: freed }] of this.#sessions) {
      if (this.#sessions.size === 1) return;
      if (this.#sessions.size <= this.#maxSessions && this.#bytes <= this.#maxBytes) return;
      this.#sessions.delete(key);
      this.#bytes -= freed;
    }
  }

  drop(owner: SessionOwner, session: string): void {
    const key = keyOf(owner, session);
    this.#bytes -= this.#sessions.get(key)?.bytes ?? 0;
    this.#sessions.delete(key);
  }

  /** Drops the sessions of tenants. */
  forget(database: string, isGone: (tenant: string) => boolean): void {
    for (const [key, { owner, bytes }] of this.#sessions) {
      if (owner.database !== database || !isGone(owner.tenant)) continue;
      this.#sessions.delete(key);
      this.#bytes -= bytes;
    }
  }
}

function keyOf({ database, tenant }: SessionOwner, session: string): string {
  return JSON.stringify([database, tenant, session]);
}

function bytesOf(session: string, { parameters, atoms, scopes }: WindowSnapshot<unknown>): number {
  let characters = session.length + JSON.stringify(parameters).length;
  for (const atom of atoms) characters += atom.length;
  for (const scope of scopes) characters += scope?.length ?? 0;
  return bytesOfSession + 2 * characters + bytesOfEntry * atoms.length;
}
