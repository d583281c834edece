import { ByteMeter } from '../base/byte-meter.ts';
import { TextMap, TextSet } from '../base/text-map.ts';
import type { InferenceContext } from './ask.ts';
import { scopeChoice } from '../session/read-context.ts';
import { present } from '../base/assert.ts';
import { compareText } from '../base/text-order.ts';
import type { WhatIfInput, WhatIfResult } from '../contract/explanation.ts';
import type { AtomLiteral } from '../contract/language.ts';
import type { FactPattern, ScopeChoice } from '../store/fact-store.ts';
import { renderAtom } from '../language/print.ts';
import { relationKey, relationOf } from '../language/terms.ts';
import { factToStore } from '../commit/prepare-facts.ts';
import { ruleToStore } from '../commit/prepare-rules.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { apart } from '../datalog/model/fact-overlay.ts';
import type { RelationShape } from '../datalog/model/program.ts';
import { type Matches, matchesOf, question } from '../datalog/tables/question.ts';
import { matching } from '../datalog/model/reader.ts';
import { rowsByText } from '../datalog/tables/sorted.ts';
import { type Supposed, type SupposedOperation, Supposition } from './suppose.ts';

/** A goal of a what-if question. */
interface Goal {
  readonly atom: AtomLiteral;
  /** Reported even if nothing matches before and after. */
  readonly isAlwaysReported: boolean;
}

type GoalResult = WhatIfResult['goals'][number];

/** Approximate overhead of a rendered answer in bytes. */
const bytesOfText = 32;

/**
 * Answers goals in the current state and in the state after supposed changes.
 *
 * Retractions precede assertions, and rules are removed before others are added, so that a change can replace what it
 * removes. Supposed facts appear in `after` but are not gained. Both sides are derived in tables of their own unless a
 * shared table already has the answers; known conclusions and firing counts do not change.
 */
export async function whatIf(context: InferenceContext, input: WhatIfInput): Promise<WhatIfResult> {
  const supposition = new Supposition(context, input.rules.length + input.withoutRules.length > 0);
  for (const operation of operationsOf(input, context))
    await supposition.add(operation, (index) => `assert.${index}.`);
  const supposed = supposition.made();
  const reached = reachOf(context, supposed);
  const goals =
    input.goals === null
      ? goalsAbout(reached, context, supposed)
      : input.goals.map((goal) => ({ atom: { ...goal, naf: false }, isAlwaysReported: true }));
  const answers = new Answers(scopeChoice(input), context.pacer);
  const atoms = goals.map(({ atom }) => atom);
  const before = await answers.now(context, atoms);
  // Goals out of reach of the change keep their answers.
  const changing = atoms.filter((atom) => reached.has(relationOf(atom)));
  const after = await answers.supposed(supposed.context, changing);
  const results: GoalResult[] = [];
  const isSupposed = supposedIn(supposed.context, input);
  for (const { atom, isAlwaysReported } of goals) {
    const was = present(before.get(atom), 'every goal was answered');
    const result = await compared(atom, was, after.get(atom) ?? was, isSupposed, context.pacer);
    if (isAlwaysReported || result.before.length > 0 || result.after.length > 0) results.push(result);
  }
  return { goals: results };
}

/** The operations of the change, built lazily because reading many rules takes time. */
function* operationsOf(input: WhatIfInput, { reader }: InferenceContext): Generator<SupposedOperation> {
  // The context determines the tenant.
  const tenant = '';
  for (const fact of input.retract) {
    const { predicate, args, truthVal } = fact;
    yield { kind: 'retract', tenant, pattern: { predicate, args, truthVal, scope: scopeChoice(fact) } };
  }
  yield { kind: 'assert', tenant, facts: input.assert.map((fact) => factToStore(fact, reader.time)) };
  for (const id of new Set(input.withoutRules)) yield { kind: 'forgetRule', id };
  for (const [index, rule] of input.rules.entries())
    yield { kind: 'teach', rule: ruleToStore(rule, `rules.${index}.`) };
}

/** The relations that the change can affect, under the current or the supposed rules. */
function reachOf(
  { reader }: InferenceContext,
  { context, touched }: Supposed<InferenceContext>,
): Set<string> {
  const reached = reader.program.reachedFrom(touched.keys());
  for (const relation of context.reader.program.reachedFrom(touched.keys())) reached.add(relation);
  return reached;
}

/** A goal for every reached relation, by code point. A relation without rules is included only if facts match. */
function goalsAbout(
  reached: ReadonlySet<string>,
  { reader }: InferenceContext,
  { context, touched }: Supposed<InferenceContext>,
): Goal[] {
  const goals = new Map<string, Goal & { readonly text: string }>();
  const add = (shape: RelationShape, isAlwaysReported: boolean): void => {
    const key = relationKey(shape.predicate, shape.arity, shape.negated);
    if (goals.has(key)) return;
    const atom = anyOf(shape);
    goals.set(key, { atom, isAlwaysReported, text: renderAtom(atom) });
  };
  for (const { program } of [reader, context.reader])
    for (const shape of program.conclusionsAmong(reached)) add(shape, true);
  for (const shape of touched.values()) add(shape, false);
  return [...goals.values()].sort((left, right) => compareText(left.text, right.text));
}

function anyOf({ predicate, arity, negated }: RelationShape): AtomLiteral {
  const args = Array.from({ length: arity }, (_, position) => `?x${position + 1}`);
  return { predicate, args, negated, naf: false };
}

/** Renders the answers to goals, ordered by arguments by code point. */
class Answers {
  readonly #view: ScopeChoice;
  readonly #pacer: Pacer;

  constructor(view: ScopeChoice, pacer: Pacer) {
    this.#view = view;
    this.#pacer = pacer;
  }

  /** Answers in the current state: from the shared tables if they have them, otherwise without changing those. */
  async now(context: InferenceContext, goals: readonly AtomLiteral[]): Promise<Map<AtomLiteral, string[]>> {
    const { reasoner, reader } = context;
    const found = new Map<AtomLiteral, string[]>();
    for (const goal of goals) {
      const matches = reasoner.settledMatches(question(this.#view, [goal]), reader);
      if (matches !== null) found.set(goal, await this.#rendered(matches));
      await this.#pacer.breathe();
    }
    const open = goals.filter((goal) => !found.has(goal));
    for (const [goal, results] of await this.supposed({ ...context, reader: apart(reader) }, open))
      found.set(goal, results);
    return found;
  }

  /** Answers in a state read through an overlay. */
  async supposed(
    { reasoner, reader }: InferenceContext,
    goals: readonly AtomLiteral[],
  ): Promise<Map<AtomLiteral, string[]>> {
    const found = new Map<AtomLiteral, string[]>();
    if (goals.length === 0) return found;
    await reasoner.evaluate(reader, false, this.#pacer, async (set) => {
      for (const goal of goals) {
        const matches = await matchesOf(question(this.#view, [goal]), set, reader, this.#pacer);
        found.set(goal, await this.#rendered(matches));
      }
    });
    return found;
  }

  async #rendered({ question: asked, constants, columns, count }: Matches): Promise<string[]> {
    const { variables, body } = asked;
    const order = await rowsByText(columns, count, constants, this.#pacer);
    const atom = body[0] as AtomLiteral;
    const columnsOf = atom.args.map((term) => variables.indexOf(term));
    const texts = new Map<number, string>();
    const textOf = (id: number): string => {
      let text = texts.get(id);
      if (text === undefined) texts.set(id, (text = constants.text(id)));
      return text;
    };
    const results: string[] = [];
    const meter = new ByteMeter();
    for (const row of order) {
      const args = atom.args.map((term, position) => {
        const column = columnsOf[position] as number;
        return column < 0 ? term : textOf((columns[column] as Int32Array)[row] as number);
      });
      const result = renderAtom({ ...atom, args });
      this.#pacer.memory.takeText(result, bytesOfText);
      results.push(result);
      if (meter.counts(result.length)) await this.#pacer.breathe();
    }
    return results;
  }
}

/**
 * Returns a test for atoms that are supposed and stored in the view. These are not gained: an atom that is both stored
 * and derived counts as stored.
 */
function supposedIn({ reader }: InferenceContext, input: WhatIfInput): (text: string) => boolean {
  const scope = scopeChoice(input);
  const patterns = new TextMap<FactPattern>();
  for (const { predicate, args, truthVal } of input.assert)
    patterns.set(renderAtom({ predicate, args, negated: !truthVal }), { predicate, args, truthVal, scope });
  return (text) => {
    const pattern = patterns.get(text);
    return pattern !== undefined && matching(reader, pattern).next().done !== true;
  };
}

async function compared(
  atom: AtomLiteral,
  before: string[],
  after: string[],
  isSupposed: (text: string) => boolean,
  pacer: Pacer,
): Promise<GoalResult> {
  const goal = renderAtom(atom);
  if (before === after) return { goal, before, after, gained: [], lost: [] };
  const gained = (await without(after, before, pacer)).filter((text) => !isSupposed(text));
  const lost = await without(before, after, pacer);
  return { goal, before, after, gained, lost };
}

/** The items of `list` that are not in `other`, in order. */
async function without(list: readonly string[], other: readonly string[], pacer: Pacer): Promise<string[]> {
  const known = new TextSet();
  for (const [at, text] of other.entries()) {
    known.add(text);
    if ((at & 0xfff) === 0xfff) await pacer.breathe();
  }
  const rest: string[] = [];
  for (const [at, text] of list.entries()) {
    if (!known.has(text)) rest.push(text);
    if ((at & 0xfff) === 0xfff) await pacer.breathe();
  }
  return rest;
}
