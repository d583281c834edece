/**
 * Minimal sets of facts to assert and to retract that would make a statement true.
 *
 * The search goes backwards from what /explain says is missing: of each rule only the way that got furthest. Variables that
 * it left open take values of facts that there are. It is
 * bounded, and says when a bound ended it. Every set is tried with /whatIf before it is shown, and none of its changes
 * can be left out.
 */
import type { Atom, AtomLiteral, Literal } from '../../../engine/contract/language.ts';
import { isVariable } from '../../../engine/contract/language.ts';
import { parseBody } from '../../../engine/language/parse.ts';
import { renderAtom, renderLiteral } from '../../../engine/language/print.ts';
import { ChangeSets, type Remedies, type Remedy, triedSets } from './change-sets.ts';
import { isAbsence, isAggregate, isBuiltin, isPositiveAtom } from '../../../engine/language/terms.ts';

/** The questions that the search asks. */
export interface RemedyWorld {
  /** What each rule misses for a ground atom, as text; null if the atom is true. */
  whyNot(atom: Atom): Promise<readonly { readonly missing: readonly string[] }[] | null>;
  /** The stored facts of the proof of a true atom; itself if it is stored. */
  factsBehind(atom: Atom): Promise<readonly Atom[]>;
  /** The true atoms that a pattern matches. */
  matches(pattern: Atom): Promise<readonly Atom[]>;
  /** Whether the statement is true after the changes. */
  holdsWith(changes: Remedy): Promise<boolean>;
}

/** Maximum numbers of requests to find sets, and of rules in a row. */
const MAX_LOOKED = 120;
const MAX_DEPTH = 5;
/** An absence that more facts contradict is not worth retracting them all. */
const MAX_MATCHES = 4;
/** Maximum number of values tried for the variables of one literal. */
const MAX_VALUES = 5;

/** Values by variable. */
type Binding = ReadonlyMap<string, string>;

function isOpenAtom(literal: Literal): literal is AtomLiteral & { naf: false } {
  return isPositiveAtom(literal) && literal.args.some(isVariable);
}

/** The literal with the values; none if it is a comparison that they settle: whether it is true the trial tells. */
function filledIn(literal: Literal, binding: Binding): Literal[] {
  if (isAggregate(literal)) return [literal];
  const filled = { ...literal, args: literal.args.map((arg) => binding.get(arg) ?? arg) };
  const isSettled = isBuiltin(filled) && literal.args.some(isVariable) && !filled.args.some(isVariable);
  return isSettled ? [] : [filled];
}

class RemedySearch {
  readonly #world: RemedyWorld;
  readonly #isPermitted: (atom: Atom) => boolean;
  readonly outOfReach = new Set<string>();
  readonly #sets = new ChangeSets();
  #looked = 0;

  constructor(world: RemedyWorld, isPermitted: (atom: Atom) => boolean) {
    this.#world = world;
    this.#isPermitted = isPermitted;
  }

  get isCut(): boolean {
    return this.#sets.isCut;
  }

  /** False once the bound is reached. */
  #mayLook(): boolean {
    this.#looked += 1;
    if (this.#looked > MAX_LOOKED) this.#sets.isCut = true;
    return this.#looked <= MAX_LOOKED;
  }

  /** The ways to make a ground atom true. `above`: the atoms that the search came through. */
  async waysTo(atom: Atom, above: readonly string[] = []): Promise<Remedy[]> {
    const text = renderAtom(atom);
    if (above.includes(text)) return [];
    const sets: Remedy[] = this.#isPermitted(atom) ? [[{ kind: 'assert', atom }]] : [];
    if (above.length >= MAX_DEPTH) {
      this.#sets.isCut = true;
      return sets;
    }
    if (!this.#mayLook()) return sets;
    const attempts = await this.#world.whyNot(atom);
    if (attempts === null) return [[]];
    for (const { missing } of attempts)
      sets.push(
        ...(await this.#waysToAll(
          missing.flatMap((literal) => parseBody(literal)),
          [...above, text],
        )),
      );
    return this.#sets.any([sets]);
  }

  /** The ways to make all literals true. A variable takes values that its predicate already has. */
  async #waysToAll(literals: readonly Literal[], above: readonly string[]): Promise<Remedy[]> {
    const open = literals.find(isOpenAtom);
    if (open === undefined) {
      const parts: Remedy[][] = [];
      for (const literal of literals) {
        const ways = await this.#waysToLiteral(literal, above);
        if (ways.length === 0) return [];
        parts.push(ways);
      }
      return this.#sets.together(parts);
    }
    const bindings = await this.#bindingsOf(open);
    if (bindings.length === 0) this.outOfReach.add(renderLiteral(open));
    const ways: Remedy[][] = [];
    for (const binding of bindings)
      ways.push(
        await this.#waysToAll(
          literals.flatMap((literal) => filledIn(literal, binding)),
          above,
        ),
      );
    return this.#sets.any(ways);
  }

  /** Values for the variables of an atom: those of what matches it, else of what its predicate has. */
  async #bindingsOf(atom: AtomLiteral): Promise<Binding[]> {
    const { predicate, args, negated } = atom;
    const found = new Map<string, Binding>();
    for (const pattern of [args, args.map((_, at) => `?of${at}`)]) {
      if (found.size > 0 || !this.#mayLook()) break;
      for (const match of await this.#world.matches({ predicate, args: pattern, negated })) {
        const binding = new Map(
          args.flatMap((arg, at): [string, string][] =>
            isVariable(arg) ? [[arg, match.args[at] ?? '']] : [],
          ),
        );
        found.set(JSON.stringify([...binding]), binding);
      }
    }
    if (found.size > MAX_VALUES) this.#sets.isCut = true;
    return [...found.values()].slice(0, MAX_VALUES);
  }

  async #waysToLiteral(literal: Literal, above: readonly string[]): Promise<Remedy[]> {
    if (isAggregate(literal) || isBuiltin(literal)) {
      this.outOfReach.add(renderLiteral(literal));
      return [];
    }
    const { predicate, args, negated } = literal;
    const atom: Atom = { predicate, args, negated };
    return isAbsence(literal) ? this.#waysToAbsence(atom) : this.waysTo(atom, above);
  }

  /** The ways to end whatever matches: one stored fact of each proof goes. */
  async #waysToAbsence(pattern: Atom): Promise<Remedy[]> {
    if (!this.#mayLook()) return [];
    const found = await this.#world.matches(pattern);
    if (found.length > MAX_MATCHES) {
      this.#sets.isCut = true;
      return [];
    }
    const parts: Remedy[][] = [];
    for (const atom of found) {
      if (!this.#mayLook()) return [];
      const facts = await this.#world.factsBehind(atom);
      parts.push(facts.filter(this.#isPermitted).map((fact) => [{ kind: 'retract', atom: fact }]));
    }
    return this.#sets.together(parts);
  }
}

/** Searches for the minimal changes that make a ground atom true. Rejects with the errors of the world. */
export async function findRemedies(
  goal: Atom,
  world: RemedyWorld,
  isPermitted: (atom: Atom) => boolean,
): Promise<Remedies> {
  const search = new RemedySearch(world, isPermitted);
  const candidates = (await search.waysTo(goal)).filter((set) => set.length > 0);
  const { sets, isCut } = await triedSets(candidates, (set) => world.holdsWith(set));
  return { sets, isCut: isCut || search.isCut, outOfReach: [...search.outOfReach].sort() };
}
