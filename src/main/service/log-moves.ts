/** Moves logs from this node to others: one, all, or at the end of the service those that another node can go on with. */
import type { LogMoved } from '../../engine/contract/administration.ts';
import { type Engine, present } from '../../engine/index.ts';
import { successorIn } from './ending.ts';

/** What moves need of the service. */
interface LogMovesParts {
  readonly engine: () => Pick<Engine, 'node' | 'nodes' | 'makeCopy' | 'handOver' | 'successor'>;
  /** Runs the step while no write to the database is answered here. */
  readonly holdWrites: <Result>(database: string, step: () => Promise<Result>) => Promise<Result>;
}

/** Moves of logs by this node. */
export class LogMoves {
  readonly #parts: LogMovesParts;

  constructor(parts: LogMovesParts) {
    this.#parts = parts;
  }

  /** Lets the node store the writes to the database; null: to everything that this node owns, the catalogue last. */
  async move(to: string, database: string | null): Promise<LogMoved> {
    if (database !== null) return this.#moveOne(to, database);
    const { hasCatalogue, names } = await this.#owned();
    const moves = await Promise.allSettled(names.map((name) => this.#moveOne(to, name)));
    const moved = moves.map((move) => {
      if (move.status === 'rejected') throw move.reason;
      return move.value;
    });
    // Last, so that its owner is asked again if a database stayed.
    if (moved.length === 0 || hasCatalogue) moved.push(await this.#moveOne(to, ''));
    const last = present(moved.at(-1), 'something was moved');
    return { ...last, heldMs: Math.max(...moved.map(({ heldMs }) => heldMs)) };
  }

  /** Gives each log to a node that has a copy of it, if there is one. Rejects as the first of the moves that failed. */
  async giveAll(): Promise<void> {
    const { hasCatalogue, names, list } = await this.#owned();
    const moves = names.map(async (name) => {
      const to = this.#parts.engine().successor(name);
      if (to !== null) await this.#moveOne(to, name);
    });
    const moved = await Promise.allSettled(moves);
    const to = successorIn(list);
    if (to !== null && hasCatalogue) await this.#moveOne(to, '');
    for (const move of moved) if (move.status === 'rejected') throw move.reason;
  }

  async #owned() {
    const list = await this.#parts.engine().nodes();
    const own = list.nodes.find(({ self }) => self)?.id;
    const names = list.databases.flatMap(({ name, owner }) => (owner === own ? [name] : []));
    return { list, names, hasCatalogue: list.log?.owner === own };
  }

  /** `database`: empty for the catalogue. */
  async #moveOne(to: string, database: string): Promise<LogMoved> {
    const engine = this.#parts.engine();
    await engine.makeCopy(to, database);
    const startedAt = performance.now();
    const moved = await this.#parts.holdWrites(database, () => engine.handOver(to, database));
    return { ...moved, heldMs: Math.round((performance.now() - startedAt) * 10) / 10 };
  }
}
