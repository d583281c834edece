import type { Slices } from '../../base/slices.ts';
import { Generations, TextColumn } from '../../store/generations.ts';
import { type ColumnReader, type ColumnWriter, type GenerationNeeded, markedIndexes } from './columns.ts';

/**
 * Reads and writes the generations of one database as of a pinned moment: the newest number, and the times and requests
 * of the needed ones.
 */
export class NeededGenerations {
  readonly #generations: Generations;
  readonly #last: number;
  readonly #isNeeded: Uint8Array;

  /** Create it in the turn of the pin. */
  constructor(generations: Generations) {
    this.#generations = generations;
    this.#last = generations.last;
    this.#isNeeded = new Uint8Array(generations.count);
    // Hypothetical facts carry the newest generation, whatever write made it.
    this.need(generations.last);
  }

  readonly need: GenerationNeeded = (generation) => {
    const index = this.#generations.find(generation);
    if (index >= 0) this.#isNeeded[index] = 1;
  };

  async *write(columns: ColumnWriter, slices: Slices): AsyncGenerator<Uint8Array> {
    const generations = this.#generations;
    const indexes = await markedIndexes(this.#isNeeded, slices);
    yield* columns.json(this.#last);
    yield* columns.float64(indexes.length, (piece, from) => {
      for (let at = 0; at < piece.length; at++)
        piece[at] = generations.at(indexes[from + at] as number).generation;
    });
    yield* columns.float64(indexes.length, (piece, from) => {
      for (let at = 0; at < piece.length; at++) piece[at] = generations.at(indexes[from + at] as number).time;
    });
    yield* columns.texts(requestsOf(generations, indexes));
  }
}

/** Reads what `NeededGenerations` wrote. */
export async function readGenerations(columns: ColumnReader): Promise<Generations> {
  const last = (await columns.json()) as number;
  const numbers = await columns.float64();
  const times = await columns.float64();
  const requests = new TextColumn();
  await columns.texts((text) => requests.addUtf8(text));
  return new Generations(last, { numbers, times, requests });
}

function* requestsOf(generations: Generations, indexes: Int32Array): Generator<Uint8Array> {
  for (const index of indexes) yield generations.at(index).request;
}
