import type { FactRow } from '../store/fact-matching.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';

/** Most facts around the mentions that are walked, and most of one constant. */
const maxFacts = 4_000;
const maxOfConstant = 100;
/** The chance to go on, and the number of steps. */
const damping = 0.85;
const steps = 15;

/** A fact as the walker sees it: its constants. */
export interface GraphFact {
  readonly fact: FactRow;
  /** The number of the fact: equal for the same fact. */
  readonly key: number;
  readonly constants: readonly number[];
}

/** The fact with its constants. */
export function graphFact(fact: FactRow): GraphFact {
  return { fact, key: keyOf(fact), constants: constantIdsOf(fact) };
}

/** The number of the fact: equal for the same fact. */
export function keyOf({ relation, row }: FactRow): number {
  return relation.number[row] as number;
}

/** The ids of the fact's arguments. */
export function constantIdsOf({ relation, row }: FactRow): number[] {
  const constants: number[] = [];
  for (let position = 0; position < relation.arity; position++)
    constants.push((relation.columns[position] as Int32Array)[row] as number);
  return constants;
}

/**
 * Nearness to the mentioned constants in the graph of facts: personalised PageRank (Page et al. 1999) of a walker that
 * goes from a constant to one of its facts and on to one of the fact's constants, and returns to a mentioned constant
 * with probability 0.15 a step. It walks the facts within two steps, at most 4,000 and 100 of each constant.
 */
export class GraphNearness {
  readonly #facts = new Map<number, GraphFact>();
  readonly #ofConstant = new Map<number, number[]>();
  readonly #start: ReadonlySet<number>;
  #mass = new Map<number, number>();

  constructor(start: readonly number[]) {
    this.#start = new Set(start);
  }

  /** Collects the facts within two steps, given those of a constant, and walks. */
  async walk(factsOf: (constant: number, most: number) => readonly GraphFact[], pacer: Pacer): Promise<void> {
    let frontier: ReadonlySet<number> = this.#start;
    const reached = new Set<number>();
    for (let distance = 0; distance < 2; distance++) {
      const next = new Set<number>();
      for (const constant of frontier) {
        if (reached.has(constant) || this.#facts.size >= maxFacts) continue;
        reached.add(constant);
        for (const fact of factsOf(constant, maxOfConstant)) this.#add(fact, next);
        await pacer.breathe();
      }
      frontier = next;
    }
    await this.#iterate(pacer);
  }

  /** The share of time that the walker spends at the constant; 0 where it never comes. */
  of(constant: number): number {
    return this.#mass.get(constant) ?? 0;
  }

  /** The mean of its constants. */
  ofFact(constants: readonly number[]): number {
    if (constants.length === 0) return 0;
    return constants.reduce((sum, constant) => sum + this.of(constant), 0) / constants.length;
  }

  /** The walked facts, nearest first; equals in the order in which they were reached. */
  facts(): FactRow[] {
    const near = Array.from(this.#facts.values(), ({ fact, constants }) => ({
      fact,
      nearness: this.ofFact(constants),
    }));
    return near.sort((left, right) => right.nearness - left.nearness).map(({ fact }) => fact);
  }

  #add(fact: GraphFact, next: Set<number>): void {
    if (this.#facts.has(fact.key)) return;
    this.#facts.set(fact.key, fact);
    for (const constant of new Set(fact.constants)) {
      next.add(constant);
      const others = this.#ofConstant.get(constant);
      if (others === undefined) this.#ofConstant.set(constant, [fact.key]);
      else others.push(fact.key);
    }
  }

  async #iterate(pacer: Pacer): Promise<void> {
    const share = 1 / Math.max(1, this.#start.size);
    let mass = new Map<number, number>();
    for (const constant of this.#start) mass.set(constant, share);
    for (let step = 0; step < steps; step++) {
      const next = new Map<number, number>();
      for (const constant of this.#start) next.set(constant, (1 - damping) * share);
      for (const [constant, own] of mass) {
        const facts = this.#ofConstant.get(constant) ?? [];
        for (const key of facts) {
          const { constants } = this.#facts.get(key) as GraphFact;
          const each = (damping * own) / facts.length / constants.length;
          for (const other of constants) next.set(other, (next.get(other) ?? 0) + each);
        }
      }
      mass = next;
      await pacer.breathe();
    }
    this.#mass = mass;
  }
}
