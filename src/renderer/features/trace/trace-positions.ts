/**
 * The position of a trace event in its rule: a premise being asked, or the head.
 *
 * The trace names the rule that demands a subgoal, but not the premise or the caller's demand. Both are reconstructed
 * by matching: the latest earlier demand one level up that the rule's head answers, and the premises that agree best
 * with its bindings; ties yield several. Pure.
 */
import type { Atom, Literal, Rule } from '../../../engine/contract/language.ts';
import type { Trace } from '../../../engine/contract/explanation.ts';
import { parseBody, parseRule } from '../../../engine/language/parse.ts';
import {
  isAggregate,
  isBuiltin,
  isNamedVariable,
  relationOf,
  wildcard,
} from '../../../engine/language/terms.ts';
import type { EventRow } from './trace-rows.ts';

/** A rule with a position in it. */
export interface RulePosition {
  readonly ruleId: string;
  readonly rule: Rule;
  /** The head, or indexes of body literals. */
  readonly at: 'head' | readonly number[];
}

/** The positions of an event. */
export interface EventPosition {
  /** The rule that concludes the answer; null if it is stored or nothing was found. */
  readonly concluded: RulePosition | null;
  /** The rule that demands it; null if the question does or it is unknown. */
  readonly asked: RulePosition | null;
  /** The demand that the demanding rule serves. */
  readonly caller: EventRow | null;
}

/** Maximum number of earlier demands examined per event. */
const maxCandidates = 500;

function isVariable(term: string): boolean {
  return term === wildcard || isNamedVariable(term);
}

type Bindings = ReadonlyMap<string, string>;

/** The bindings that a demand for the head gives its variables; null if the head does not match. */
function bindingsOfHead(head: Atom, demand: Atom): Bindings | null {
  const bindings = new Map<string, string>();
  for (const [index, term] of head.args.entries()) {
    const wanted = demand.args[index];
    if (wanted === undefined) return null;
    if (isVariable(wanted)) continue;
    if (!isVariable(term)) {
      if (term !== wanted) return null;
    } else if (isNamedVariable(term)) {
      const known = bindings.get(term);
      if (known !== undefined && known !== wanted) return null;
      bindings.set(term, wanted);
    }
  }
  return bindings;
}

/** Returns how well a premise agrees with a subgoal under the bindings; null if not at all. */
function agreement(premise: Atom, subgoal: Atom, bindings: Bindings): number | null {
  if (relationOf(premise) !== relationOf(subgoal)) return null;
  const bound = new Map(bindings);
  let score = 0;
  for (const [index, term] of premise.args.entries()) {
    const asked = subgoal.args[index] ?? wildcard;
    const known = isNamedVariable(term) ? bound.get(term) : isVariable(term) ? undefined : term;
    if (isVariable(asked)) {
      // A bound variable is demanded as a constant; a premise that binds more is less likely.
      if (known !== undefined) score -= 1;
    } else if (known === asked) score += 1;
    else if (known !== undefined) return null;
    else if (isNamedVariable(term)) bound.set(term, asked);
  }
  return score;
}

/** The atoms that a premise demands, those in an aggregate included. */
function atomsOf(literal: Literal): Atom[] {
  if (isAggregate(literal)) return literal.body.flatMap(atomsOf);
  return isBuiltin(literal) ? [] : [literal];
}

interface BestPremises {
  readonly score: number;
  readonly at: readonly number[];
}

/** The premises that agree best with a subgoal; null if none does. */
function bestPremises(rule: Rule, subgoal: Atom, bindings: Bindings): BestPremises | null {
  let best: { score: number; at: number[] } | null = null;
  for (const [place, literal] of rule.body.entries()) {
    const scores = atomsOf(literal)
      .map((atom) => agreement(atom, subgoal, bindings))
      .filter((score) => score !== null);
    if (scores.length === 0) continue;
    const score = Math.max(...scores);
    if (best === null || score > best.score) best = { score, at: [place] };
    else if (score === best.score) best.at.push(place);
  }
  return best;
}

/** True if an atom is the demanded one or an instance of it. */
function answers(atom: Atom, demand: Atom): boolean {
  const score = agreement(demand, atom, new Map());
  return (
    score !== null &&
    atom.args.every((arg, index) => !isVariable(arg) || isVariable(demand.args[index] ?? ''))
  );
}

/** The positions of all events of a trace, computed on demand. */
export class TracePositions {
  readonly #rules: ReadonlyMap<string, Rule>;
  readonly #atoms = new Map<string, Atom | null>();
  /** First demands by depth and relation, in order. */
  readonly #calls = new Map<string, EventRow[]>();

  constructor(trace: Pick<Trace, 'rules' | 'events'>) {
    this.#rules = new Map(trace.rules.map(({ ruleId, rule }) => [ruleId, parseRule(rule)]));
    for (const event of trace.events) {
      if (event.port !== 'call') continue;
      const atom = this.#atomOf(event.atom);
      if (atom === null) continue;
      const key = `${event.depth} ${relationOf(atom)}`;
      const list = this.#calls.get(key);
      if (list === undefined) this.#calls.set(key, [event]);
      else list.push(event);
    }
  }

  placeOf(event: EventRow): EventPosition {
    const { port, ruleId } = event;
    const rule = port === 'exit' && ruleId !== null ? this.#rules.get(ruleId) : undefined;
    const concluded = rule === undefined || ruleId === null ? null : ({ ruleId, rule, at: 'head' } as const);
    return { concluded, ...this.#askedBy(event) };
  }

  #atomOf(text: string): Atom | null {
    const known = this.#atoms.get(text);
    if (known !== undefined) return known;
    const [literal] = parseBody(text);
    const atom = literal === undefined || isAggregate(literal) || isBuiltin(literal) ? null : literal;
    this.#atoms.set(text, atom);
    return atom;
  }

  /** Demands for a relation at a depth before an event, latest first. */
  #before(event: EventRow, depth: number, relation: string): EventRow[] {
    const list = this.#calls.get(`${depth} ${relation}`) ?? [];
    let [low, high] = [0, list.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((list[middle] as EventRow).seq < event.seq) low = middle + 1;
      else high = middle;
    }
    return list.slice(Math.max(0, low - maxCandidates), low).reverse();
  }

  /** The demand of an event: itself, or the one answered or failed. */
  #demandOf(event: EventRow, atom: Atom): EventRow | null {
    if (event.port === 'call' || event.port === 'reuse') return event;
    const demands = this.#before(event, event.depth, relationOf(atom));
    const isAnswered = ({ atom: text, scope }: EventRow) => {
      const demand = this.#atomOf(text);
      return scope === event.scope && demand !== null && answers(atom, demand);
    };
    return demands.find(isAnswered) ?? null;
  }

  #askedBy(event: EventRow): Pick<EventPosition, 'asked' | 'caller'> {
    const nobody = { asked: null, caller: null };
    const atom = this.#atomOf(event.atom);
    if (atom === null) return nobody;
    const demand = this.#demandOf(event, atom);
    const ruleId = demand?.ruleId ?? null;
    const rule = ruleId === null ? undefined : this.#rules.get(ruleId);
    const subgoal = demand === null ? null : this.#atomOf(demand.atom);
    if (demand === null || ruleId === null || rule === undefined || subgoal === null) return nobody;
    let best: (BestPremises & { caller: EventRow | null }) | null = null;
    for (const caller of this.#before(demand, demand.depth - 1, relationOf(rule.head))) {
      const wanted = this.#atomOf(caller.atom);
      const bindings = wanted === null ? null : bindingsOfHead(rule.head, wanted);
      const found = bindings === null ? null : bestPremises(rule, subgoal, bindings);
      if (found !== null && (best === null || found.score > best.score)) best = { ...found, caller };
    }
    if (best === null) {
      const found = bestPremises(rule, subgoal, new Map());
      return found === null ? nobody : { asked: { ruleId, rule, at: found.at }, caller: null };
    }
    return { asked: { ruleId, rule, at: best.at }, caller: best.caller };
  }
}
