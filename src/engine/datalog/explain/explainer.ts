import { present } from '../../base/assert.ts';
import { compareTexts } from '../../base/text-order.ts';
import { isVariable, type Literal } from '../../contract/language.ts';
import type { ScopeChoice } from '../../store/fact-store.ts';
import { renderLiteral } from '../../language/print.ts';
import { variablesAtLevel } from '../../language/terms.ts';
import { compileExplainer } from '../join/compile-rule.ts';
import { clear, type Derived, newDerived } from '../model/derived.ts';
import { type Pacer, stepsBetweenChecks } from '../tables/evaluation.ts';
import type { Machine } from '../join/machine.ts';
import { questionLevel } from '../model/program.ts';
import { substitute, withoutWildcards } from '../tables/question.ts';
import { type Reader, viewKey } from '../model/reader.ts';
import type { TableSet } from '../tables/table-set.ts';
import type { BuiltBody, BuiltGroup } from '../model/table.ts';

/** A literal that a proof step uses. */
export interface Premise {
  readonly view: ScopeChoice;
  /** With constants for all variables except those local to braces. */
  readonly literal: Literal;
  /** For an aggregate: its group, and the ids of the shared variables. */
  readonly group: { readonly built: BuiltGroup; readonly key: Int32Array } | null;
  readonly rendered: string;
  /** Equal for premises with the same proof: the same literal in the same view. */
  readonly key: string;
}

/** The premise with its rendered text and key, computed once. */
export function premiseOf(
  view: ScopeChoice,
  literal: Literal,
  group: Premise['group'] = null,
  nameOfView = viewKey(view),
): Premise {
  const rendered = renderLiteral(literal);
  return { view, literal, group, rendered, key: `${nameOfView}\n${rendered}` };
}

/** One instance of a rule's body. */
export interface Instance {
  readonly height: number;
  readonly premises: readonly Premise[];
  readonly rendered: readonly string[];
}

/** Steps between checks if one instance suffices. */
const stepsToOne = 16;

/**
 * Finds the instances of one body for a given head among the rows already derived, with their heights.
 *
 * For an aggregate the head is a tuple of its group. A settled table set is complete for its demand, so an
 * instance that is not found is not true.
 */
export class Explainer {
  readonly #set: TableSet;
  readonly #body: BuiltBody;
  /** Literals in which each `?_` of a positive atom has a variable of its own. */
  readonly #literals: readonly Literal[];
  readonly #variables: readonly string[];
  readonly #heads: Derived;
  readonly #instances: Derived;
  readonly #machine: Machine;

  /** `heightIncrement`: the height of the head above that of its premises. */
  constructor(set: TableSet, body: BuiltBody, headTerms: readonly string[], heightIncrement: number) {
    this.#set = set;
    this.#body = body;
    this.#literals = withoutWildcards(body.literals);
    const concrete = new Map(body.literals.map((literal, at) => [literal, this.#literals[at] as Literal]));
    const variables = variablesAtLevel(this.#literals);
    for (const term of headTerms) if (isVariable(term)) variables.add(term);
    this.#variables = [...variables];
    const [level, { passingMemory: memory }] = [questionLevel, set];
    this.#heads = newDerived({ name: 'heads', arity: headTerms.length, level, memory });
    this.#instances = newDerived({
      name: 'instances',
      arity: this.#variables.length,
      level,
      withHeights: true,
      memory,
    });
    // Derived rows are all there: their number tells more than what a question expects before it has any.
    const atoms = body.atoms.map(({ source, literal }) => ({
      source,
      literal: concrete.get(literal) as typeof literal,
      ...(source.kind === 'derived' && {
        matching: (positions: readonly number[]) => set.planner.expectedRows(source.rows.rows, positions),
      }),
    }));
    this.#machine = compileExplainer(
      {
        target: this.#instances,
        headTerms: this.#variables,
        heightIncrement,
        demand: this.#heads,
        demandTerms: headTerms,
        view: body.view,
        atoms,
        filters: body.filters,
        barriers: body.barriers,
      },
      set,
    );
  }

  /** The instance of least height for the head; ties by rendered premises. null if there is none. */
  async lowest(head: Int32Array, reader: Reader, pacer: Pacer): Promise<Instance | null> {
    await this.#find(head, reader, pacer);
    const heights = this.#heights();
    const { rows } = this.#instances;
    let least = Number.POSITIVE_INFINITY;
    for (let row = 0; row < rows.count; row++) least = Math.min(least, heights[row] as number);
    let best: Instance | null = null;
    for (let row = 0; row < rows.count; row++) {
      if (heights[row] !== least) continue;
      const found = this.#instance(row);
      if (best === null || compareTexts(found.rendered, best.rendered) < 0) best = found;
      if ((row & 0xff) === 0xff) await pacer.breathe();
    }
    return best;
  }

  /** True if there is an instance for the head. */
  async has(head: Int32Array, reader: Reader, pacer: Pacer): Promise<boolean> {
    await this.#find(head, reader, pacer, true);
    return this.#instances.rows.count > 0;
  }

  /** The instances for the head, ordered by height, then by rendered premises. */
  async all(head: Int32Array, reader: Reader, pacer: Pacer): Promise<Instance[]> {
    await this.#find(head, reader, pacer);
    const found: Instance[] = [];
    for (let row = 0; row < this.#instances.rows.count; row++) {
      found.push(this.#instance(row));
      if ((row & 0xff) === 0xff) await pacer.breathe();
    }
    return found.sort(
      (left, right) => left.height - right.height || compareTexts(left.rendered, right.rendered),
    );
  }

  #instance(row: number): Instance {
    const premises = this.#premises(row);
    const rendered = premises.map((premise) => premise.rendered);
    return { height: this.#heights()[row] as number, premises, rendered };
  }

  #heights(): Int32Array {
    return present(this.#instances.rows.heights, 'instances carry heights').of;
  }

  /** Finds the instances for the head; with `one`, stops after the first. */
  async #find(head: Int32Array, reader: Reader, pacer: Pacer, one = false): Promise<void> {
    clear(this.#heads, true);
    clear(this.#instances, true);
    this.#heads.rows.insert(head);
    const machine = this.#machine;
    machine.start(reader, 0, 1, null, 1);
    this.#set.passing.add(this.#instances);
    try {
      let counted = machine.matches;
      for (let isDone = false; !isDone; ) {
        isDone = machine.run(one ? stepsToOne : stepsBetweenChecks) !== 0;
        if (one && this.#instances.rows.count > 0) isDone = true;
        pacer.derivations += machine.matches - counted;
        counted = machine.matches;
        if (pacer.isSliceOver) pacer.lookAtMemory(this.#set);
        await pacer.breathe();
      }
    } finally {
      this.#set.passing.delete(this.#instances);
    }
    this.#set.work.clear();
  }

  #premises(row: number): Premise[] {
    const { columns } = this.#instances.rows;
    const ids = new Map(
      this.#variables.map((variable, at) => [variable, (columns[at] as Int32Array)[row] as number]),
    );
    return premisesOf(this.#set, this.#body, this.#literals, (variable) => ids.get(variable));
  }
}

/** The literals of a body as premises. `idOf` gives the id of every variable that is not local to braces. */
export function premisesOf(
  set: TableSet,
  body: BuiltBody,
  literals: readonly Literal[],
  idOf: (variable: string) => number | undefined,
): Premise[] {
  const nameOfView = viewKey(body.view);
  const textOf = (variable: string): string | undefined => {
    const id = idOf(variable);
    return id === undefined ? undefined : set.constants.text(id);
  };
  const idOfShared = (variable: string): number => present(idOf(variable), 'a shared variable has a value');
  return literals.map((literal) => {
    const built = 'aggregate' in literal ? body.groups.get(literal) : undefined;
    const group =
      built === undefined ? null : { built, key: Int32Array.from(built.source.shared, idOfShared) };
    return premiseOf(body.view, substitute(literal, textOf), group, nameOfView);
  });
}
