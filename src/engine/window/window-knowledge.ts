import { TextMap } from '../base/text-map.ts';
import { type ReadContext, visibleIn } from '../session/read-context.ts';
import { present } from '../base/assert.ts';
import { compareText } from '../base/text-order.ts';
import type { Contradiction } from '../contract/context.ts';
import type { StoredFact } from '../contract/facts.ts';
import type { Atom } from '../contract/language.ts';
import { contradictions } from '../memory/contradictions.ts';
import type { FactRow, ScopeChoice } from '../store/fact-store.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import type { Conclusions } from '../read/listed-conclusions.ts';
import { renderAtom, renderIdentity } from '../language/print.ts';
import type { SalientFact } from '../memory/salient-facts.ts';
import { rowSeen } from '../datalog/model/reader.ts';

/**
 * What the request for a window can see: the stored facts of its view, each atom once, and the requested conclusions.
 *
 * Of an atom stored in several scopes, the fact with the highest salience represents all, ties unscoped first, then by
 * scope name. A conclusion that is also stored counts as stored.
 */
export class VisibleKnowledge {
  readonly context: ReadContext;
  readonly view: ScopeChoice;
  /** Conclusions found that are not stored: atom to the step that proves them. */
  readonly concluded = new TextMap<number>();
  /** The conclusions of the builder that the steps belong to; null if nothing derived was requested. */
  readonly conclusions: Conclusions | null;

  constructor(context: ReadContext, view: ScopeChoice, conclusions: Conclusions | null) {
    this.context = context;
    this.view = view;
    this.conclusions = conclusions;
  }

  /** The stored fact that represents the atom; null: none in the view. */
  stored({ predicate, args, negated }: Atom): SalientFact | null {
    const { tenant, reader } = this.context;
    let best: SalientFact | null = null;
    for (const { relation, row: newest } of tenant.facts.versionsOf(predicate, args, !negated, this.view)) {
      const row = rowSeen(reader, relation, newest);
      if (row < 0) continue;
      const found = this.salient({ relation, row });
      if (best === null || this.#comesFirst(found, best)) best = found;
    }
    return best;
  }

  salient(fact: FactRow): SalientFact {
    const { database, tenant, reader } = this.context;
    const { createdAt } = database.timesOf(tenant.facts, fact);
    return { fact, salience: tenant.uses.salience(fact, createdAt, reader.time).salience };
  }

  atomOf(fact: FactRow): string {
    return renderIdentity(this.context.tenant.facts.identityOf(fact));
  }

  /** The salience of a conclusion. */
  salienceOf(step: number): number {
    return present(this.conclusions, 'conclusions were requested').salienceOf(step);
  }

  /** The conclusion of a step as a fact. */
  conclusionAt(step: number): StoredFact {
    return present(this.conclusions, 'conclusions were requested').at(step);
  }

  /** The conclusion with this atom; null if none that is not stored was found. */
  conclusion(atom: Atom): StoredFact | null {
    const step = this.concluded.get(renderAtom(atom));
    return step === undefined ? null : this.conclusionAt(step);
  }

  /** True if the atom is stored in the view or was concluded. */
  has(atom: Atom): boolean {
    return this.concluded.has(renderAtom(atom)) || this.stored(atom) !== null;
  }

  /** The number of visible stored facts of the view and of their distinct atoms, for the wanted predicates. */
  async count(
    isWanted: (predicate: string) => boolean,
  ): Promise<{ readonly facts: number; readonly atoms: number }> {
    let facts = 0;
    let atoms = 0;
    for (const relation of this.context.tenant.facts.relations.values()) {
      if (!isWanted(relation.predicate)) continue;
      const counted = await this.#countIn(relation);
      facts += counted.facts;
      atoms += counted.atoms;
    }
    return { facts, atoms };
  }

  /** All atoms that are both true and false in what is visible, with the weaker side of each, ordered by atom. */
  async contradicted(): Promise<WindowContradiction[]> {
    const { pacer } = this.context;
    const found = new TextMap<WindowContradiction>();
    for await (const { positive } of contradictions(this.context, this.view)) {
      const [fact] = positive;
      if (fact === undefined) continue;
      const { predicate } = fact.relation;
      this.#oppose(found, { predicate, args: this.context.tenant.facts.argsOf(fact), negated: false });
    }
    let looked = 0;
    for (const step of this.concluded.values()) {
      if ((++looked & 0xff) === 0) await pacer.breathe();
      const { predicate, args, truthVal } = this.conclusionAt(step);
      const atom = { predicate, args, negated: !truthVal };
      if (this.has(opposite(atom))) this.#oppose(found, { ...atom, negated: false });
    }
    return [...found].sort(([left], [right]) => compareText(left, right)).map(([, each]) => each);
  }

  #oppose(found: Map<string, WindowContradiction>, positive: Atom): void {
    const atom = renderAtom(positive);
    if (found.has(atom)) return;
    const sides = [this.#side(positive), this.#side(opposite(positive))] as const;
    const [{ salience: positiveSalience }, { salience: negativeSalience }] = sides;
    const { predicate, args } = positive;
    const weaker = renderAtom(isStronger(...sides) ? opposite(positive) : positive);
    found.set(atom, { shown: { predicate, args: [...args], positiveSalience, negativeSalience }, weaker });
  }

  #side(atom: Atom): Side {
    const stored = this.stored(atom);
    if (stored !== null) {
      const { relation, row } = stored.fact;
      return { salience: stored.salience, isStored: true, since: relation.number[row] as number };
    }
    const { salience, createdAt } = present(this.conclusion(atom), 'each side is stored or concluded');
    return { salience, isStored: false, since: createdAt };
  }

  #comesFirst(left: SalientFact, right: SalientFact): boolean {
    if (left.salience !== right.salience) return left.salience > right.salience;
    const { facts } = this.context.tenant;
    return compareText(facts.scopeOf(left.fact) ?? '', facts.scopeOf(right.fact) ?? '') < 0;
  }

  async #countIn(relation: StoredRelation): Promise<{ facts: number; atoms: number }> {
    const { reader, pacer } = this.context;
    const isVisible = visibleIn(this.context, this.view);
    const count = relation.rowsAt(reader.generation);
    if (this.view.kind !== 'all' || !relation.spansScopes) {
      let facts = 0;
      for (let row = 0; row < count; row++) {
        if ((row & 0xfff) === 0xfff) await pacer.breathe();
        if (isVisible(relation, row)) facts++;
      }
      return { facts, atoms: facts };
    }
    const { copies } = relation;
    while (!copies.takeIn(count, rowsBetweenBreaths) || !copies.link(rowsBetweenBreaths))
      await pacer.breathe();
    let facts = 0;
    let atoms = 0;
    for (let atom = 0; atom < copies.atoms.count; atom++) {
      if ((atom & 0xfff) === 0xfff) await pacer.breathe();
      const before = facts;
      for (let next = (copies.oldest[atom] as number) + 1; next !== 0; next = copies.youngerThan(next - 1))
        if (isVisible(relation, next - 1)) facts++;
      if (facts > before) atoms++;
    }
    return { facts, atoms };
  }
}

const rowsBetweenBreaths = 4096;

interface WindowContradiction {
  readonly shown: Contradiction;
  /** The atom that is left out if contradictions are resolved. */
  readonly weaker: string;
}

interface Side {
  readonly salience: number;
  readonly isStored: boolean;
  /** Greater is newer: for stored facts their number, for conclusions the time when their last premise was asserted. */
  readonly since: number;
}

/** True if the positive side stays: more salient, else stored, else newer, else positive. */
function isStronger(positive: Side, negative: Side): boolean {
  if (positive.salience !== negative.salience) return positive.salience > negative.salience;
  if (positive.isStored !== negative.isStored) return positive.isStored;
  return positive.since >= negative.since;
}

/** The atom with the opposite truth value. */
export function opposite({ predicate, args, negated }: Atom): Atom {
  return { predicate, args, negated: !negated };
}
