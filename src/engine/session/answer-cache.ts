import { LruCache } from '../base/lru-cache.ts';
import type { Answer, AskInput, Proof } from '../contract/inference.ts';
import type { FactRow } from '../store/fact-store.ts';
import type { PinnedReader, Reasoner } from '../datalog/maintain/reasoner.ts';

/** An answer as it is written, but for what is of the moment. */
export type WrittenAnswer = Omit<Answer, 'generation' | 'elapsedMs'>;

/** The parts of a question that its answer depends on, as a text of its own. */
export function askedKey(input: AskInput): string {
  const { predicate, args, negated, body, text, scope, unscoped, withProof, allProofs, limit, offset } =
    input;
  return JSON.stringify([
    predicate,
    args,
    negated,
    body,
    text,
    scope,
    unscoped,
    withProof,
    allProofs,
    limit,
    offset,
  ]);
}

interface CachedAnswer {
  /** Of the reasoner, when the answer was made. */
  readonly version: number;
  readonly answer: WrittenAnswer;
  /** Numbers of the stored facts that it used: a row here would keep a relation that is gone. */
  readonly used: readonly number[];
}

const maxRows = 100;
const maxSteps = 1000;
/** The part of the cache that one answer may take. */
const largestPart = 1 / 16;
/** About what an answer, a row of it and a step of its proof take beside their texts. */
const answerBytes = 600;
const rowBytes = 200;
const stepBytes = 400;

/**
 * Answers that were given, as they were written, for callers that ask the same again before anything changes: their tables
 * are there, but to find, order and write what is in them costs many times what the look-up of an answer costs.
 *
 * An answer is used only for a reader of the version that it was made for, and a version moves with every change that an
 * answer can notice (`Reasoner.version`), so that callers cannot tell. What the answer used counts as used again. Long
 * answers are not cached: to send one costs more than to make it. All tenants share the bytes.
 */
export class AnswerCache {
  readonly #answers: LruCache<Reasoner, CachedAnswer>;
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#answers = new LruCache(Number.POSITIVE_INFINITY, maxBytes);
  }

  get bytes(): number {
    return this.#answers.bytes;
  }

  /** The answer for the state that the reader sees, with the numbers of the facts that it used; null: there is none. */
  find(reasoner: Reasoner, reader: PinnedReader, key: string): Pick<CachedAnswer, 'answer' | 'used'> | null {
    if (reader.overlay !== null) return null;
    const cached = this.#answers.get(reasoner, key);
    return cached?.version === reader.version ? cached : null;
  }

  /** Caches an answer to the question, unless it is long or of a state that has passed. */
  keep(
    reasoner: Reasoner,
    reader: PinnedReader,
    key: string,
    answer: WrittenAnswer,
    used: ReadonlySet<FactRow>,
  ): void {
    const { version } = reader;
    if (reader.overlay !== null || version !== reasoner.version || reasoner.isRetired) return;
    if (answer.count > maxRows || (answer.proof?.steps.length ?? 0) > maxSteps) return;
    const bytes = bytesOf(key, answer, used.size);
    if (bytes > this.#maxBytes * largestPart) return;
    const numbers = Array.from(used, ({ relation, row }) => relation.number[row] as number);
    this.#answers.set(reasoner, key, { version, answer, used: numbers }, bytes);
  }
}

/** About what an answer takes: two bytes a character, and something for each object. */
function bytesOf(key: string, { results, bindings, proof, hints = [] }: WrittenAnswer, used: number): number {
  let characters = key.length;
  for (const text of [...results, ...hints]) characters += text.length;
  for (const binding of bindings)
    for (const name in binding) characters += name.length + (binding[name]?.length ?? 0);
  return (
    answerBytes + 2 * characters + 8 * used + rowBytes * results.length + (proof ? bytesOfProof(proof) : 0)
  );
}

function bytesOfProof({ steps, roots }: Proof): number {
  let bytes = 8 * roots.length + stepBytes * steps.length;
  for (const { atom, rule, premises, metadata, alternatives } of steps) {
    bytes += 2 * (atom.length + (rule?.length ?? 0)) + 8 * premises.length;
    if (metadata !== undefined) bytes += 4 * JSON.stringify(metadata).length;
    for (const other of alternatives ?? []) bytes += 100 + 2 * other.rule.length + 8 * other.premises.length;
  }
  return bytes;
}
