/**
 * Runs tests of knowledge over a pinned reader.
 *
 * Each test has a supposed state of its own: what it withdraws is hidden, then what it gives is stored, as one commit would
 * do it (a key with `supersede` ends what it supersedes), but nothing is refused, so that a test can expect a violation. It
 * leaves nothing behind: no fact, no table, no firing of a rule. A test that exceeds a limit fails, and names it.
 */
import { EngineError } from '../base/errors.ts';
import { TextMap, TextSet } from '../base/text-map.ts';
import type { TestFailure, TestOutcome, TestRun } from '../contract/tests.ts';
import type { Atom, Literal } from '../contract/language.ts';
import { renderAtom, renderConstant } from '../language/print.ts';
import { isPositiveAtom } from '../language/terms.ts';
import type { LineTable } from '../language/source.ts';
import type { ExpectedAnswer, Expectation, KnowledgeTest } from '../language/test-text.ts';
import { toMicroseconds } from '../datalog/tables/evaluation.ts';
import { type Matches, matchesOf, question, renderInstance, substitute } from '../datalog/tables/question.ts';
import { rowsByText } from '../datalog/tables/sorted.ts';
import type { ReadContext } from '../session/read-context.ts';
import { type SupposedWrite, supposeWrite } from '../session/supposed-write.ts';
import type { Commit } from '../state/operation.ts';
import type { FactIdentity, FactToStore, ScopeChoice } from '../store/fact-store.ts';
import type { RuleRecord } from '../store/rule-store.ts';
import { hintsOfNothing, hintsPart } from './hints.ts';
import { KnownNames } from './known-names.ts';
import { Coverage } from './test-coverage.ts';
import { judgeViolation } from './test-violations.ts';
import { limitIn, type TestedWorld, type Unmet, whyMissing } from './tested-world.ts';

/** Answers that a failure lists. */
const maxAnswersListed = 1000;
/** Unexpected answers that are proved. */
const maxProved = 10;
const rowsBetweenBreaths = 0xff;
/** Estimated bytes of an answer beside its texts. */
const bytesOfAnswer = 150;

/** Tests of one text. */
export interface TestedText {
  readonly tests: readonly KnowledgeTest[];
  readonly lines: LineTable;
  /** The view in which goals are asked and facts are withdrawn. */
  readonly view: ScopeChoice;
  /** Of the facts that are given. */
  readonly scope: string | null;
}

/** How to run tests. */
export interface TestRunOptions {
  /** Time limit of each test in milliseconds. */
  readonly timeoutMs: number;
  /** When the time of all tests together is over, by `performance.now()`; absent: that of the context's pacer counts. */
  readonly deadline?: number;
  readonly coverage: boolean;
  /** A write that is supposed before each test; absent: none. */
  readonly before?: Commit;
}

/**
 * Runs the tests in order; one that is a failure already fails so. `context` reads stored facts alone, within the time of the
 * whole run.
 */
export async function runTests(
  context: ReadContext,
  texts: readonly (TestedText | TestOutcome)[],
  options: TestRunOptions,
): Promise<TestRun> {
  const coverage = options.coverage ? new Coverage(await rulesTested(context, options)) : null;
  const outcomes: TestOutcome[] = [];
  for (const text of texts)
    if ('passed' in text) outcomes.push(text);
    else
      for (const test of text.tests) {
        outcomes.push(await new TestCase(context, test, text, options, coverage).run());
        await context.pacer.breathe();
      }
  const passed = outcomes.filter((outcome) => outcome.passed).length;
  return {
    passed,
    failed: outcomes.length - passed,
    tests: outcomes,
    ...(coverage === null ? {} : { coverage: coverage.result() }),
    generation: context.reader.generation,
    elapsedMs: context.pacer.elapsedRounded,
  };
}

/** The rules after what is supposed, with the ids that they have in every test. */
async function rulesTested(
  context: ReadContext,
  { before }: Pick<TestRunOptions, 'before'>,
): Promise<readonly RuleRecord[]> {
  if (before === undefined || before.rules.length === 0) return context.database.rules.all();
  return (await supposeWrite(context, { ...before, assert: [], retract: [] }, () => false)).rules;
}

class TestCase {
  readonly #context: ReadContext;
  readonly #test: KnowledgeTest;
  readonly #text: TestedText;
  readonly #options: TestRunOptions;
  readonly #coverage: Coverage | null;
  readonly #failures: TestFailure[] = [];

  constructor(
    context: ReadContext,
    test: KnowledgeTest,
    text: TestedText,
    options: TestRunOptions,
    coverage: Coverage | null,
  ) {
    const { deadline = Number.POSITIVE_INFINITY, timeoutMs } = options;
    const leftMs = Math.max(0, deadline - performance.now());
    this.#context = { ...context, pacer: context.pacer.within(Math.min(leftMs, timeoutMs)) };
    this.#test = test;
    this.#text = text;
    this.#options = options;
    this.#coverage = coverage;
  }

  async run(): Promise<TestOutcome> {
    const startedAt = performance.now();
    const { name, nameSpan, expectations } = this.#test;
    let at: Pick<Expectation, 'text' | 'span'> = { text: 'given', span: nameSpan };
    let hints: readonly string[] = [];
    try {
      if (this.#context.pacer.leftMs === 0) throw outOfTime();
      const { reader, constraints } = await this.#supposed();
      const context = { ...this.#context, reader };
      await context.reasoner.evaluate(reader, false, context.pacer, async (set) => {
        const world = { context, view: this.#text.view, constraints, set };
        for (const expectation of expectations) {
          at = expectation;
          const unmet = await judge(world, expectation, this.#coverage);
          if (unmet !== null) this.#fail(expectation, unmet);
        }
        hints = hintsOfVacuous(world, this.#failures.length > 0 ? [] : expectations);
      });
    } catch (error) {
      const message = limitIn(error);
      if (message === null) throw error;
      this.#fail(at, { message });
    }
    return {
      name,
      line: this.#text.lines.range(nameSpan).startLine,
      passed: this.#failures.length === 0,
      elapsedMs: toMicroseconds(performance.now() - startedAt),
      failures: this.#failures,
      ...hintsPart(hints),
    };
  }

  #fail({ text, span }: Pick<Expectation, 'text' | 'span'>, unmet: Unmet): void {
    const { startLine: line, startColumn: column } = this.#text.lines.range(span);
    this.#failures.push({ expectation: text, line, column, ...unmet });
  }

  async #supposed(): Promise<SupposedWrite> {
    const { before } = this.#options;
    const { view, scope } = this.#text;
    const { given, withdrawn } = this.#test;
    const { tenant, reader } = this.#context;
    const retract: FactIdentity[] = [];
    for (const atom of withdrawn) {
      const pattern = { predicate: atom.predicate, args: atom.args, truthVal: !atom.negated, scope: view };
      for (const fact of tenant.facts.match(pattern, reader.generation, reader.time, true))
        retract.push(tenant.facts.identityOf(fact));
    }
    const commit: Commit = {
      kind: 'commit',
      tenant: '',
      rules: [],
      operations: 1,
      ...before,
      retract: [...(before?.retract ?? []), ...retract],
      assert: [
        ...(before?.assert ?? []).filter((fact) => !isWithdrawn(fact, withdrawn)),
        ...given.map((atom) => this.#fact(atom, scope)),
      ],
    };
    return supposeWrite(this.#context, commit, () => true);
  }

  /** A given fact is true now, also if it is stored with a validity that has ended or not begun. */
  #fact({ predicate, args, negated }: Atom, scope: string | null): FactToStore {
    const fact = { predicate, args, truthVal: !negated, scope };
    const isStored = this.#context.tenant.facts.find(predicate, args, !negated, scope) !== null;
    return isStored ? { ...fact, validFrom: 'always', validUntil: 'never' } : fact;
  }
}

/** The refusal of a test that has no time left. */
function outOfTime(): EngineError {
  return new EngineError(
    'InferenceLimitExceeded',
    'the tests before it took all the time of the run: raise timeoutMs',
  );
}

function isWithdrawn(fact: FactToStore, withdrawn: readonly Atom[]): boolean {
  return withdrawn.some(
    ({ predicate, args, negated }) =>
      fact.predicate === predicate &&
      fact.truthVal === !negated &&
      fact.args.length === args.length &&
      args.every((term, at) => term === fact.args[at]),
  );
}

/** What is at odds with the expectation; null: it is met. */
async function judge(
  world: TestedWorld,
  expectation: Expectation,
  coverage: Coverage | null,
): Promise<Unmet | null> {
  const { context, view, set } = world;
  if (expectation.kind === 'violation' || expectation.kind === 'noViolation')
    return judgeViolation(world, expectation, coverage);
  const { goal } = expectation;
  const matches = await matchesOf(question(view, goal), set, context.reader, context.pacer);
  await coverage?.noteGoal(world, goal, matches);
  const answers = await readAnswers(matches, context);
  const verdict =
    expectation.kind === 'answers'
      ? comparedAnswers(expectation.answers, answers, expectation)
      : expectation.kind === 'answer'
        ? foundAny(answers, goal)
        : foundNone(answers);
  return verdict === null ? null : explained(world, goal, answers, verdict);
}

/** One answer: as an instance of the goal, and as the values of its variables. */
interface FoundAnswer {
  readonly row: number;
  readonly instance: string;
  readonly values: readonly string[];
}

/** The answers in the order of their texts. */
interface FoundAnswers {
  readonly matches: Matches;
  readonly list: readonly FoundAnswer[];
}

async function readAnswers(matches: Matches, { pacer }: ReadContext): Promise<FoundAnswers> {
  const { question: asked, columns, constants, count } = matches;
  const places = { from: 0, to: count };
  const rows = await rowsByText(columns, count, constants, pacer, places);
  const list: FoundAnswer[] = [];
  for (const row of rows) {
    if ((list.length & rowsBetweenBreaths) === rowsBetweenBreaths) await pacer.breathe();
    const values = columns.map((column) => constants.text(column[row] as number));
    const instance = renderInstance(asked, (variable) => values[asked.variables.indexOf(variable)]);
    pacer.memory.takeText(instance, bytesOfAnswer);
    list.push({ row, instance, values });
  }
  return { matches, list };
}

/** What was found wrong, with the answers to prove and the instance that is missing. */
interface Verdict extends Unmet {
  readonly unexpectedRows: readonly number[];
  /** The goal with the values of an answer that is missing; null: none is. */
  readonly missingGoal: readonly Literal[] | null;
}

function foundAny({ list }: FoundAnswers, goal: readonly Literal[]): Verdict | null {
  if (list.length > 0) return null;
  return { message: 'expected an answer, found none', unexpectedRows: [], missingGoal: goal };
}

function foundNone({ list }: FoundAnswers): Verdict | null {
  if (list.length === 0) return null;
  const instances = list.map(({ instance }) => instance);
  return {
    message: `expected no answer, found ${list.length}`,
    unexpected: instances.slice(0, maxAnswersListed),
    unexpectedRows: list.map(({ row }) => row),
    missingGoal: null,
  };
}

function comparedAnswers(
  expected: readonly ExpectedAnswer[],
  { matches, list }: FoundAnswers,
  { goal, variables }: { readonly goal: readonly Literal[]; readonly variables: readonly string[] },
): Verdict | null {
  const asAtoms = variables.length === 0 || expected[0]?.kind === 'atom';
  // By the text of an answer, the first row that is it: rows may differ in a ?_ alone.
  const shown = new TextMap<number>();
  const columnsOf = variables.map((variable) => matches.question.variables.indexOf(variable));
  for (const { row, instance, values } of list) {
    const text = asAtoms ? instance : renderValues(columnsOf.map((column) => values[column] as string));
    if (!shown.has(text)) shown.set(text, row);
  }
  const wanted = new TextMap<ExpectedAnswer>();
  for (const answer of expected)
    wanted.set(answer.kind === 'atom' ? renderAtom(answer.atom) : renderValues(answer.values), answer);
  const missing = [...wanted.keys()].filter((text) => !shown.has(text));
  const unexpected = [...shown.keys()].filter((text) => !wanted.has(text));
  if (missing.length === 0 && unexpected.length === 0) return null;
  const first = missing[0] === undefined ? null : (wanted.get(missing[0]) ?? null);
  return {
    message: [
      ...(missing.length === 0 ? [] : [`${missing.length} of the expected answers missing`]),
      ...(unexpected.length === 0 ? [] : [`${unexpected.length} unexpected`]),
    ].join(', '),
    expected: [...wanted.keys()],
    found: [...shown.keys()].slice(0, maxAnswersListed),
    ...(missing.length === 0 ? {} : { missing }),
    ...(unexpected.length === 0 ? {} : { unexpected: unexpected.slice(0, maxAnswersListed) }),
    unexpectedRows: unexpected.map((text) => shown.get(text) as number),
    missingGoal: first === null ? null : goalOf(first, goal, variables),
  };
}

function goalOf(
  answer: ExpectedAnswer,
  goal: readonly Literal[],
  variables: readonly string[],
): readonly Literal[] {
  if (answer.kind === 'atom') return [{ ...answer.atom, naf: false }];
  return goal.map((literal) => substitute(literal, (variable) => answer.values[variables.indexOf(variable)]));
}

/** An answer as it is written in a test. */
function renderValues(values: readonly string[]): string {
  const texts = values.map(renderConstant);
  return texts.length === 1 ? (texts[0] as string) : `(${texts.join(', ')})`;
}

/** Adds the proof of what was unexpected, and why what is missing is not true, as far as the limits allow. */
async function explained(
  world: TestedWorld,
  goal: readonly Literal[],
  { matches, list }: FoundAnswers,
  { unexpectedRows, missingGoal, ...unmet }: Verdict,
): Promise<Unmet> {
  const { context, view } = world;
  try {
    const proof =
      unexpectedRows.length === 0 ? {} : await proofOf(context, matches, unexpectedRows.slice(0, maxProved));
    const hints = list.length > 0 ? [] : hintsOfNothing(KnownNames.of(context), goal);
    const why = missingGoal === null ? {} : await whyMissing(context, view, missingGoal);
    return { ...unmet, ...proof, ...why, ...hintsPart(hints) };
  } catch (error) {
    const limit = limitIn(error);
    if (limit === null) throw error;
    return { ...unmet, message: `${unmet.message} (explaining it took too much: ${limit})` };
  }
}

async function proofOf(
  { reasoner, reader, pacer }: ReadContext,
  matches: Matches,
  rows: readonly number[],
): Promise<Pick<Unmet, 'proof'>> {
  const { proof } = await reasoner.prove(matches, rows, reader, pacer);
  return { proof };
}

/** Hints for expectations of no answer that could not fail, since no fact, rule or declaration has the predicate. */
function hintsOfVacuous({ context }: TestedWorld, expectations: readonly Expectation[]): string[] {
  const { declarations } = context.database;
  const known = KnownNames.of(context);
  const hints = new TextSet();
  for (const expectation of expectations) {
    const isOfNone =
      expectation.kind === 'noAnswer' || (expectation.kind === 'answers' && expectation.answers.length === 0);
    if (!isOfNone) continue;
    const unknown = expectation.goal.filter(
      (literal) =>
        isPositiveAtom(literal) &&
        !known.has(literal.predicate, literal.args.length) &&
        declarations.get(literal.predicate, literal.args.length) === null,
    );
    if (unknown.length > 0) for (const hint of hintsOfNothing(known, unknown)) hints.add(hint);
  }
  return [...hints].slice(0, 5);
}
