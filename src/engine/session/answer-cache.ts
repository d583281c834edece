import type { Answer, AskInput, Proof } from '../contract/inference.ts';
import type { FactRow } from '../store/fact-store.ts';
import type { PinnedReader, Reasoner } from '../datalog/maintain/reasoner.ts';

/**
 * Answers that were given, written out as they were, for who asks the same again before anything changes: their tables are
 * there, but to find, order and write what is in them costs many times what it takes to look the answer up.
 *
 * An answer is used only for a reader of the version that it was made for, and a version moves with every change that an
 * answer can notice (`Reasoner.version`): so nobody can tell. What the answer used counts as used again. Long answers are
 * not kept: to send them costs more than to make them. All tenants share the bytes; answers used longest ago go first.
 */
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

interface Kept {
  readonly key: string;
  readonly answer: WrittenAnswer;
  /** Numbers of the stored facts that it used: a row here would keep a relation that is no more. */
  readonly used: readonly number[];
  readonly bytes: number;
}

/** The answers of one tenant, all of one version. */
interface OfTenant {
  version: number;
  readonly answers: Map<string, Kept>;
}

const mostRows = 100;
const mostSteps = 1000;
/** About what an answer, a row of it and a step of its proof take beside their texts. */
const answerBytes = 600;
const rowBytes = 200;
const stepBytes = 400;

export class AnswerCache {
  readonly #mostBytes: number;
  readonly #tenants = new WeakMap<Reasoner, OfTenant>();
  /** All of them, the one used last comes last; an answer of a tenant or a version that is no more goes in its turn. */
  readonly #order = new Map<Kept, WeakRef<OfTenant>>();
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The answer where it is kept for the state that the reader sees, with the numbers of the facts that it used. */
  find(reasoner: Reasoner, reader: PinnedReader, key: string): Pick<Kept, 'answer' | 'used'> | null {
    const tenant = this.#tenants.get(reasoner);
    if (tenant === undefined || reader.overlay !== null || tenant.version !== reader.version) return null;
    const kept = tenant.answers.get(key);
    const place = kept === undefined ? undefined : this.#order.get(kept);
    if (kept === undefined || place === undefined) return null;
    this.#order.delete(kept);
    this.#order.set(kept, place);
    return kept;
  }

  /** Keeps an answer to the question, unless it is long or of a state that has passed. */
  keep(
    reasoner: Reasoner,
    reader: PinnedReader,
    key: string,
    answer: WrittenAnswer,
    used: ReadonlySet<FactRow>,
  ): void {
    if (reader.overlay !== null || reader.version !== reasoner.version || reasoner.isRetired) return;
    if (answer.count > mostRows || (answer.proof?.steps.length ?? 0) > mostSteps) return;
    const bytes = bytesOf(key, answer, used.size);
    if (bytes > this.#mostBytes / 16) return;
    const tenant = this.#tenantOf(reasoner, reader.version);
    const before = tenant.answers.get(key);
    if (before !== undefined) this.#forget(before, tenant);
    const numbers = Array.from(used, ({ relation, row }) => relation.number[row] as number);
    const kept = { key, answer, used: numbers, bytes };
    tenant.answers.set(key, kept);
    this.#order.set(kept, new WeakRef(tenant));
    this.#bytes += bytes;
    for (const [oldest, of] of this.#order) {
      if (this.#bytes <= this.#mostBytes) return;
      this.#forget(oldest, of.deref());
    }
  }

  #tenantOf(reasoner: Reasoner, version: number): OfTenant {
    let tenant = this.#tenants.get(reasoner);
    if (tenant === undefined) this.#tenants.set(reasoner, (tenant = { version, answers: new Map() }));
    if (tenant.version !== version) {
      for (const kept of tenant.answers.values()) this.#forget(kept, tenant);
      tenant.version = version;
    }
    return tenant;
  }

  #forget(kept: Kept, tenant: OfTenant | undefined): void {
    tenant?.answers.delete(kept.key);
    if (this.#order.delete(kept)) this.#bytes -= kept.bytes;
  }
}

/** About what an answer takes: two bytes a character, and something for each object. */
function bytesOf(key: string, { results, bindings, proof, hints = [] }: WrittenAnswer, used: number): number {
  // The key is held by the answer and by the map.
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
