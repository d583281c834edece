import { present } from '../base/assert.ts';
import { compareText } from '../base/text-order.ts';
import type { ReadContext } from '../session/read-context.ts';
import { entryOf, entryOfStored } from '../memory/context-entry.ts';
import { type BudgetLimits, type Sized, WindowBudget } from './window-budget.ts';
import type { OmissionReason } from '../contract/context.ts';
import type { AtomLiteral } from '../contract/language.ts';
import type { ContextEntry } from '../contract/memory.ts';
import type { StoredFact } from '../contract/facts.ts';
import type { FactRow, ScopeChoice } from '../store/fact-store.ts';
import { renderAtom } from '../language/print.ts';
import type { ViewRule } from '../datalog/model/program.ts';
import { viewKey } from '../datalog/model/reader.ts';
import { opposite, type SeenFacts } from './window-knowledge.ts';

/** A rule that concludes something, with what its premises became, rendered. */
export interface Application {
  readonly rule: ViewRule;
  readonly premises: readonly string[];
}

/** An atom in a proof. */
export interface ProofEntry {
  readonly literal: AtomLiteral;
  /** The view that it is proved in. */
  readonly view: ScopeChoice;
  /** What concludes it here; null: the atom is stored where the proof is. */
  readonly by: Application | null;
  /** What it is as a fact; asked only where the entry is taken. */
  readonly conclusion: () => Promise<StoredFact>;
}

/** What may be put in beside proofs. */
export interface Candidate {
  readonly atom: string;
  readonly predicate: string;
  readonly args: readonly string[];
  readonly scope: string | null;
  readonly salience: number;
  /** null: a conclusion. */
  readonly fact: FactRow | null;
  /** Of a conclusion: what concludes it where its canonical proof does not do. */
  readonly by: Application | null;
}

/**
 * A window while it is filled: its entries, and what was left out for a reason of its own.
 *
 * No atom stands in it twice, everything in it fits the budget, and no side of a contradiction that is to be left out
 * is in it. Which entry comes when is for others to say.
 */
export class OpenWindow {
  readonly seen: SeenFacts;
  readonly budget: WindowBudget;
  /** In the order in which they were taken, by atom. */
  readonly entries = new Map<string, ContextEntry>();
  /** Atoms that are left out as the weaker side of a contradiction. */
  readonly weaker: ReadonlySet<string>;
  /** Why answers of goals were left out, and with them what their proofs conclude. */
  readonly leftOut = new Map<string, OmissionReason>();
  /** The rules in the proofs, by their place in the order of creation. */
  readonly rules = new Map<number, string>();
  /** True where the weaker side of a contradiction is left out. */
  readonly resolves: boolean;

  constructor(
    seen: SeenFacts,
    weaker: ReadonlySet<string>,
    limits: BudgetLimits & { readonly autoResolveContradictions: boolean },
  ) {
    this.seen = seen;
    this.weaker = weaker;
    this.budget = new WindowBudget(limits);
    this.resolves = limits.autoResolveContradictions;
  }

  get context(): ReadContext {
    return this.seen.context;
  }

  has(atom: string): boolean {
    return this.entries.has(atom);
  }

  /**
   * True where the atom must not come in for a contradiction: it is the weaker side of one, or it is no conclusion that
   * was found before and would contradict what is known or in the window.
   */
  isBarred(literal: AtomLiteral): boolean {
    if (!this.resolves) return false;
    if (this.weaker.has(renderAtom(literal))) return true;
    const other = opposite(literal);
    return this.entries.has(renderAtom(other)) || (this.seen.has(other) && !this.seen.has(literal));
  }

  /** Why the atom by itself does not fit; null where it does, or is in the window. */
  refusal(literal: AtomLiteral): OmissionReason | null {
    if (this.has(renderAtom(literal))) return null;
    const refused = this.budget.refusal(sizeOf(literal));
    return refused !== 'filtered' && this.isBarred(literal) ? 'contradiction' : refused;
  }

  /**
   * Puts in a proof, or why it does not fit. Each entry comes after its premises. An atom that is proved in several
   * views is shown as in the first of them.
   */
  async takeProof(proof: readonly ProofEntry[]): Promise<OmissionReason | null> {
    const byAtom = new Map<string, ProofEntry>();
    for (const each of proof) {
      const atom = renderAtom(each.literal);
      const known = byAtom.get(atom);
      if (this.has(atom) || (known !== undefined && compareViews(this.seen.view, known.view, each.view) <= 0))
        continue;
      byAtom.set(atom, each);
    }
    const fresh = [...byAtom.values()];
    const sizes = fresh.map(({ literal }) => sizeOf(literal));
    const refused = this.budget.refusalOf(sizes);
    if (refused === 'filtered') return refused;
    const { pacer } = this.context;
    for (const { literal } of fresh) {
      await pacer.breathe();
      if (this.isBarred(literal)) return 'contradiction';
    }
    if (refused !== null) return refused;
    for (const size of sizes) this.budget.add(size);
    for (const each of fresh) {
      await pacer.breathe();
      this.entries.set(renderAtom(each.literal), await this.#entryOfProof(each));
    }
    for (const { by } of proof) if (by !== null) this.rules.set(by.rule.order, by.rule.record.text);
    return null;
  }

  /**
   * Puts in a fact where it fits and is not in yet. True where it was put in. `isRelated`: it shares a constant with the
   * proofs.
   */
  offer(candidate: Candidate, isRelated: boolean): boolean {
    const { atom, predicate, fact } = candidate;
    if (this.has(atom) || this.weaker.has(atom) || this.leftOut.has(atom)) return false;
    if (this.budget.add({ predicate, charCount: atom.length }) !== null) return false;
    const category = isRelated ? 'related' : undefined;
    const { time } = this.context.reader;
    const entry =
      fact === null
        ? entryOfStored(this.#conclusion(candidate), time, category)
        : entryOf(this.context, fact, category);
    this.entries.set(atom, entry);
    return true;
  }

  async #entryOfProof({ literal, by, conclusion }: ProofEntry): Promise<ContextEntry> {
    const { time } = this.context.reader;
    const stored = this.seen.stored(literal);
    if (stored !== null) return entryOf(this.context, stored.fact, 'goal_relevant');
    const fact = await conclusion();
    return entryOfStored(by === null ? fact : concludedBy(fact, by), time, 'goal_relevant');
  }

  #conclusion({ atom, by }: Candidate): StoredFact {
    const fact = this.seen.conclusionAt(present(this.seen.concluded.get(atom), 'a conclusion was found'));
    return by === null ? fact : concludedBy(fact, by);
  }
}

/** The conclusion with another proof than the canonical one. */
function concludedBy(fact: StoredFact, { rule, premises }: Application): StoredFact {
  const { scope, text } = rule.record;
  return { ...fact, scope, provenance: { rule: text, premises: [...premises] } };
}

/** The window's own view first, then scopes by their names. */
export function compareViews(own: ScopeChoice, left: ScopeChoice, right: ScopeChoice): number {
  const [key, first, second] = [viewKey(own), viewKey(left), viewKey(right)];
  return Number(second === key) - Number(first === key) || compareText(first, second);
}

export function sizeOf(literal: AtomLiteral): Sized {
  return { predicate: literal.predicate, charCount: renderAtom(literal).length };
}
