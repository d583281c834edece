/**
 * Where in its rule an event of a trace stands: at which premise inference asks, or at the conclusion.
 *
 * The trace says which rule demands a subgoal, not at which premise and for which demand of its own. That is found
 * again here by what matches: the latest earlier demand one step up that the rule's head answers, and those premises
 * that agree best with what that demand binds. Several are told where they agree equally well. Pure.
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

export interface RulePlace {
  readonly ruleId: string;
  readonly rule: Rule;
  /** The conclusion, or the premises, by their places in the body. */
  readonly at: 'head' | readonly number[];
}

export interface EventPlace {
  /** The rule that concludes what was found; null: it is stored, or nothing was found. */
  readonly concluded: RulePlace | null;
  /** The rule that asks for it; null: the question does, or that cannot be told. */
  readonly asked: RulePlace | null;
  /** The demand that the asking rule answers. */
  readonly caller: EventRow | null;
}

/** Earlier demands that are looked at for one event. */
const mostCandidates = 500;

function isVariable(term: string): boolean {
  return term === wildcard || isNamedVariable(term);
}

type Bindings = ReadonlyMap<string, string>;

/** What a demand for the head binds of its variables; null where the head cannot answer it. */
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

/** How well a premise agrees with a subgoal under what is bound; null: not at all. */
export function agreement(premise: Atom, subgoal: Atom, bindings: Bindings): number | null {
  if (relationOf(premise) !== relationOf(subgoal)) return null;
  const bound = new Map(bindings);
  let score = 0;
  for (const [index, term] of premise.args.entries()) {
    const asked = subgoal.args[index] ?? wildcard;
    const known = isNamedVariable(term) ? bound.get(term) : isVariable(term) ? undefined : term;
    if (isVariable(asked)) {
      // What is bound is asked for as a constant; a premise that binds more is the less likely one.
      if (known !== undefined) score -= 1;
    } else if (known === asked) score += 1;
    else if (known !== undefined) return null;
    else if (isNamedVariable(term)) bound.set(term, asked);
  }
  return score;
}

/** The atoms that a premise asks for; those inside of an aggregate are its. */
function atomsOf(literal: Literal): Atom[] {
  if (isAggregate(literal)) return literal.body.flatMap(atomsOf);
  return isBuiltin(literal) ? [] : [literal];
}

interface BestPremises {
  readonly score: number;
  readonly at: readonly number[];
}

/** The premises that agree best with a subgoal; null where none does. */
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

/** True where an atom is what a demand asked for, or less of it. */
function answers(atom: Atom, demand: Atom): boolean {
  const score = agreement(demand, atom, new Map());
  return (
    score !== null &&
    atom.args.every((arg, index) => !isVariable(arg) || isVariable(demand.args[index] ?? ''))
  );
}

/** The places of all events of one trace; works one out when it is looked at. */
export class TracePlaces {
  readonly #rules: ReadonlyMap<string, Rule>;
  readonly #atoms = new Map<string, Atom | null>();
  /** First demands by depth and relation, in their order. */
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

  placeOf(event: EventRow): EventPlace {
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

  /** Demands for a relation at a depth before an event, the latest first. */
  #before(event: EventRow, depth: number, relation: string): EventRow[] {
    const list = this.#calls.get(`${depth} ${relation}`) ?? [];
    let [low, high] = [0, list.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((list[middle] as EventRow).seq < event.seq) low = middle + 1;
      else high = middle;
    }
    return list.slice(Math.max(0, low - mostCandidates), low).reverse();
  }

  /** The demand that an event is about: itself, or the one that was answered or failed. */
  #demandOf(event: EventRow, atom: Atom): EventRow | null {
    if (event.port === 'call' || event.port === 'reuse') return event;
    const demands = this.#before(event, event.depth, relationOf(atom));
    const isAnswered = ({ atom: text, scope }: EventRow) => {
      const demand = this.#atomOf(text);
      return scope === event.scope && demand !== null && answers(atom, demand);
    };
    return demands.find(isAnswered) ?? null;
  }

  #askedBy(event: EventRow): Pick<EventPlace, 'asked' | 'caller'> {
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
