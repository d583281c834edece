/** Tests of knowledge, given as text. */
import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import { runInSlices } from '../base/slices.ts';
import { maxTestsOfRun, type TestRun, type TestRunInput } from '../contract/tests.ts';
import { type KnowledgeText, knowledgeTextSteps } from '../language/knowledge-text.ts';
import type { SyntaxProblem } from '../language/parser.ts';
import type { KnowledgeTest } from '../language/test-text.ts';
import { runTests } from '../read/run-tests.ts';
import { scopeChoice } from '../session/read-context.ts';
import type { ReadingEngine } from './engine-context.ts';

/** Time of a whole run, in milliseconds. */
const maxRunMs = 600_000;

/** Runs tests over what is stored now; nothing is changed. Throws a 400 ValidationException if the text has an error. */
export async function runTestsOf(
  engine: ReadingEngine,
  caller: Caller,
  { tests: text, scope, unscoped, timeoutMs, maxDerivations, coverage }: TestRunInput,
): Promise<TestRun> {
  const { names } = engine.live.database(caller).declarations;
  const slices = engine.slices(caller);
  const parsed = await runInSlices(knowledgeTextSteps(text, { tests: true, names }), () => slices.breathe());
  const tests = testsOnly(parsed);
  const limits = { timeoutMs: Math.min(maxRunMs, timeoutMs * tests.length), maxDerivations };
  const texts = [{ tests, lines: parsed.lines, view: scopeChoice({ scope, unscoped }), scope }];
  const options = { timeoutMs, coverage };
  return engine.live.asQuestion(caller, limits, (timed) =>
    engine.live.reading(caller, timed, (context) => runTests(context, texts, options), null),
  );
}

/** The tests of a text that has nothing else. Throws a 400 ValidationException that names the first error. */
export function testsOnly({ items, errors, lines }: KnowledgeText): KnowledgeTest[] {
  const [first] = errors;
  if (first !== undefined) throw refusal(first, errors);
  const tests: KnowledgeTest[] = [];
  for (const item of items) {
    if (item.kind === 'test') tests.push(item);
    else {
      const message = `this is a ${item.kind} outside of a test: suppose facts with given, in the test`;
      throw refusal({ message, range: lines.range(item.span) }, []);
    }
  }
  if (tests.length === 0)
    throw new EngineError('ValidationException', 'tests: there is no test: test "name" { expect goal. }', {
      errors: [{ path: 'tests', message: 'there is no test' }],
    });
  if (tests.length > maxTestsOfRun)
    throw new EngineError('ValidationException', `tests: a run has at most ${maxTestsOfRun} tests`, {
      errors: [{ path: 'tests', message: `at most ${maxTestsOfRun} tests` }],
    });
  return tests;
}

/** Errors that a refusal lists. */
const maxErrorsListed = 20;

type Problem = Pick<SyntaxProblem, 'message' | 'range'>;

function refusal(first: Problem, all: readonly Problem[]): EngineError {
  const placed = ({ message, range: { startLine, startColumn } }: Problem): string =>
    `line ${startLine}, column ${startColumn}: ${message}`;
  const listed = (all.length === 0 ? [first] : all).slice(0, maxErrorsListed);
  return new EngineError('ValidationException', `tests: ${placed(first)}`, {
    errors: listed.map((each) => ({ path: 'tests', message: placed(each) })),
    line: first.range.startLine,
    column: first.range.startColumn,
  });
}
