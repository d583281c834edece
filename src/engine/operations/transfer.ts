/** Operations that take knowledge in and give it out: learning, import, export. */
import { unlimited } from '../session/writer.ts';
import type { Caller } from '../base/caller.ts';
import { Slices } from '../base/slices.ts';
import { exportKnowledge, type ExportTaker, type ExportChoice } from '../read/export-knowledge.ts';
import { spaceOf } from '../state/idempotency.ts';
import { beginImport, supposeImport, type StoredImport, type Import } from '../write/importing.ts';
import { learn, learnedOf, type Learned, type Learning } from '../write/learn.ts';
import type { EngineContext } from './engine-context.ts';

/** Stores all that a text taught, in one generation, or nothing. */
export function learnText(engine: EngineContext, caller: Caller, learning: Learning): Promise<Learned> {
  return learn(engine, caller, learning, engine.parts.pause);
}

/** What the first request with the caller's idempotency key came to, where that learned something; else null. */
export function learned(engine: EngineContext, caller: Caller): Learned | null {
  const kept = engine.earlierOutcome(caller);
  return kept === null ? null : learnedOf(kept);
}

/** Begins an import, of a new id; `dryRun`: it writes nothing, and counts what it would. */
export function beginImporting(engine: EngineContext, caller: Caller, dryRun: boolean): Import {
  engine.live.refuseClosed();
  const begin = dryRun ? supposeImport : beginImport;
  return begin(engine, caller, engine.newId(), new Slices(engine.parts.pause));
}

/** What the caller's first request with this idempotency key came to, in the last 24 hours; null: there was none. */
export function keptImport(engine: EngineContext, caller: Caller, key: string): StoredImport | null {
  const { idempotency } = engine.parts.state;
  const kept = idempotency.get(caller.credential, spaceOf(caller), key, engine.live.showTime());
  if (kept === null) return null;
  const { note } = JSON.parse(kept.outcome) as { readonly note?: string };
  return { fingerprint: kept.mark.fingerprint, answer: note ?? null };
}

/** Hands what is stored over, piece by piece: see `exportKnowledge`. */
export async function exportFacts(
  engine: EngineContext,
  caller: Caller,
  choice: ExportChoice,
  taker: ExportTaker,
): Promise<void> {
  return engine.live.reading(caller, unlimited, (context) => exportKnowledge(context, choice, taker));
}
