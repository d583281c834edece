/**
 * What a reader may demand of the state that answers: no older than a token that an earlier answer had, or the latest.
 *
 * A log in a folder has one reader, so both are always true there. With the log in a store other nodes hold copies, and the
 * owner can have been replaced meanwhile.
 */
import { EngineError, invalid } from '../base/errors.ts';
import { noOwner } from '../log/frame-store.ts';
import type { EngineContext } from './engine-context.ts';

/** Milliseconds that a reader waits for the clock of this node to reach that of its token. */
const WAIT_MS = 500;
const PATTERN = /^([0-9a-f]{8})\.(\d{1,16})\.(\d{1,16})$/;

/**
 * The token of what the database shows now: the history's first 8 digits, its generation, and the visible time in epoch
 * milliseconds, joined by dots. null: there is no such database.
 */
export function tokenOf({ parts, live }: EngineContext, database: string): string | null {
  const generation = parts.state.databases.get(database)?.lastGeneration;
  if (generation === undefined) return null;
  return `${parts.log.historyId.slice(0, 8)}.${generation}.${live.showTime()}`;
}

/**
 * Resolves when the database shows no less than at the token. Rejects with ValidationException (no token, or one that the
 * database never had), HistoryChanged, or NoOwner (this node cannot show that state).
 */
export async function atLeast(context: EngineContext, database: string, token: string): Promise<void> {
  const [, history = '', generation = '', instant = ''] = PATTERN.exec(token) ?? [];
  if (history === '') throw badToken('must be the X-Token of an earlier answer');
  const { log, state } = context.parts;
  const { tail } = context;
  // Another node may have shown what is still being applied here.
  const known = (): number => state.databases.get(database)?.shownGeneration ?? Number.POSITIVE_INFINITY;
  if (!log.isRemote) return;
  const isBehind =
    !log.historyId.startsWith(history) || !state.databases.has(database) || known() < Number(generation);
  if (isBehind && tail?.role === 'copy') await tail.confirm(WAIT_MS);
  if (!log.historyId.startsWith(history))
    throw new EngineError(
      'HistoryChanged',
      'This token is of another database, or PostgreSQL has lost what it was given for. Drop it, and read again what you rely on.',
    );
  if (known() < Number(generation)) {
    await context.confirm();
    if (known() < Number(generation)) throw badToken('has a generation that this database never had');
  }
  const behind = Number(instant) - context.live.showTime();
  if (behind > WAIT_MS)
    throw noOwner('The clock of this node is behind that of the one that gave the token.');
  if (behind > 0) await new Promise((resolve) => setTimeout(resolve, behind));
}

function badToken(message: string): EngineError {
  return invalid('X-At-Least', message);
}
