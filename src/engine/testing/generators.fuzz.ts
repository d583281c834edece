import { expect, test } from 'vitest';
import { Prng } from './prng.ts';
import { isVariable, type Literal } from '../contract/language.ts';
import { ruleProblems } from '../language/check.ts';
import { parseAtom, parseBody, parseRule } from '../language/parse.ts';
import { renderAtom, renderBody, renderRule } from '../language/print.ts';
import { isAggregate, isArithmetic, isComparison } from '../language/terms.ts';
import { checkStratified } from '../language/stratify.ts';
import {
  applyUpdate,
  type Flavour,
  plainFlavour,
  presentRules,
  type RandomCase,
  randomBody,
  randomCase,
  randomQuestion,
  randomUpdate,
  randomView,
  richFlavour,
  startCase,
} from './generators.ts';
import { type Knowledge, modelOf, type NaiveModel, type ProofNode } from './naive-model.ts';

const seeds = process.env['LONG'] === '1' ? 3000 : 150;

function knowledgeOf({ facts, rules }: RandomCase): Knowledge {
  return { facts, rules, time: 2 };
}

/** Runs a property for many seeds; a failure names its seed. */
function forSeeds(flavour: Flavour, property: (prng: Prng, each: RandomCase) => void): void {
  for (let seed = 1; seed <= seeds; seed++) {
    const prng = new Prng(seed);
    try {
      property(prng, randomCase(prng, flavour));
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
}

/** Checks every step of a proof against the rules, by matching texts: premises instantiate the body in order. */
function verify(node: ProofNode, knowledge: Knowledge, height: number): void {
  if (node.kind !== 'rule') return;
  expect(height).toBeGreaterThan(0);
  const rule = knowledge.rules[Number(node.ruleId)];
  if (rule === undefined) throw new Error(`no rule ${node.ruleId}`);
  const bindings = new Map<string, string>();
  match(rule.rule.head.args, parseAtom(node.atom).args, bindings);
  expect(node.premises).toHaveLength(rule.rule.body.length);
  for (const [index, literal] of rule.rule.body.entries()) {
    const premise = node.premises[index] as ProofNode;
    const [instance] = parseBody(premise.atom);
    if (instance === undefined || isAggregate(literal) !== isAggregate(instance))
      throw new Error(premise.atom);
    matchLiteral(literal, instance, bindings);
    verify(premise, knowledge, height - 1);
  }
}

function matchLiteral(literal: Literal, instance: Literal, bindings: Map<string, string>): void {
  if (isAggregate(literal) || isAggregate(instance)) {
    if (isAggregate(literal) && isAggregate(instance)) match([literal.result], [instance.result], bindings);
    return;
  }
  expect([instance.predicate, instance.negated, instance.naf]).toEqual([
    literal.predicate,
    literal.negated,
    literal.naf,
  ]);
  if (isComparison(literal) || isArithmetic(literal)) expect(instance.args.some(isVariable)).toBe(false);
  match(literal.args, instance.args, bindings);
}

function match(pattern: readonly string[], args: readonly string[], bindings: Map<string, string>): void {
  expect(args).toHaveLength(pattern.length);
  for (const [index, term] of pattern.entries()) {
    if (term === '?_') continue;
    if (!isVariable(term)) expect(args[index]).toBe(term);
    else expect(bindings.get(term) ?? args[index]).toBe(args[index]);
    if (isVariable(term)) bindings.set(term, args[index] as string);
  }
}

function allProofsHold(model: NaiveModel, knowledge: Knowledge): void {
  for (const [text, height] of model.heights) verify(model.proofOf(parseAtom(text)), knowledge, height);
}

test('generates rules that are safe, parse back from text, and have a finite model with valid proofs', () => {
  forSeeds(richFlavour, (prng, each) => {
    for (const { rule } of each.rules) {
      expect(ruleProblems(rule)).toEqual([]);
      expect(parseRule(renderRule(rule))).toEqual(rule);
    }
    checkStratified(each.rules.map((rule, index) => ({ ...rule, id: String(index) })));
    const knowledge = knowledgeOf(each);
    const model = modelOf(knowledge, randomView(prng, each.vocabulary));
    allProofsHold(model, knowledge);
  });
});

test('gives the same model for any order of facts and rules', () => {
  forSeeds({ ...richFlavour, facts: 12 }, (_prng, each) => {
    const there = modelOf(knowledgeOf(each), { kind: 'all' });
    const back = modelOf(
      knowledgeOf({ ...each, facts: [...each.facts].reverse(), rules: [...each.rules].reverse() }),
      { kind: 'all' },
    );
    expect(new Map(back.heights)).toEqual(new Map(there.heights));
  });
});

test('answers questions with their ground instances, and a body of one atom alike', () => {
  forSeeds(richFlavour, (prng, each) => {
    const model = modelOf(knowledgeOf(each), { kind: 'all' });
    const question = randomQuestion(prng, each.vocabulary, richFlavour);
    const results = model.match(question.predicate, question.args, question.negated);
    for (const result of results) expect(model.holds(parseAtom(result))).toBe(true);
    const answers = model.answers([{ ...question, naf: false }]).map((answer) => answer.rendered);
    expect(answers.sort()).toEqual([...results].sort());
    const body = randomBody(prng, each.vocabulary, richFlavour);
    expect(parseBody(renderBody(body))).toEqual(body);
    model.answers(body);
  });
});

test('keeps facts distinct and rules stratified in streams of updates', () => {
  forSeeds({ ...richFlavour, facts: 8, rules: 4 }, (prng, each) => {
    const current = startCase(each);
    for (let step = 0; step < 20; step++)
      applyUpdate(current, randomUpdate(prng, each.vocabulary, richFlavour, current));
    const rules = presentRules(current);
    checkStratified(rules.map((rule, index) => ({ ...rule, id: String(index) })));
    modelOf({ facts: [...current.facts.values()], rules, time: current.time }, { kind: 'all' });
  });
});

test('generates a plain program without features', () => {
  forSeeds(plainFlavour, (_prng, each) => {
    for (const { rule, scope } of each.rules) {
      expect(scope).toBeNull();
      for (const literal of rule.body)
        expect(!isAggregate(literal) && !literal.naf && !literal.negated).toBe(true);
      expect(renderAtom(rule.head).startsWith('-')).toBe(false);
    }
  });
});
