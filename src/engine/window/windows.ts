import type { ReadContext } from '../session/read-context.ts';
import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import { WindowSessions, type WindowSnapshot } from './window-sessions.ts';
import type { ContextWindow, OptimizeInput, WindowDiff, WindowDiffInput } from '../contract/context.ts';
import type { ContextEntry } from '../contract/memory.ts';
import type { LiveState } from '../session/live-state.ts';
import { parseAtom } from '../language/parse.ts';
import { renderAtom } from '../language/print.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import type { Report } from '../state/report.ts';
import { contextWindow } from './window.ts';

/**
 * Serves context windows, alone or as a session in which each window is compared with the previous one.
 *
 * A window that is being built does not revive a session that was cleared, or whose tenant was deleted, in the
 * meantime.
 */
export class Windows {
  readonly #live: LiveState;
  readonly #newId: () => string;
  readonly #sessions = new WindowSessions<OptimizeInput>();

  constructor(live: LiveState, newId: () => string) {
    this.#live = live;
    this.#newId = newId;
  }

  /** Number of remembered sessions. */
  get sessions(): number {
    return this.#sessions.size;
  }

  async optimize(caller: Caller, input: OptimizeInput): Promise<ContextWindow> {
    return this.#reading(caller, input, async (context) => {
      const window = await contextWindow(context, input, this.#newId);
      if (input.sessionId !== null) await this.#keep(caller, context, input.sessionId, input, window);
      return window;
    });
  }

  async diff(caller: Caller, input: WindowDiffInput): Promise<WindowDiff> {
    const { sessionId } = input;
    const previous = this.#sessions.find(caller, sessionId);
    if (previous === null) throw noSuchSession(sessionId);
    const parameters = withChanges(previous.parameters, input);
    return this.#reading(caller, parameters, async (context) => {
      const window = await contextWindow(context, { ...parameters, explainOmitted: false }, this.#newId);
      const diff = await differences(previous, window, context.pacer);
      if (this.#sessions.find(caller, sessionId) !== null)
        await this.#keep(caller, context, sessionId, parameters, window);
      return diff;
    });
  }

  clear(caller: Caller, sessionId: string): string {
    this.#live.refuseClosed();
    this.#live.database(caller);
    this.#sessions.drop(caller, sessionId);
    return `Session '${sessionId}' cleared`;
  }

  /** Must be called after a write was applied: drops the sessions of deleted tenants. */
  applied({ database, cleared }: Report): void {
    if (cleared === null) return;
    const { tenants, isDatabaseGone } = cleared;
    this.#sessions.forget(database.name, (tenant) => isDatabaseGone || tenants.has(tenant));
  }

  #reading<Result>(
    caller: Caller,
    { goals, includeInferred, timeoutMs }: OptimizeInput,
    read: (context: ReadContext) => Promise<Result>,
  ): Promise<Result> {
    const limits = { timeoutMs, maxDerivations: Number.POSITIVE_INFINITY };
    const isDerived = includeInferred || (goals !== null && goals.length > 0);
    return this.#live.reading(caller, limits, read, isDerived ? null : []);
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
  const { maxFacts, goals, scope, unscoped } = input;
  return {
    ...parameters,
    ...(maxFacts === null ? {} : { maxFacts }),
    ...(goals === null ? {} : { goals }),
    ...(scope === null && !unscoped ? {} : { scope, unscoped }),
  };
}

/** A full refresh is recommended above this fraction of changed entries. */
const maxChangedShare = 0.5;

async function differences(
  before: WindowSnapshot<OptimizeInput>,
  { windowId, entries }: ContextWindow,
  pacer: Pacer,
): Promise<WindowDiff> {
  const had = new Set(before.atoms);
  const has = new Set<string>();
  const added: WindowDiff['added'] = [];
  for (const entry of entries) {
    const atom = renderAtom(entry);
    has.add(atom);
    if (!had.has(atom)) added.push(shown(entry));
    if ((has.size & 0x3ff) === 0) await pacer.breathe();
  }
  const removed: WindowDiff['removed'] = [];
  for (const [at, atom] of before.atoms.entries()) {
    if ((at & 0x3ff) === 0x3ff) await pacer.breathe();
    if (has.has(atom)) continue;
    const { predicate, args, negated } = parseAtom(atom);
    const key = [predicate, ...args].join('/');
    removed.push({ key, predicate, args: [...args], negated, scope: before.scopes[at] ?? null });
  }
  const changed = added.length + removed.length;
  const fullRefreshRecommended = changed / Math.max(before.atoms.length, 1) > maxChangedShare;
  const reason = `${changed} entries were added or removed, more than half of the ${before.atoms.length} of the previous window`;
  return {
    previousWindowId: before.windowId,
    currentWindowId: windowId,
    added,
    removed,
    unchanged: has.size - added.length,
    fullRefreshRecommended,
    reason: fullRefreshRecommended ? reason : null,
  };
}

function shown({
  predicate,
  args,
  negated,
  salience,
  category,
  charCount,
}: ContextEntry): WindowDiff['added'][number] {
  return { predicate, args, negated, salience, category, charCount };
}

function noSuchSession(sessionId: string): EngineError {
  return new EngineError(
    'SessionNotFound',
    `there is no session ${sessionId}: create a window with this sessionId by POST /context/optimize first; ` +
      `sessions end with the process, and the least recently used are dropped when there are many`,
  );
}
