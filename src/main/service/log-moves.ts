/**
 * Moves of logs from this node to others: those that an operator asks for, and all of them when the node ends.
 *
 * At its end a node gives each log to a node that follows it. What cannot be given so it gives up, for whichever node sees
 * that first: no write waits for the lease, or for the last snapshot, of a node that ends.
 */
import type { LogMoved, NodeList } from '../../engine/contract/administration.ts';
import { type Engine, EngineError } from '../../engine/index.ts';
import type { WriteGate } from '../http/write-gate.ts';
import { successorIn } from './ending.ts';

interface LogMovesParts {
  readonly engine: () => Pick<
    Engine,
    'nodes' | 'node' | 'makeCopy' | 'handOver' | 'successor' | 'retire' | 'release'
  >;
  readonly holdWrites: WriteGate['hold'];
  /** Resolves when the other nodes that can be reached have looked where these logs are. */
  tellOthers(databases: readonly string[]): Promise<void>;
  /** Is told why a log was not given to another node at the end. */
  readonly onNotGiven: (error: unknown) => void;
}

/** Writes that are under way may take this long to end before a log is moved; others wait. */
export const moveDrainMs = 1000;
/** The same at the end of the node; others wait for 5 s at other nodes. */
const lastDrainMs = 2000;
/** The name of the catalogue's log. */
const catalogue = '';

/** Moves logs of one node. */
export class LogMoves {
  readonly #parts: LogMovesParts;
  /** The logs that this node had when it began to end. */
  #had: readonly string[] = [];

  constructor(parts: LogMovesParts) {
    this.#parts = parts;
  }

  /** Moves the log of the database; null: all that this node has, and the catalogue's. */
  async move(to: string, database: string | null): Promise<LogMoved> {
    if (database !== null) return this.#moveOne(to, database);
    const owned = ownedIn(await this.#parts.engine().nodes());
    const names = owned.filter((name) => name !== catalogue);
    const moves = await Promise.allSettled(names.map((name) => this.#moveOne(to, name)));
    const moved = moves.map((move) => {
      if (move.status === 'rejected') throw move.reason;
      return move.value;
    });
    // Last, so that its owner is asked again if a database stayed.
    if (moved.length === 0 || owned.includes(catalogue)) moved.push(await this.#moveOne(to, catalogue));
    const [first, ...others] = moved;
    if (first === undefined) throw new EngineError('Conflict', 'this node has no log');
    return others.reduce((one, other) => ({ ...other, heldMs: Math.max(one.heldMs, other.heldMs) }), first);
  }

  async #moveOne(to: string, database: string): Promise<LogMoved> {
    const { holdWrites, engine } = this.#parts;
    await engine().makeCopy(to, database);
    let heldMs = 0;
    const moved = await engine().handOver(to, database, {
      hold: async (step) => {
        const startedAt = performance.now();
        const stepped = await holdWrites(moveDrainMs, database, step);
        heldMs = Math.round((performance.now() - startedAt) * 10) / 10;
        return stepped;
      },
    });
    return { ...moved, heldMs };
  }

  /**
   * Lets other nodes have the logs, if there are others, so that writes go on while this node ends. Of a write that takes
   * longer than `lastDrainMs`, such as an import, what it has not stored by then is refused. Never rejects.
   */
  async giveAll(): Promise<void> {
    const engine = this.#parts.engine();
    engine.retire();
    const node = engine.node();
    if (node === null || (node.role === 'copy' && node.owned === 0)) return;
    try {
      const listed = await engine.nodes();
      if (!hasOthers(listed)) return;
      const only = onlyHere(listed);
      this.#had = ownedIn(listed).filter((name) => !only.has(name));
      await Promise.all(
        this.#had.map((database) =>
          this.#give(database === catalogue ? successorIn(listed) : engine.successor(database), database),
        ),
      );
    } catch (error) {
      this.#failed(error);
    }
  }

  #give(to: string | null, database: string): Promise<void> {
    const { holdWrites, engine } = this.#parts;
    const give = async (): Promise<void> => {
      try {
        if (to !== null) {
          await engine().handOver(to, database);
          return;
        }
      } catch (error) {
        this.#failed(error);
      }
      await engine().release(database);
    };
    return holdWrites(lastDrainMs, database, give, 'go on');
  }

  /** Resolves when no other node that can be reached sends requests here for what this one had. Never rejects. */
  async toldOthers(): Promise<void> {
    if (this.#had.length > 0) await this.#parts.tellOthers(this.#had);
  }

  #failed(error: unknown): void {
    // What stays here is given up when the engine closes.
    this.#parts.onNotGiven(error);
  }
}

/** The logs that this node has. */
function ownedIn({ log, databases, nodes }: NodeList): string[] {
  const own = nodes.find(({ self }) => self)?.id;
  if (own === undefined) return [];
  const names = databases.flatMap(({ name, owner }) => (owner === own ? [name] : []));
  return log?.owner === own ? [...names, catalogue] : names;
}

/** The databases of which no other living node has a copy, or is to have one: their last snapshot helps the next owner most. */
function onlyHere({ databases, nodes }: NodeList): ReadonlySet<string> {
  const others = new Set(nodes.filter(({ alive, self }) => alive && !self).map(({ id }) => id));
  const isThere = (id: string): boolean => others.has(id);
  // One that was never placed is at all nodes.
  const only = databases.filter(
    ({ placed, copies }) => placed.length > 0 && !placed.some(isThere) && !copies.some(isThere),
  );
  return new Set(only.map(({ name }) => name));
}

/** Whether a node that answers requests is there beside this one. */
function hasOthers({ nodes }: NodeList): boolean {
  return nodes.some(({ alive, self, address }) => alive && !self && address !== '');
}
