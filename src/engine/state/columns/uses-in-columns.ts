import type { Slices } from '../../base/slices.ts';
import type { FactUses } from '../../store/fact-uses.ts';
import type { Uses } from '../../store/salience.ts';
import type { ColumnReader, ColumnWriter } from './columns.ts';

/** Facts processed between two clock checks. */
const factsInSlice = 4096;

/**
 * Writes the uses of the facts with numbers below `facts`, as of the pin. Reading them requires what `writeFacts` wrote
 * at the same moment.
 */
export async function* writeUses(
  uses: FactUses,
  facts: number,
  columns: ColumnWriter,
  slices: Slices,
): AsyncGenerator<Uint8Array> {
  const numbers: number[] = [];
  const noted: Uses[] = [];
  const latest: number[] = [];
  for (let number = 0; number < facts; number++) {
    if (number % factsInSlice === factsInSlice - 1) await slices.breathe();
    const known = uses.pinnedOf(number);
    if (known === null) continue;
    numbers.push(number);
    noted.push(known);
    for (const time of known.latest) latest.push(time);
  }
  yield* columns.int32(numbers.length, (piece, from) => piece.set(numbers.slice(from, from + piece.length)));
  const floats = (valueOf: (uses: Uses) => number): AsyncGenerator<Uint8Array> =>
    columns.float64(noted.length, (piece, from) => {
      for (let at = 0; at < piece.length; at++) piece[at] = valueOf(noted[from + at] as Uses);
    });
  yield* floats(({ count }) => count);
  yield* floats(({ first }) => first);
  yield* floats((each) => each.latest.length);
  yield* columns.float64(latest.length, (piece, from) => piece.set(latest.slice(from, from + piece.length)));
}

/** Reads what `writeUses` wrote, into the uses of the same tenant's facts. */
export async function readUses(columns: ColumnReader, uses: FactUses, slices: Slices): Promise<void> {
  const numbers = await columns.int32();
  const counts = await columns.float64();
  const firsts = await columns.float64();
  const lengths = await columns.float64();
  const latest = await columns.float64();
  let from = 0;
  for (const [at, number] of numbers.entries()) {
    if (at % factsInSlice === factsInSlice - 1) await slices.breathe();
    const end = from + (lengths[at] as number);
    const times = Array.from(latest.subarray(from, end));
    uses.restore(number, { count: counts[at] as number, first: firsts[at] as number, latest: times });
    from = end;
  }
}
