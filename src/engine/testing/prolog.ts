/**
 * Golden cases in Prolog, for SWI-Prolog with tabling: an independent evaluation that shares nothing with the engine.
 *
 * The fragment is what means the same in both: enabled unscoped facts and rules; explicit negation as a predicate of
 * its own; default negation, comparisons, `+ - * mod` and all aggregates except avg, over whole numbers and text;
 * questions of one atom. Whole numbers become Prolog's, other constants atoms. Bodies are written in the order in which
 * they can be evaluated.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AtomLiteral, isVariable, type Literal, type Rule } from '../contract/language.ts';
import { isNumber } from '../language/numbers.ts';
import { type BodyPlan, type BodyStep, planBody, planRule } from '../language/order.ts';
import { parseBody } from '../language/parse.ts';
import { renderAtom } from '../language/print.ts';
import { isAggregate, isArithmetic, isComparison, isPositiveAtom, wildcard } from '../language/terms.ts';
import type { GoldenCase } from './golden.ts';

export function isPrologInstalled(): boolean {
  return spawnSync('swipl', ['--version']).status === 0;
}

/** True if the case means the same in Prolog. */
export function isInFragment(golden: GoldenCase): boolean {
  const { facts, rules, questions } = golden;
  if (golden.isBeyondProlog || facts.some(({ scope }) => scope !== null)) return false;
  if (rules.some(({ scope, enabled, refusal }) => scope !== null || !enabled || refusal !== null))
    return false;
  if (questions.some(({ view, refusal }) => view.kind !== 'all' || refusal !== null)) return false;
  return (
    facts.every(({ atom }) => atom.args.every(isTranslatable)) &&
    rules.every(({ rule }) => rule.head.args.every(isTranslatable) && rule.body.every(isLiteralIn)) &&
    questions.every(({ text }) => {
      const body = parseBody(text);
      return body.length === 1 && body.every((each) => isPositiveAtom(each) && isLiteralIn(each));
    })
  );
}

function isLiteralIn(literal: Literal): boolean {
  if (isAggregate(literal)) return literal.aggregate !== 'avg' && literal.body.every(isLiteralIn);
  return literal.predicate !== '/' && literal.args.every(isTranslatable);
}

const wholeNumber = /^(0|-?[1-9]\d*)$/;

/** Text, or a number that Prolog writes in only this way. */
function isTranslatable(term: string): boolean {
  return wholeNumber.test(term) || (!isNumber(term) && /^[^\\\p{Cc}]*$/u.test(term));
}

/** The answers to each question of each case, as rendered, by the positions of case and question. */
export function askProlog(cases: readonly GoldenCase[]): string[][][] {
  const folder = mkdtempSync(join(tmpdir(), 'golden-'));
  try {
    for (const [at, golden] of cases.entries())
      writeFileSync(join(folder, `case${at}.pl`), programOf(golden, at));
    const goals = cases.map((_, at) => `use_module(case${at}, []), case${at}:answer`).join(', ');
    writeFileSync(join(folder, 'main.pl'), `:- working_directory(_, '${folder}').\nmain :- ${goals}.\n`);
    const space = ['--stack-limit=2g', '--table-space=2g'];
    const run = spawnSync('swipl', ['-q', ...space, '-g', 'main', '-g', 'halt', join(folder, 'main.pl')], {
      encoding: 'utf8',
      maxBuffer: 256 * 1024 * 1024,
    });
    if (run.status !== 0 || run.stderr !== '') throw new Error(`swipl failed: ${run.stderr}`);
    return read(run.stdout, cases);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Lines `case question argument argument ...`, tabs between. */
function read(output: string, cases: readonly GoldenCase[]): string[][][] {
  const answers = cases.map(({ questions }) => questions.map((): string[] => []));
  for (const line of output.split('\n')) {
    if (line === '') continue;
    const [at, question, ...args] = line.split('\t');
    const asked = cases[Number(at)]?.questions[Number(question)];
    if (asked === undefined) throw new Error(`swipl wrote ${line}`);
    const [atom] = parseBody(asked.text) as AtomLiteral[];
    const { predicate, negated } = atom as AtomLiteral;
    answers[Number(at)]?.[Number(question)]?.push(renderAtom({ predicate, args, negated }));
  }
  return answers;
}

function programOf({ facts, rules, questions }: GoldenCase, at: number): string {
  const heads = new Set(rules.map(({ rule }) => indicator(rule.head)));
  const named = new Set([
    ...facts.map(({ atom }) => indicator(atom)),
    ...rules.flatMap(({ rule }) => atomsOf(rule.body).map(indicator)),
    ...questions.flatMap(({ text }) => atomsOf(parseBody(text)).map(indicator)),
  ]);
  const lines = [
    `:- module(case${at}, []).`,
    ':- style_check(-singleton).',
    ...[...heads].map((head) => `:- table ${head}.`),
    ...[...heads, ...named].map((name) => `:- discontiguous ${name}.`),
    ...[...named].filter((name) => !heads.has(name)).map((name) => `:- dynamic ${name}.`),
    ...facts.map(({ atom }) => `${atomText(atom)}.`),
    ...rules.map(({ rule }) => ruleText(rule)),
    ...questions.map(({ text }, place) => questionText(parseBody(text), at, place)),
    `answer :- ${['true', ...questions.map((_, place) => `answer(${place})`)].join(', ')}.`,
    helpers,
  ];
  return `${lines.join('\n')}\n`;
}

/** The meaning of comparisons, arithmetic and aggregates: numbers by value, all else by its characters. */
const helpers = `
c_order(A, B, O) :- integer(A), integer(B), !, compare(O, A, B).
c_order(A, B, O) :- atom_codes(A, As), atom_codes(B, Bs), compare(O, As, Bs).
c_compare('=', A, B) :- c_order(A, B, =).
c_compare('!=', A, B) :- \\+ c_order(A, B, =).
c_compare('<', A, B) :- c_order(A, B, <).
c_compare('<=', A, B) :- c_order(A, B, O), O \\== > .
c_compare('>', A, B) :- c_order(A, B, >).
c_compare('>=', A, B) :- c_order(A, B, O), O \\== < .
c_calculate(O, A, B, R) :- integer(A), integer(B), c_result(O, A, B, R).
c_result('+', A, B, R) :- R is A + B.
c_result('-', A, B, R) :- R is A - B.
c_result('*', A, B, R) :- R is A * B.
c_result(mod, A, B, R) :- B =\\= 0, R is A mod B.
c_aggregate(count, Rows, N) :- length(Rows, N).
c_aggregate(sum, Rows, N) :- c_firsts(Rows, Vs), forall(member(V, Vs), integer(V)), sum_list(Vs, N).
c_aggregate(min, Rows, V) :- c_firsts(Rows, Vs), c_least(Vs, <, V).
c_aggregate(max, Rows, V) :- c_firsts(Rows, Vs), c_least(Vs, >, V).
c_firsts(Rows, Vs) :- findall(V, (member(R, Rows), arg(1, R, V)), Vs).
c_least([V|Vs], O, W) :- forall(member(X, [V|Vs]), integer(X)), !, foldl(c_better(O), Vs, V, W).
c_least([V|Vs], O, W) :- foldl(c_text(O), Vs, V, W).
c_better(O, A, B, A) :- compare(O, A, B), !.
c_better(_, _, B, B).
c_text(O, A, B, A) :- atom_codes(A, As), atom_codes(B, Bs), compare(O, As, Bs), !.
c_text(_, _, B, B).
`;

function questionText(body: readonly Literal[], at: number, place: number): string {
  const atom = body[0] as AtomLiteral;
  const args = atom.args.map((term, position) => (term === wildcard ? `Any${position}` : termText(term)));
  const goal = atomOver(atom, args);
  const row = `[${args.join(', ')}]`;
  const write = `atomic_list_concat([${at}, ${place}|Row], '\\t', Line), writeln(Line)`;
  return `answer(${place}) :- findall(${row}, ${goal}, Rows), sort(Rows, Set), forall(member(Row, Set), (${write})).`;
}

function ruleText(rule: Rule): string {
  return `${atomText(rule.head)} :- ${bodyText(rule.body, planRule(rule))}.`;
}

function bodyText(body: readonly Literal[], plan: BodyPlan): string {
  return plan.steps.map((step) => literalText(body[step.index] as Literal, step)).join(', ');
}

function literalText(literal: Literal, step: BodyStep): string {
  if (isAggregate(literal)) {
    const inner = bodyText(literal.body, step.inner ?? planBody(literal.body, new Set(), new Set()));
    const suffix = step.index;
    const collect = `findall(t(${literal.over.map(termText).join(', ')}), (${inner}), Found${suffix})`;
    const rows = `sort(Found${suffix}, Rows${suffix})`;
    return `${collect}, ${rows}, ${resultText(`c_aggregate(${literal.aggregate}, Rows${suffix}, `, literal.result, step)}`;
  }
  const [left = '', right = '', result = ''] = literal.args.map(termText);
  if (isComparison(literal))
    return step.binds === null
      ? `c_compare('${literal.predicate}', ${left}, ${right})`
      : `${left} = ${right}`;
  if (isArithmetic(literal)) {
    const call = `c_calculate('${literal.predicate}', ${left}, ${right}, `;
    return resultText(call, literal.args[2] ?? result, step);
  }
  return literal.naf ? `\\+ ${atomText(literal)}` : atomText(literal);
}

/** A call whose last argument is the result: bound by it, or compared with it. */
function resultText(call: string, result: string, step: BodyStep): string {
  if (step.binds !== null) return `${call}${termText(result)})`;
  return `${call}Result${step.index}), c_compare('=', Result${step.index}, ${termText(result)})`;
}

function atomsOf(body: readonly Literal[]): AtomLiteral[] {
  return body.flatMap((literal) => {
    if (isAggregate(literal)) return atomsOf(literal.body);
    return isComparison(literal) || isArithmetic(literal) ? [] : [literal];
  });
}

type PlainAtom = Pick<AtomLiteral, 'predicate' | 'args' | 'negated'>;

function nameOf(atom: PlainAtom): string {
  return quoted(`${atom.negated ? 'not' : 'is'} ${atom.predicate}`);
}

function indicator(atom: PlainAtom): string {
  return `${nameOf(atom)}/${atom.args.length}`;
}

function atomText(atom: PlainAtom): string {
  return atomOver(atom, atom.args.map(termText));
}

function atomOver(atom: PlainAtom, args: readonly string[]): string {
  return args.length === 0 ? nameOf(atom) : `${nameOf(atom)}(${args.join(', ')})`;
}

function termText(term: string): string {
  if (term === wildcard) return '_';
  if (isVariable(term)) {
    const name = term.slice(1).replace(/[^A-Za-z0-9]/gu, (letter) => `_${letter.codePointAt(0)}_`);
    return `V${name}`;
  }
  return wholeNumber.test(term) ? term : quoted(term);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "\\'")}'`;
}
