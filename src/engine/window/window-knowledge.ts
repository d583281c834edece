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
import { renderAtom } from '../language/print.ts';
import type { SalientFact } from '../memory/salient-facts.ts';
import { sees } from '../datalog/model/reader.ts';

/**
 * What the request for a window can see: the stored facts of its view, each atom once, and the conclusions that it
 * asked for.
 *
 * Of an atom that several scopes store, the fact of the highest salience stands for all, of several such that without
 * scope or else of the scope whose name comes first. A conclusion that is stored too counts as stored.
 */
export class SeenFacts {
  readonly context: ReadContext;
  readonly view: ScopeChoice;
  /** Conclusions that were found and are not stored: by atom, the step that proves them. */
  readonly concluded = new Map<string, number>();
  /** Of the builder that the steps are of; null where nothing derived was asked for. */
  readonly conclusions: Conclusions | null;

  constructor(context: ReadContext, view: ScopeChoice, conclusions: Conclusions | null) {
    this.context = context;
    this.view = view;
    this.conclusions = conclusions;
  }

  /** The stored fact that stands for the atom; null where the view has none. */
  stored({ predicate, args, negated }: Atom): SalientFact | null {
    const { tenant, reader } = this.context;
    let best: SalientFact | null = null;
    for (const { relation, row } of tenant.facts.versionsOf(predicate, args, !negated, this.view)) {
      const fact = { relation, row: relation.versionAt(row, reader.generation) };
      if (fact.row < 0 || !sees(reader, relation, fact.row)) continue;
      const found = this.salient(fact);
      if (best === null || this.#comesFirst(found, best)) best = found;
    }
    return best;
  }

  salient(fact: FactRow): SalientFact {
    const { database, tenant, reader } = this.context;
    const { createdAt } = database.timesOf(tenant.facts, fact);
    return { fact, salience: tenant.uses.salience(fact, createdAt, reader.time).salience };
  }

  atomOf({ relation, row }: FactRow): string {
    const { predicate, negated } = relation;
    return renderAtom({ predicate, args: this.context.tenant.facts.argsOf({ relation, row }), negated });
  }

  /** The salience of a conclusion that was found. */
  salienceOf(step: number): number {
    return present(this.conclusions, 'what is concluded was asked for').salienceOf(step);
  }

  /** What the step of a conclusion amounts to as a fact. */
  conclusionAt(step: number): StoredFact {
    return present(this.conclusions, 'what is concluded was asked for').at(step);
  }

  /** The conclusion with this atom; null where none was found that is not stored. */
  conclusion(atom: Atom): StoredFact | null {
    const step = this.concluded.get(renderAtom(atom));
    return step === undefined ? null : this.conclusionAt(step);
  }

  /** True where the atom is stored in the view or was found. */
  has(atom: Atom): boolean {
    return this.concluded.has(renderAtom(atom)) || this.stored(atom) !== null;
  }

  /** Stored facts of the view that the reader sees, and how many atoms they are; of the predicates that are wanted. */
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

  /** All atoms that are true and false in what is seen, with the weaker side of each, in the order of the atoms. */
  async contradicted(): Promise<WindowContradiction[]> {
    const { pacer } = this.context;
    const found = new Map<string, WindowContradiction>();
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
    const { salience, createdAt } = present(this.conclusion(atom), 'what is opposed is stored or was found');
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
    while (!copies.takeIn(count, rowsBetweenBreaths)) await pacer.breathe();
    let facts = 0;
    let atoms = 0;
    for (let atom = 0; atom < copies.atoms.count; atom++) {
      if ((atom & 0xfff) === 0xfff) await pacer.breathe();
      const before = facts;
      for (
        let next = (copies.oldest[atom] as number) + 1;
        next !== 0;
        next = copies.younger[next - 1] as number
      )
        if (isVisible(relation, next - 1)) facts++;
      if (facts > before) atoms++;
    }
    return { facts, atoms };
  }
}

const rowsBetweenBreaths = 4096;

export interface WindowContradiction {
  readonly shown: Contradiction;
  /** The atom that is left out where contradictions are resolved. */
  readonly weaker: string;
}

interface Side {
  readonly salience: number;
  readonly isStored: boolean;
  /** Greater for what is newer: of stored facts their number, of conclusions when their last premise was asserted. */
  readonly since: number;
}

/** True where the first side stays: the more salient, else the stored one, else the newer, else the positive. */
function isStronger(positive: Side, negative: Side): boolean {
  if (positive.salience !== negative.salience) return positive.salience > negative.salience;
  if (positive.isStored !== negative.isStored) return positive.isStored;
  return positive.since >= negative.since;
}

export function opposite({ predicate, args, negated }: Atom): Atom {
  return { predicate, args, negated: !negated };
}
