/** What an opening log has to read: its snapshot, and the records after it. */
export interface OpeningWork {
  readonly snapshotBytes: number;
  /** Bytes of the segments after the snapshot, and how many records they contain. */
  readonly recordBytes: number;
  readonly records: number;
}

/** Records add up to a little less than their bytes. */
const rounding = 1e-6;

/**
 * How much of an opening log has been read, by its bytes. `report` gets whole per cent: each at most once, in order,
 * first 0.
 */
export class OpeningProgress {
  readonly #bytes: number;
  readonly #bytesOfRecord: number;
  readonly #report: (percent: number) => void;
  #read = 0;
  #nextAt = 0;

  constructor({ snapshotBytes, recordBytes, records }: OpeningWork, report: (percent: number) => void) {
    this.#bytes = Math.max(1, snapshotBytes + recordBytes);
    this.#bytesOfRecord = records === 0 ? 0 : recordBytes / records;
    this.#report = report;
    this.#add(0);
  }

  /** Counts bytes of the snapshot. */
  snapshotRead(bytes: number): void {
    this.#add(bytes);
  }

  /** Counts one record: all weigh the same, since nobody keeps their sizes. */
  recordApplied(): void {
    this.#add(this.#bytesOfRecord);
  }

  #add(bytes: number): void {
    this.#read += bytes;
    if (this.#read < this.#nextAt) return;
    const percent = Math.min(100, Math.floor((100 * this.#read) / this.#bytes + rounding));
    this.#nextAt = percent === 100 ? Number.POSITIVE_INFINITY : ((percent + 1) * this.#bytes) / 100;
    this.#report(percent);
  }
}
