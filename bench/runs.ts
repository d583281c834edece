/**
 * The measurements so far: each run a line of JSON, in memory and in a file if one is given.
 *
 * A line is appended when its run has ended, so that an interrupted benchmark can be continued. A contestant of another
 * version is measured anew; the engine's is a hash of the build. After a change of a workload or a time limit, begin a
 * new file.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Outcome } from './contestants/contestant.ts';
import type { Cell } from './report.ts';
import type { Size } from './workloads/workload.ts';

/** One contestant at one workload of one size. */
export interface Place {
  readonly workload: string;
  readonly size: Size;
  readonly contestant: string;
  readonly version: string;
}

/** A run that ended, or why it did not. */
type Run = Outcome | { readonly reason: string };

export class Runs {
  readonly #file: string | null;
  readonly #runs = new Map<string, Run[]>();

  constructor(file: string | null) {
    this.#file = file;
    if (file === null || !existsSync(file)) return;
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      if (line === '') continue;
      const { place, run } = JSON.parse(line) as { place: Place; run: Run };
      this.#of(place).push(run);
    }
  }

  add(place: Place, run: Run): void {
    this.#of(place).push(run);
    if (this.#file !== null) appendFileSync(this.#file, `${JSON.stringify({ place, run })}\n`);
  }

  /** How many runs there are; a failed run counts for all later ones. */
  count(place: Place): number {
    const runs = this.#of(place);
    return runs.some((run) => 'reason' in run) ? Number.POSITIVE_INFINITY : runs.length;
  }

  cell(place: Place): Cell {
    const runs = this.#of(place);
    const failed = runs.find((run) => 'reason' in run);
    if (failed !== undefined && 'reason' in failed) return failed;
    const outcomes = runs.filter((run) => !('reason' in run)) as Outcome[];
    return outcomes.length > 0 ? { outcomes } : { reason: 'not measured' };
  }

  #of({ workload, size, contestant, version }: Place): Run[] {
    const key = JSON.stringify([workload, size, contestant, version]);
    const runs = this.#runs.get(key) ?? [];
    this.#runs.set(key, runs);
    return runs;
  }
}
