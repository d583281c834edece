/**
 * The memory of the process, and the mark above which no more knowledge is stored.
 *
 * A process that runs out of memory dies for every client. Below the mark there is room for questions and for what the
 * operating system or V8 needs beyond the knowledge. The memory is not measured with each write: between two
 * measurements, the writes since the last one count with an estimate of their bytes.
 */

/** Memory in bytes, and how much of it may be used before writes are refused. */
export interface MemoryReading {
  /** The resident memory of the process. */
  readonly resident: number;
  readonly residentMark: number;
  /** The heap of V8, which has a limit of its own. */
  readonly heap: number;
  readonly heapMark: number;
}

/** Measures the memory of the process; the service provides it. */
export interface MemoryGauge {
  read(): MemoryReading;
  /** Frees what is no longer needed, at once: garbage counts as used. */
  collect(): void;
  /** A time in milliseconds that never goes back. */
  now(): number;
}

/** Bytes of writes, and milliseconds, after which the memory is measured again. */
const maxUnmeasuredBytes = 1024 * 1024;
const measuredForMs = 100;
/** After freeing little memory, nothing is freed for this time, unless something was deleted. */
const relievedForMs = 10_000;
/** Freeing memory was worth it if this share of the mark was free afterwards. */
const worthwhileShare = 1 / 16;

/** Decides whether there is memory for a write. Without a gauge there always is. */
export class HighWaterMark {
  readonly #gauge: MemoryGauge | null;
  /** Drops everything derived, which can be derived again. */
  readonly #evict: () => void;
  #reading: MemoryReading | null = null;
  #measuredAt = Number.NEGATIVE_INFINITY;
  /** When memory was last freed in vain. */
  #failedAt = Number.NEGATIVE_INFINITY;
  /** Bytes of the writes since the last measurement. */
  #unmeasured = 0;

  constructor(gauge: MemoryGauge | null, evict: () => void) {
    this.#gauge = gauge;
    this.#evict = evict;
  }

  /** Takes room for a write; false if there is none. */
  take(bytes: number): boolean {
    const gauge = this.#gauge;
    if (gauge === null) return true;
    const isOld = gauge.now() - this.#measuredAt >= measuredForMs;
    if (isOld || this.#unmeasured + bytes > maxUnmeasuredBytes) this.#measure(gauge);
    if (this.#unmeasured + bytes >= this.#room) return false;
    this.#unmeasured += bytes;
    return true;
  }

  /** Frees derived data and garbage, unless that was in vain a moment ago; then tries again to take room. */
  takeAfterRelief(bytes: number): boolean {
    const gauge = this.#gauge;
    if (gauge === null) return true;
    if (gauge.now() - this.#failedAt >= relievedForMs) {
      this.#evict();
      gauge.collect();
      this.#measure(gauge);
      const isWorthwhile = this.#room >= this.full().allowed * worthwhileShare;
      this.#failedAt = isWorthwhile ? Number.NEGATIVE_INFINITY : gauge.now();
    }
    return this.take(bytes);
  }

  /** Called when something was deleted: freeing memory may now help. */
  deleted(): void {
    this.#failedAt = Number.NEGATIVE_INFINITY;
  }

  /** What is at its mark: the quantity, and the mark. */
  full(): { readonly used: number; readonly allowed: number; readonly isHeap: boolean } {
    const { resident, residentMark, heap, heapMark } = this.#reading ?? nothingRead;
    const isHeap = heapMark - heap < residentMark - resident;
    return isHeap
      ? { used: heap, allowed: heapMark, isHeap }
      : { used: resident, allowed: residentMark, isHeap };
  }

  get #room(): number {
    const { used, allowed } = this.full();
    return allowed - used;
  }

  #measure(gauge: MemoryGauge): void {
    this.#reading = gauge.read();
    this.#measuredAt = gauge.now();
    this.#unmeasured = 0;
  }
}

const nothingRead: MemoryReading = {
  resident: 0,
  residentMark: Number.POSITIVE_INFINITY,
  heap: 0,
  heapMark: Number.POSITIVE_INFINITY,
};
