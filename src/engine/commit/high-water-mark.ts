import type { QuestionHeap } from '../store/memory-meter.ts';

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
  /** The share of the heap of V8 that is in use, garbage included. */
  heapShare(): number;
  /** Frees what is no longer needed, at once: garbage counts as used. */
  collect(): void;
  /** A time in milliseconds that never goes back. */
  now(): number;
}

/**
 * What is nearest to its mark, in bytes: the memory of the process, or the heap of V8, which ends first if its limit is smaller
 * than the memory of the machine.
 */
export function nearestMark({ resident, residentMark, heap, heapMark }: MemoryReading = nothingRead): {
  readonly used: number;
  readonly allowed: number;
  readonly isHeap: boolean;
} {
  const isHeap = heapMark - heap < residentMark - resident;
  return isHeap
    ? { used: heap, allowed: heapMark, isHeap }
    : { used: resident, allowed: residentMark, isHeap };
}

/** Bytes of writes, and milliseconds, after which the memory is measured again. */
const maxUnmeasuredBytes = 1024 * 1024;
const measuredForMs = 100;
/**
 * After memory was freed in vain, it is not freed again for this many times as long as that took, and at least this many
 * milliseconds, unless something was deleted.
 */
const pauseFactor = 20;
const minPauseMs = 1000;
/** Freeing memory was worth it if this share of the mark was free afterwards. */
const worthwhileShare = 1 / 16;

/** Decides whether there is memory for a write. Without a gauge there always is. */
export class HighWaterMark {
  readonly #gauge: MemoryGauge | null;
  /** Frees what the engine can do without. */
  readonly #free: () => void;
  #reading: MemoryReading | null = null;
  #measuredAt = Number.NEGATIVE_INFINITY;
  /** Until then it would be in vain to free memory. */
  #vainUntil = Number.NEGATIVE_INFINITY;
  /** Bytes of the writes since the last measurement. */
  #unmeasured = 0;

  constructor(gauge: MemoryGauge | null, free: () => void) {
    this.#gauge = gauge;
    this.#free = free;
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
    const start = gauge.now();
    if (start >= this.#vainUntil) {
      this.#free();
      gauge.collect();
      this.#measure(gauge);
      const isWorthwhile = this.#room >= this.full().allowed * worthwhileShare;
      const pause = Math.max(minPauseMs, (gauge.now() - start) * pauseFactor);
      this.#vainUntil = isWorthwhile ? Number.NEGATIVE_INFINITY : gauge.now() + pause;
    }
    return this.take(bytes);
  }

  /** Called when something was deleted: freeing memory may now help. */
  deleted(): void {
    this.#vainUntil = Number.NEGATIVE_INFINITY;
  }

  /** What is at its mark: the quantity, and the mark. */
  full(): ReturnType<typeof nearestMark> {
    return nearestMark(this.#reading ?? undefined);
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

/**
 * Above this share of the heap, questions that go on growing are refused. Its limit includes the young generation, and long
 * texts leave gaps in its pages.
 */
const questionHeapShare = 0.7;

type HeapGauge = Pick<MemoryGauge, 'heapShare' | 'collect' | 'now'>;

/** How a heap is watched. */
interface HeapWatching {
  /** See `QuestionHeap`. */
  readonly remedy: string;
  /** After garbage was collected in vain, none is for this many times as long as that took, and at least `minPauseMs`. */
  readonly pauseFactor: number;
  readonly minPauseMs: number;
}

/** A collection of the serving thread's heap stops everybody. */
const servingHeap: HeapWatching = {
  remedy: 'give the process a larger heap (NODE_OPTIONS=--max-old-space-size)',
  pauseFactor,
  minPauseMs,
};

/** Watches the heap for questions. */
class HeapWatch implements QuestionHeap {
  readonly remedy: string;
  readonly #gauge: HeapGauge;
  readonly #watching: HeapWatching;
  /** Until then it would be in vain to collect garbage. */
  #vainUntil = Number.NEGATIVE_INFINITY;

  constructor(gauge: HeapGauge, watching: HeapWatching) {
    this.#gauge = gauge;
    this.#watching = watching;
    this.remedy = watching.remedy;
  }

  isNearlyFull(): boolean {
    const gauge = this.#gauge;
    if (gauge.heapShare() < questionHeapShare) return false;
    const start = gauge.now();
    if (start < this.#vainUntil) return true;
    gauge.collect();
    const isFull = gauge.heapShare() >= questionHeapShare;
    const end = gauge.now();
    // A collection stops the thread.
    const { minPauseMs: least, pauseFactor: times } = this.#watching;
    if (isFull) this.#vainUntil = end + Math.max(least, (end - start) * times);
    return isFull;
  }
}

/** What questions look at while they grow; null: nothing is measured. */
export function heapOf(gauge: HeapGauge | null, watching = servingHeap): QuestionHeap | null {
  return gauge === null ? null : new HeapWatch(gauge, watching);
}

const nothingRead: MemoryReading = {
  resident: 0,
  residentMark: Number.POSITIVE_INFINITY,
  heap: 0,
  heapMark: Number.POSITIVE_INFINITY,
};
