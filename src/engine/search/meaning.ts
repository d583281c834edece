/**
 * Finds facts by what a text means: by the cosine of vectors that a provider of embeddings makes of both.
 *
 * Facts are embedded in the background, a batch at a time. A vector belongs to the words of a fact, so that facts that say
 * the same share it. What is not embedded yet is found by its words, and a provider that fails costs only this signal.
 * Vectors are kept beside the log, are not part of backups, and are made again if the model changes.
 */
import { finish, hashSeed } from '../store/hash-slots.ts';
import type { FactRow } from '../store/fact-matching.ts';
import type { FactStore, ScopeChoice } from '../store/fact-store.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import { type FactMeaning, type ReadContext, type Similar, visibleIn } from '../session/read-context.ts';
import { VectorBlocks } from './vector-blocks.ts';
import { textOf } from './word-index.ts';
import { wordsOf } from './words.ts';

/** What a provider makes of texts. */
export type Embedded =
  /** One vector a text, in their order, all of the same length; finite numbers, not all of them 0. */
  | { readonly kind: 'vectors'; readonly vectors: readonly (readonly number[])[] }
  /** It refuses one of the texts. */
  | { readonly kind: 'refused' }
  /** It cannot be used now. `retryAfterMs`: as it asks; null: it says nothing. */
  | { readonly kind: 'failed'; readonly why: string; readonly retryAfterMs: number | null };

/** A provider of embeddings. It never rejects. */
export interface Embedder {
  readonly model: string;
  embed(texts: readonly string[], signal: AbortSignal): Promise<Embedded>;
}

/** The file of the vectors: a journal. */
interface VectorFile {
  load(all: () => readonly Uint8Array[]): Promise<Uint8Array[]>;
  append(record: Uint8Array): void;
  rewrite(): void;
  flush(isDurable: boolean): Promise<boolean>;
}

interface MeaningParts {
  readonly embedder: Embedder;
  /** Facts of a lower cosine are not similar. */
  readonly minScore: number;
  /** The facts of every tenant. */
  readonly stores: () => Iterable<FactStore>;
  readonly file: VectorFile;
  readonly breathe: () => Promise<void>;
  readonly onWarn: (message: string) => void;
  readonly onBug: (error: unknown) => void;
}

/** Of a relation: the slot of each row's vector, plus 1; 0: it has none. */
interface Embeddings {
  rows: Int32Array;
  /** Rows before this one have been looked at. */
  through: number;
}

/** A text that has no vector yet, and the rows that say it. */
interface Waiting {
  readonly key: number;
  readonly text: string;
  readonly places: { readonly of: Embeddings; readonly row: number }[];
}

/** Most vectors of all tenants together: they are compared one by one. */
export const maxVectors = 200_000;
const maxDimensions = 8_192;
/** Texts and their characters in one call. */
const batchTexts = 32;
const batchCharacters = 64_000;
/** Models take some eight thousand tokens. */
const maxCharacters = 8_000;
const queryTimeoutMs = 3_000;
const batchTimeoutMs = 60_000;
const firstPauseMs = 1_000;
const longestPauseMs = 300_000;
/** How long new facts are gathered, and how long removed ones are at most kept. */
const gatherMs = 200;
const sweepMs = 60_000;
const maxQueries = 64;
const rowsBetweenBreaths = 0x3f;
/** Numbers compared between two breaths. */
const numbersBetweenBreaths = 1 << 20;

/** `ready`: every fact is embedded; `stale`: some are not yet; `failed`: the last call failed. */
export type MeaningState = 'ready' | 'stale' | 'failed';

/** The vectors of all tenants' facts. */
export class Meaning implements FactMeaning {
  readonly #parts: MeaningParts;
  readonly #relations = new WeakMap<StoredRelation, Embeddings>();
  #vectors: VectorBlocks | null = null;
  #waiting: Waiting[] = [];
  /** By text, the least recently used first. */
  readonly #queries = new Map<string, Float32Array>();
  readonly #ending = new AbortController();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #work: Promise<void> | null = null;
  #isOpen = false;
  #isBehind = true;
  #isFull = false;
  /** A text of the last batch was refused: they are embedded one by one. */
  #isOneByOne = false;
  #isSweepDue = false;
  /** While vectors are erased: the slots that were given to facts meanwhile. */
  #givenMeanwhile: Set<number> | null = null;
  #erasing: Promise<void> = Promise.resolve();
  #sweptAt = Number.NEGATIVE_INFINITY;
  #pauseMs = 0;
  /** By `performance.now()`. */
  #notBefore = 0;

  constructor(parts: MeaningParts) {
    this.#parts = parts;
  }

  get state(): MeaningState {
    if (this.#pauseMs > 0) return 'failed';
    return this.#isBehind ? 'stale' : 'ready';
  }

  /** The vectors that are kept, and their memory. */
  get figures(): { readonly vectors: number; readonly bytes: number } {
    return { vectors: this.#vectors?.count ?? 0, bytes: this.#vectors?.bytes ?? 0 };
  }

  /** Reads the vectors of earlier, and begins to embed what has none. */
  async open(): Promise<void> {
    const [head, ...records] = await this.#parts.file.load(() => this.#records());
    const earlier = head === undefined ? null : headOf(head);
    if (earlier?.model === this.#parts.embedder.model && earlier.dimensions <= maxDimensions)
      this.#vectors = VectorBlocks.of(earlier.dimensions, records);
    else if (head !== undefined) this.#parts.file.rewrite();
    this.#isOpen = true;
    this.#wake(0);
  }

  /** Called after each write. `hasRemoved`: facts went; `isCleared`: a tenant or a database did. */
  changed({ hasRemoved, isCleared }: { readonly hasRemoved: boolean; readonly isCleared: boolean }): void {
    this.#isBehind = true;
    this.#isSweepDue ||= hasRemoved || isCleared;
    if (isCleared) this.#sweptAt = Number.NEGATIVE_INFINITY;
    this.#wake(gatherMs);
  }

  /**
   * Removes the vectors that no fact has any more, what was asked, and texts of removed facts that wait for a vector;
   * resolves when they are gone from the folder.
   */
  erase(): Promise<void> {
    this.#erasing = this.#erasing.then(() => this.#erase());
    return this.#erasing;
  }

  async close(): Promise<void> {
    this.#ending.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#work;
    await this.#erasing;
  }

  /** The visible facts that mean the most similar to the text, best first: at most `most`, none below the minimum. */
  async similar(context: ReadContext, view: ScopeChoice, text: string, most: number): Promise<Similar[]> {
    const query = await this.#queryVector(text, context);
    const vectors = this.#vectors;
    if (query === null || vectors === null || query.length !== vectors.dimensions) return [];
    const isVisible = visibleIn(context, view);
    const rowsBetween = Math.ceil(numbersBetweenBreaths / vectors.dimensions);
    let best: Similar[] = [];
    let compared = 0;
    for (const relation of context.tenant.facts.relations.values()) {
      const of = this.#relations.get(relation);
      if (of === undefined) continue;
      for (let row = 0; row < of.through; row++) {
        const slot = (of.rows[row] as number) - 1;
        if (slot < 0 || !isVisible(relation, row)) continue;
        const cosine = vectors.cosine(slot, query);
        if (cosine >= this.#parts.minScore) best.push({ fact: { relation, row }, cosine });
        if (best.length >= 4 * most + maxQueries) best = mostSimilar(best, most);
        if (++compared % rowsBetween === 0) await context.pacer.breathe();
      }
    }
    return mostSimilar(best, most);
  }

  async #queryVector(text: string, { pacer }: ReadContext): Promise<Float32Array | null> {
    const asked = text.slice(0, maxCharacters);
    const known = this.#queries.get(asked);
    if (known !== undefined) {
      this.#queries.delete(asked);
      this.#queries.set(asked, known);
      return known;
    }
    const isUseless = (this.#vectors?.count ?? 0) === 0 || performance.now() < this.#notBefore;
    if (isUseless || asked.trim() === '') return null;
    const embedded = await this.#call([asked], queryTimeoutMs);
    // A caller that is gone is noticed here.
    await pacer.breathe();
    pacer.look();
    if (embedded.kind !== 'vectors') return null;
    const vector = unit(embedded.vectors[0] as readonly number[]);
    this.#queries.set(asked, vector);
    for (const [oldest] of this.#queries) if (this.#queries.size > maxQueries) this.#queries.delete(oldest);
    return vector;
  }

  /** Calls the provider, and notes whether it can be used. */
  async #call(texts: readonly string[], timeoutMs: number): Promise<Embedded> {
    const { embedder, onWarn } = this.#parts;
    const signal = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(timeoutMs)]);
    const embedded = await embedder.embed(texts, signal);
    if (this.#ending.signal.aborted) return embedded;
    if (embedded.kind === 'failed') {
      if (this.#pauseMs === 0)
        onWarn(`Embeddings cannot be had: ${embedded.why}. Facts are found by their words meanwhile.`);
      const pause = Math.max(firstPauseMs, 2 * this.#pauseMs, embedded.retryAfterMs ?? 0);
      this.#pauseMs = Math.min(longestPauseMs, pause);
      this.#notBefore = performance.now() + this.#pauseMs;
    } else this.#pauseMs = this.#notBefore = 0;
    return embedded;
  }

  /** Goes on with the background work in this many milliseconds, if it is not going on. */
  #wake(afterMs: number): void {
    if (!this.#isOpen || this.#timer !== null || this.#work !== null || this.#ending.signal.aborted) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        const work = this.#run().catch(this.#parts.onBug);
        this.#work = work.finally(() => {
          this.#work = null;
          if (this.#isBehind || this.#isSweepDue) this.#wake(this.#pauseMs > 0 ? this.#pauseMs : gatherMs);
        });
      },
      Math.max(afterMs, this.#notBefore - performance.now()),
    );
    this.#timer.unref();
  }

  async #run(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      this.#isBehind = false;
      await this.#gather();
      if (this.#waiting.length === 0) break;
      this.#isBehind = true;
      if (!(await this.#embed())) return;
    }
    if (this.#isSweepDue && performance.now() - this.#sweptAt > sweepMs) await this.#sweep();
  }

  /** Looks at new rows until a batch of texts without a vector has come together. */
  async #gather(): Promise<void> {
    const byKey = new Map(this.#waiting.map((each) => [each.key, each]));
    let characters = this.#waiting.reduce((sum, { text }) => sum + text.length, 0);
    let looked = 0;
    for (const facts of this.#parts.stores())
      for (const relation of facts.relations.values()) {
        const of = this.#embeddingsOf(relation);
        while (of.through < relation.count) {
          if (this.#waiting.length >= batchTexts || characters >= batchCharacters) return;
          if ((++looked & rowsBetweenBreaths) === 0) await this.#parts.breathe();
          const row = of.through++;
          if (row >= of.rows.length) of.rows = enlarged(of.rows, row);
          if (!relation.isAlive(row)) continue;
          const text = saidBy(facts, { relation, row });
          const key = keyOf(text);
          const slot = this.#vectors?.find(key) ?? -1;
          const waiting = byKey.get(key);
          if (slot >= 0) this.#give(of, row, slot);
          else if (waiting !== undefined) waiting.places.push({ of, row });
          else if ((this.#vectors?.count ?? 0) + this.#waiting.length >= maxVectors) this.#noteFull();
          else {
            const added = { key, text, places: [{ of, row }] };
            byKey.set(key, added);
            this.#waiting.push(added);
            characters += text.length;
          }
        }
      }
  }

  #noteFull(): void {
    if (!this.#isFull)
      this.#parts.onWarn(
        `${maxVectors.toLocaleString('en')} facts are embedded, which is the most: further ones are found by their words.`,
      );
    this.#isFull = true;
  }

  /** Embeds what waits. False if the provider cannot be used now. */
  async #embed(): Promise<boolean> {
    const batch = this.#isOneByOne ? this.#waiting.slice(0, 1) : this.#waiting;
    const embedded = await this.#call(
      batch.map(({ text }) => text),
      batchTimeoutMs,
    );
    if (embedded.kind === 'failed' || this.#ending.signal.aborted) return false;
    if (embedded.kind === 'refused' && batch.length > 1) {
      this.#isOneByOne = true;
      return true;
    }
    if (embedded.kind === 'vectors') this.#store(batch, embedded.vectors);
    this.#waiting = this.#waiting.filter((each) => !batch.includes(each));
    this.#isOneByOne &&= this.#waiting.length > 0;
    return true;
  }

  #store(batch: readonly Waiting[], made: readonly (readonly number[])[]): void {
    const { file, onWarn } = this.#parts;
    const dimensions = made[0]?.length ?? 0;
    if (this.#vectors !== null && this.#vectors.dimensions !== dimensions) {
      onWarn(
        `The model's vectors have ${dimensions} dimensions in place of ${this.#vectors.dimensions}: all are made again.`,
      );
      this.#beginAgain();
    }
    if (this.#vectors === null) {
      this.#vectors = new VectorBlocks(dimensions);
      file.rewrite();
    }
    for (const [at, each] of batch.entries()) {
      // Its facts were erased while the provider worked.
      if (!this.#waiting.includes(each)) continue;
      const slot = this.#vectors.add(each.key, unit(made[at] as readonly number[]));
      for (const { of, row } of each.places) this.#give(of, row, slot);
    }
    for (const record of this.#vectors.takeChanged()) file.append(record);
  }

  #beginAgain(): void {
    this.#vectors = null;
    this.#queries.clear();
    this.#lookAgain();
    this.#isFull = false;
  }

  /** All rows are looked at again. */
  #lookAgain(): void {
    for (const facts of this.#parts.stores())
      for (const relation of facts.relations.values()) this.#relations.delete(relation);
    this.#isBehind = true;
  }

  #give(of: Embeddings, row: number, slot: number): void {
    of.rows[row] = slot + 1;
    this.#givenMeanwhile?.add(slot);
  }

  async #erase(): Promise<void> {
    this.#queries.clear();
    const used = (this.#givenMeanwhile = new Set<number>());
    const gone = new Set(this.#waiting.map(({ key }) => key));
    let looked = 0;
    for (const facts of this.#parts.stores())
      for (const relation of facts.relations.values())
        for (let row = 0; row < relation.count; row++) {
          if ((++looked & rowsBetweenBreaths) === 0) await this.#parts.breathe();
          if (!relation.isAlive(row)) continue;
          const key = keyOf(saidBy(facts, { relation, row }));
          gone.delete(key);
          const slot = this.#vectors?.find(key) ?? -1;
          if (slot >= 0) used.add(slot);
        }
    this.#givenMeanwhile = null;
    this.#waiting = this.#waiting.filter(({ key }) => !gone.has(key));
    const vectors = this.#vectors;
    if (vectors === null) return;
    const isUsed = new Uint8Array(vectors.slots);
    for (const slot of used) if (slot < isUsed.length) isUsed[slot] = 1;
    if (vectors.keep(isUsed) > 0) this.#parts.file.rewrite();
    await this.#parts.file.flush(true);
  }

  /** Removes the vectors that no fact has any more. */
  async #sweep(): Promise<void> {
    this.#isSweepDue = false;
    const vectors = this.#vectors;
    if (vectors === null) return;
    const isUsed = new Uint8Array(vectors.slots);
    let looked = 0;
    for (const facts of this.#parts.stores())
      for (const relation of facts.relations.values()) {
        const of = this.#embeddingsOf(relation);
        for (let row = 0; row < of.through; row++) {
          if ((++looked & 0xfff) === 0) await this.#parts.breathe();
          const slot = of.rows[row] as number;
          if (slot > 0 && relation.isAlive(row)) isUsed[slot - 1] = 1;
          else of.rows[row] = 0;
        }
        // A row that was not looked at yet may say what a vector is of.
        if (of.through < relation.count) {
          this.#isSweepDue = true;
          return;
        }
      }
    this.#sweptAt = performance.now();
    if (vectors.keep(isUsed) === 0) return;
    this.#parts.file.rewrite();
    if (this.#isFull) this.#lookAgain();
    this.#isFull = false;
  }

  #embeddingsOf(relation: StoredRelation): Embeddings {
    let of = this.#relations.get(relation);
    if (of === undefined) this.#relations.set(relation, (of = { rows: new Int32Array(64), through: 0 }));
    return of;
  }

  /** The records of the file: its head, then the blocks. */
  #records(): Uint8Array[] {
    if (this.#vectors === null) return [];
    const { model } = this.#parts.embedder;
    const head = { model, dimensions: this.#vectors.dimensions };
    return [new TextEncoder().encode(JSON.stringify(head)), ...this.#vectors.records()];
  }
}

/** What a fact says, for the model: the words of its predicate, its arguments, and the texts in its metadata. */
function saidBy(facts: FactStore, fact: FactRow): string {
  const { predicate, negated } = fact.relation;
  const words = wordsOf(predicate).map(({ text }) => text);
  const args = facts.argsOf(fact).map((text) => text.slice(0, maxCharacters).replaceAll('_', ' '));
  const said = `${negated ? 'not ' : ''}${words.join(' ')}: ${args.join(', ')}\n${textOf(facts.metadataOf(fact))}`;
  return said.slice(0, maxCharacters).trim();
}

/** 53 bits: two of 200,000 texts have the same key in one of 400,000 cases. */
function keyOf(text: string): number {
  let [low, high] = [hashSeed, hashSeed ^ text.length];
  for (let at = 0; at < text.length; at++) {
    const unitAt = text.charCodeAt(at);
    low = Math.imul(low ^ unitAt, 0x01000193);
    high = Math.imul(high ^ unitAt, 0x9e3779b1);
    high ^= high >>> 15;
  }
  return (finish(high) >>> 11) * 2 ** 32 + (finish(low) >>> 0);
}

/** The vector of length 1 in the same direction. */
function unit(vector: readonly number[]): Float32Array {
  const length = Math.hypot(...vector);
  return Float32Array.from(vector, (value) => value / length);
}

function mostSimilar(similar: Similar[], most: number): Similar[] {
  return similar.sort((left, right) => right.cosine - left.cosine).slice(0, most);
}

function enlarged(rows: Int32Array, row: number): Int32Array {
  const larger = new Int32Array(row * 2);
  larger.set(rows);
  return larger;
}

function headOf(record: Uint8Array): { readonly model: unknown; readonly dimensions: number } | null {
  try {
    const { model, dimensions } = JSON.parse(new TextDecoder().decode(record)) as Record<string, unknown>;
    return typeof dimensions === 'number' ? { model, dimensions } : null;
  } catch {
    // A file that begins otherwise has no vectors that could be used.
    return null;
  }
}
