import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { factInputSchema } from '../contract/facts.ts';
import { type Answer, askInputSchema } from '../contract/inference.ts';
import type { Atom, Literal } from '../contract/language.ts';
import { ruleInputSchema } from '../contract/rules.ts';
import { parseBody } from '../language/parse.ts';
import { renderAtom, renderLiteral, renderRule } from '../language/print.ts';
import { isAggregate, isPositiveAtom } from '../language/terms.ts';
import { openSession, refusal, type Session } from '../testing/engine-fixtures.ts';
import { type GoldenCase, type GoldenQuestion, readGolden } from '../testing/golden.ts';
import {
  type ModelFact,
  modelOf,
  type ModelRule,
  type ModelView,
  type NaiveModel,
} from '../testing/naive-model.ts';
import { askProlog, isInFragment, isPrologInstalled } from '../testing/prolog.ts';
import { expectAnswer, viewFields } from '../testing/twin.ts';

/**
 * Every golden case, against the engine, the naive model and SWI-Prolog; and around every question: a fact that is
 * added and removed, one that is removed and added, and every binding pattern.
 */

const folder = new URL('../testing/golden/', import.meta.url);
const files = readdirSync(folder)
  .sort()
  .map((name) => ({ name, cases: readGolden(readFileSync(new URL(name, folder), 'utf8')) }));

/** A case as loaded into an engine: its rules with their ids. */
interface Loaded {
  readonly session: Session;
  readonly golden: GoldenCase;
  readonly rules: readonly ModelRule[];
}

async function load(golden: GoldenCase): Promise<Loaded> {
  const session = await openSession();
  const { engine, caller } = session;
  const rules: ModelRule[] = [];
  for (const { rule, scope, enabled, refusal: expected } of golden.rules) {
    const taught = engine.teach(caller, ruleInputSchema.parse({ ...rule, scope, enabled }));
    if (expected === null) rules.push({ rule, scope, enabled, id: (await taught).id });
    else {
      const refused = await refusal(taught);
      expect(refused.code, renderRule(rule)).toBe(expected.code);
      expect(refused.message).toContain(expected.words);
    }
  }
  const facts = golden.facts.map(({ atom, scope }) => factInput(atom, scope));
  if (facts.length > 0) await engine.tellAll(caller, facts);
  return { session, golden, rules };
}

function factInput({ predicate, args, negated }: Atom, scope: string | null) {
  return factInputSchema.parse({ predicate, args, truthVal: !negated, scope });
}

function modelAt({ golden, rules }: Loaded, facts: GoldenCase['facts'], view: ModelView): NaiveModel {
  const stored = facts.map(({ atom, scope }): ModelFact => {
    const { predicate, args, negated } = atom;
    return { predicate, args, truthVal: !negated, scope, validFrom: null, validUntil: null };
  });
  expect(golden.isBeyondModel).toBe(false);
  return modelOf({ facts: stored, rules, time: 0, maxTrials: 20_000_000 }, view);
}

function ask(
  { session, golden }: Loaded,
  body: readonly Literal[],
  view: ModelView,
  limits: object = {},
): Promise<Answer> {
  const withProof = !golden.isBeyondModel;
  const fields = { ...viewFields(view), withProof, timeoutMs: 600_000, ...limits };
  return session.engine.ask(session.caller, askInputSchema.parse({ body, ...fields }));
}

async function expectAnswers(loaded: Loaded, question: GoldenQuestion, about: string): Promise<Answer> {
  const answer = await ask(loaded, parseBody(question.text), question.view);
  expect([...answer.results].sort(), about).toEqual([...question.answers].sort());
  return answer;
}

async function expectQuestion(loaded: Loaded, question: GoldenQuestion): Promise<void> {
  const body = parseBody(question.text);
  const { golden } = loaded;
  const about = `${question.text} in ${JSON.stringify(question.view)}`;
  if (question.refusal !== null) {
    const refused = await refusal(ask(loaded, body, question.view, { maxDerivations: 50_000 }));
    expect(refused.code).toBe(question.refusal.code);
    expect(JSON.stringify(refused.members)).toContain(question.refusal.words);
    return;
  }
  const answer = await expectAnswers(loaded, question, about);
  if (!golden.isBeyondModel)
    expectAnswer(answer, body, question.view, modelAt(loaded, golden.facts, question.view));
  await expectPatterns(loaded, question, answer, body);
  await expectUnmoved(loaded, question, body);
}

/** Asks with some variables bound to constants of an answer: the answers are those that agree. */
async function expectPatterns(
  loaded: Loaded,
  { view }: GoldenQuestion,
  answer: Answer,
  body: readonly Literal[],
): Promise<void> {
  const variables = Object.keys(answer.bindings[0] ?? {});
  const patterns =
    variables.length <= 3 ? subsets(variables) : [variables, ...variables.map((each) => [each])];
  const samples = [answer.bindings[0], answer.bindings.at(-1)].filter((each) => each !== undefined);
  for (const bound of patterns)
    for (const sample of samples) {
      const asked = body.map((literal) =>
        withBound(literal, new Map(bound.map((name) => [`?${name}`, sample[name] ?? '']))),
      );
      const agreeing = answer.results.filter((_, at) =>
        bound.every((name) => answer.bindings[at]?.[name] === sample[name]),
      );
      // A built-in is rendered with its inputs: `1 = 1.0` for `?x = 1.0`.
      if (!asked.every((literal) => !isAggregate(literal) && isPositiveAtom(literal))) continue;
      const { results } = await ask(loaded, asked, view);
      expect(results, asked.map(renderLiteral).join(', ')).toEqual(agreeing);
    }
  // Occurs nowhere.
  const [first] = variables;
  if (first === undefined) return;
  const asked = body.map((literal) => withBound(literal, new Map([[`?${first}`, 'no such constant']])));
  if (asked.every((literal) => !isAggregate(literal) && isPositiveAtom(literal)))
    expect((await ask(loaded, asked, view)).results).toEqual([]);
}

function subsets(names: readonly string[]): string[][] {
  return names.reduce<string[][]>((found, name) => [...found, ...found.map((each) => [...each, name])], [[]]);
}

function withBound(literal: Literal, bound: ReadonlyMap<string, string>): Literal {
  if (isAggregate(literal)) return literal;
  return { ...literal, args: literal.args.map((term) => bound.get(term) ?? term) };
}

/** One absent fact is added and removed; one stored fact is removed and added. */
async function expectUnmoved(
  loaded: Loaded,
  question: GoldenQuestion,
  body: readonly Literal[],
): Promise<void> {
  const { golden, session } = loaded;
  const { engine, caller } = session;
  const [known] = golden.facts;
  if (known === undefined) return;
  const added = { atom: newAtom(golden), scope: known.scope };
  const while_ = async (facts: GoldenCase['facts'], what: string): Promise<void> => {
    if (golden.isBeyondModel) return;
    const model = modelAt(loaded, facts, question.view);
    expectAnswer(await ask(loaded, body, question.view), body, question.view, model);
    expect(facts.length, what).not.toBe(golden.facts.length);
  };
  const retract = (atom: Atom, scope: string | null) =>
    session.forget(renderAtom(atom), {
      truthVal: !atom.negated,
      ...(scope === null ? { unscoped: true } : { scope }),
      // These tests do not check its dependents.
      timeoutMs: 100,
    });
  await engine.tell(caller, factInput(added.atom, added.scope));
  await while_([...golden.facts, added], 'one more');
  await retract(added.atom, added.scope);
  await expectAnswers(loaded, question, `${question.text} after ${renderAtom(added.atom)} came and went`);
  await retract(known.atom, known.scope);
  await while_(golden.facts.slice(1), 'one less');
  await engine.tell(caller, factInput(known.atom, known.scope));
  await expectAnswers(
    loaded,
    question,
    `${question.text} after ${renderAtom(known.atom)} went and came back`,
  );
}

/** An unstored atom of the first fact's relation, built from stored constants, if possible. */
function newAtom({ facts }: GoldenCase): Atom {
  const [first] = facts as [GoldenCase['facts'][number]];
  const { predicate, args, negated } = first.atom;
  const stored = new Set(facts.map(({ atom }) => renderAtom(atom)));
  const same = facts.filter(({ atom }) => atom.predicate === predicate && atom.args.length === args.length);
  for (const { atom } of same.slice(-20)) {
    const mixed = { predicate, args: [...atom.args.slice(0, 1), ...args.slice(1)], negated };
    if (!stored.has(renderAtom(mixed))) return mixed;
  }
  const fresh = { predicate, args: args.map((_, at) => `fresh ${at}`), negated };
  return args.length > 0 ? fresh : { predicate: 'fresh', args: [], negated };
}

describe.each(files.map(({ name, cases }) => [name, cases] as const))('%s', (_name, cases) => {
  const titled = cases.map((golden) => [golden.title, golden] as const);
  test.each(titled)('%s', async (_title, golden) => {
    const loaded = await load(golden);
    const refused = golden.rules.filter((rule) => rule.refusal !== null);
    expect(golden.questions.length + refused.length).toBeGreaterThan(0);
    for (const question of golden.questions) await expectQuestion(loaded, question);
  });
});

test.skipIf(!isPrologInstalled())('SWI-Prolog gives the same answers', () => {
  const cases = files.flatMap((file) => file.cases).filter(isInFragment);
  expect(cases.length).toBeGreaterThan(40);
  const answers = askProlog(cases);
  for (const [at, golden] of cases.entries())
    for (const [place, question] of golden.questions.entries())
      expect(answers[at]?.[place]?.sort(), `${golden.title}: ${question.text}`).toEqual(
        [...question.answers].sort(),
      );
});
