/**
 * A state as the logs of a store have it, one for each database and one for the catalogue, and the way back.
 *
 * A kept outcome of a caller with a credential does not say to which database it belongs: each log gets those, for the day
 * that they are remembered.
 */
import { DatabaseState, State } from '../state/state.ts';
import type { RestoredState } from '../state/state-snapshot.ts';
import { StoredOutcomes } from '../state/idempotency.ts';
import type { Tallies } from '../datalog/model/program.ts';
import { CATALOGUE } from '../log/log-names.ts';

/** The state of one log. */
export interface StateOfLog extends RestoredState {
  /** The name of the log. */
  readonly name: string;
  /** True: its database was deleted, and the log keeps its last generation. */
  readonly isEnded: boolean;
}

/** The catalogue's first, then those of databases. They share what they have with the state, which must not be used again. */
export function dividedState({ state, tallies }: RestoredState): StateOfLog[] {
  const partOf = (name: string, isEnded: boolean): StateOfLog => {
    const part = new State();
    part.sequence = 1;
    part.time = state.time;
    part.wall = state.wall;
    part.idempotency = outcomesFor(name, state);
    return { name, isEnded, state: part, tallies };
  };
  const catalogue = partOf(CATALOGUE, false);
  catalogue.state.keys = state.keys;
  const own = new DatabaseState('default', state.time);
  own.stamped = { time: state.time, wall: state.wall };
  catalogue.state.databases.set(own.name, own);
  const parts = [catalogue];
  for (const [name, database] of state.databases) {
    const part = partOf(name, false);
    part.state.databases.set(name, database);
    const gone = state.goneDatabases.get(name);
    if (gone !== undefined) part.state.goneDatabases.set(name, gone);
    parts.push(part);
  }
  for (const [name, generation] of state.goneDatabases) {
    if (state.databases.has(name)) continue;
    const part = partOf(name, true);
    part.state.goneDatabases.set(name, generation);
    parts.push(part);
  }
  return parts;
}

/** Those of the database's anonymous callers, and those of callers with a credential. */
function outcomesFor(name: string, { idempotency }: State): StoredOutcomes {
  const outcomes = new StoredOutcomes();
  for (const outcome of idempotency.all()) {
    const { space } = outcome.mark;
    if (space === '' || (JSON.parse(space) as string[])[0] === name) outcomes.put(outcome);
  }
  return outcomes;
}

/** The one state of all logs of a store. They must not be used again. */
export function joinedState(parts: readonly StateOfLog[]): RestoredState {
  const joined = new State();
  const tallies = new Map<DatabaseState, Tallies>();
  for (const { name, state, tallies: ofPart } of parts) {
    joined.sequence += state.sequence;
    if (state.time >= joined.time) joined.wall = state.wall;
    joined.time = Math.max(joined.time, state.time);
    for (const [database, generation] of state.goneDatabases) joined.goneDatabases.set(database, generation);
    if (name === CATALOGUE) joined.keys = state.keys;
    else for (const [database, each] of state.databases) joined.databases.set(database, each);
    for (const [database, each] of ofPart)
      if (joined.databases.get(database.name) === database) tallies.set(database, each);
  }
  const outcomes = parts.flatMap(({ state }) => [...state.idempotency.all()]);
  for (const outcome of outcomes.toSorted((one, other) => one.time - other.time))
    joined.idempotency.put(outcome);
  return { state: joined, tallies };
}
