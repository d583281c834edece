/**
 * Tests of knowledge as text:
 *
 *     test "carl has two grandparents" {
 *       given parent(bob, carl), not parent(eve, carl).
 *       expect grandparent(?x, carl) = ann, adam.
 *       expect not grandparent(carl, ?_).
 *       expect violation "nobody is their own parent".
 *     }
 *
 * `given` supposes facts, or with `not` that a stored fact is absent. `expect goal` wants an answer, `expect not goal` none
 * for the body as a whole, `expect goal = answers` exactly these, in any order. A goal is the body of a rule. Its answers
 * are values of its variables in the order in which they occur first, tuples in parentheses if there are several, or, if
 * the goal is one atom, atoms; `{}` is none, and braces may stand around any list.
 *
 * Reading a test never throws: its errors are reported with their positions, and parsing goes on in the next statement of
 * the test. It takes linear time.
 */
import { type Atom, isVariable, isWellFormed, type Literal } from '../contract/language.ts';
import { bodyProblems } from './check.ts';
import { codeOf, type Parser, type ReportProblem } from './parser.ts';
import { renderLiteral } from './print.ts';
import { isSpace, type Scanner, SyntaxFailure } from './scanner.ts';
import type { LiteralSource, Span } from './source.ts';
import { isAggregate, isBuiltin, isNamedVariable, isPositiveAtom, variablesAtLevel } from './terms.ts';

/** Characters of a test's name. */
const maxNameCharacters = 256;
/** After so many errors in one test, the rest of it is skipped. */
const maxErrorsOfTest = 100;

/** One atom of a `given`. `isWithdrawn`: after `not`. */
export interface GivenAtom {
  readonly atom: Atom;
  readonly isWithdrawn: boolean;
  readonly source: LiteralSource;
}

/** What a test supposes, in one statement. `span` includes the full stop. */
export interface GivenStatement {
  readonly kind: 'given';
  readonly atoms: readonly GivenAtom[];
  readonly span: Span;
}

/** One answer: the values of the goal's variables in the order of their first occurrence, or the goal's atom. */
export type ExpectedAnswer =
  | { readonly kind: 'values'; readonly values: readonly string[]; readonly span: Span }
  | { readonly kind: 'atom'; readonly atom: Atom; readonly span: Span };

/** A goal with the positions of its literals. `variables`: those with a value in an answer, in order of first occurrence. */
interface ExpectedGoal {
  readonly goal: readonly Literal[];
  readonly variables: readonly string[];
  readonly body: readonly LiteralSource[];
}

/** `name`: of a constraint, its text in quotation marks, or the predicate of a key or of a shape. */
interface ExpectedViolation {
  readonly name: string;
  readonly nameSpan: Span;
}

/** What a test expects. `text`: as written, without `expect` and the full stop; `span` includes both. */
export type Expectation = { readonly text: string; readonly span: Span } & (
  | ({ readonly kind: 'answer' } & ExpectedGoal)
  | ({ readonly kind: 'noAnswer' } & ExpectedGoal)
  | ({ readonly kind: 'answers'; readonly answers: readonly ExpectedAnswer[] } & ExpectedGoal)
  | ({ readonly kind: 'violation' } & ExpectedViolation)
  | ({ readonly kind: 'noViolation' } & ExpectedViolation)
);

/** A test of knowledge. `statements` are those of `given` and `expectations`, in text order. */
export interface KnowledgeTest {
  readonly kind: 'test';
  readonly name: string;
  /** The name with its quotation marks. */
  readonly nameSpan: Span;
  /** Facts that are supposed. */
  readonly given: readonly Atom[];
  /** Facts that are supposed to be absent. */
  readonly withdrawn: readonly Atom[];
  readonly expectations: readonly Expectation[];
  readonly statements: readonly (GivenStatement | Expectation)[];
  /** From `test` to its closing brace. */
  readonly span: Span;
  /** False if something in it could not be parsed. */
  readonly isWhole: boolean;
  /** False if its closing brace is missing. */
  readonly isClosed: boolean;
}

/** True at `test`, white space and a quotation mark, with which nothing else begins. */
export function startsTest(scanner: Scanner, at: number = scanner.position): boolean {
  if (!scanner.text.startsWith('test', at)) return false;
  let next = at + 4;
  while (isSpace(scanner.unit(next))) next++;
  return next > at + 4 && scanner.unit(next) === 34;
}

/** True at `given` or `expect` and white space. */
function startsStatement(scanner: Scanner): boolean {
  const word = scanner.sees('given') ? 'given' : 'expect';
  return scanner.sees(word) && isSpace(scanner.unit(scanner.position + word.length));
}

/** Reads a test, from its `test`. Reports what is wrong; null if it has no readable name. */
export function readTest(parser: Parser, report: ReportProblem): KnowledgeTest | null {
  return new TestReader(parser, report).read();
}

class TestReader {
  readonly #parser: Parser;
  readonly #scanner: Scanner;
  readonly #statements: (GivenStatement | Expectation)[] = [];
  readonly #report: ReportProblem;
  #errors = 0;

  constructor(parser: Parser, report: ReportProblem) {
    this.#parser = parser;
    this.#scanner = parser.scanner;
    this.#report = (code, message, span) => {
      this.#errors++;
      report(code, message, span);
    };
  }

  read(): KnowledgeTest | null {
    const scanner = this.#scanner;
    const start = scanner.position;
    const header = this.#header();
    const isClosed = header === null ? this.#skipTest() : this.#block();
    if (header === null) return null;
    const { name, span: nameSpan } = header;
    if (!isClosed) this.#report('syntax', `the test ${JSON.stringify(name)} has no closing brace`, nameSpan);
    const givens = this.#statements.flatMap((each) => (each.kind === 'given' ? each.atoms : []));
    const expectations = this.#statements.filter((each) => each.kind !== 'given');
    if (expectations.length === 0 && this.#errors === 0)
      this.#report('syntax', 'a test expects something: expect goal.', nameSpan);
    return {
      kind: 'test',
      name,
      nameSpan,
      given: givens.filter((each) => !each.isWithdrawn).map((each) => each.atom),
      withdrawn: givens.filter((each) => each.isWithdrawn).map((each) => each.atom),
      expectations,
      statements: this.#statements,
      span: { start, end: scanner.position },
      isWhole: this.#errors === 0,
      isClosed,
    };
  }

  #header(): { name: string; span: Span } | null {
    const scanner = this.#scanner;
    try {
      scanner.position += 4;
      scanner.skip();
      const start = scanner.position;
      const name = scanner.quotedText();
      const span = { start, end: scanner.position };
      if (name.trim() === '' || name.length > maxNameCharacters || !isWellFormed(name))
        scanner.fail(`the name of a test has 1 to ${maxNameCharacters} characters`, span.start, span.end);
      scanner.skip();
      if (!scanner.take('{')) scanner.failUnexpected('expected { after the name of the test');
      return { name, span };
    } catch (error) {
      this.#fail(error);
      return null;
    }
  }

  #fail(error: unknown): void {
    if (!(error instanceof SyntaxFailure)) throw error;
    this.#report(codeOf(error), error.message, error.span);
  }

  /** Reads statements up to the closing brace; false if there is none. */
  #block(): boolean {
    const scanner = this.#scanner;
    for (;;) {
      scanner.skip(true);
      if (scanner.take('}')) return true;
      if (scanner.atEnd || startsTest(scanner)) return false;
      if (this.#errors > maxErrorsOfTest) return this.#skipTest();
      const start = scanner.position;
      try {
        this.#statements.push(this.#statement());
      } catch (error) {
        this.#fail(error);
        if (scanner.position === start) scanner.position++;
        this.#recover(true);
      }
    }
  }

  #skipTest(): boolean {
    const scanner = this.#scanner;
    while (!scanner.atEnd) {
      this.#recover(false);
      if (scanner.take('}')) return true;
      if (startsTest(scanner)) return false;
    }
    return false;
  }

  /**
   * After an error: goes to the next line that begins with a closing brace or another test or, with `toStatement`, with
   * another statement, or behind the next full stop, whichever comes first.
   */
  #recover(toStatement: boolean): void {
    const scanner = this.#scanner;
    const { text } = scanner;
    let beginsLine = false;
    for (let at = scanner.position - 1; at >= 0 && isSpace(text.charCodeAt(at)) && !beginsLine; at--)
      beginsLine = isLineEnd(text.charCodeAt(at));
    for (; !scanner.atEnd; scanner.position++) {
      const unit = scanner.unit();
      if (isLineEnd(unit)) beginsLine = true;
      else if (!isSpace(unit)) {
        if (beginsLine && (unit === 125 || startsTest(scanner))) return;
        if (beginsLine && toStatement && startsStatement(scanner)) return;
        beginsLine = false;
        const next = scanner.unit(scanner.position + 1);
        if (toStatement && unit === 46 && (Number.isNaN(next) || isSpace(next))) {
          scanner.position++;
          return;
        }
      }
    }
  }

  #statement(): GivenStatement | Expectation {
    const scanner = this.#scanner;
    const start = scanner.position;
    if (!startsStatement(scanner))
      scanner.failUnexpected('a statement of a test begins with given or expect and white space');
    const isGiven = scanner.sees('given');
    scanner.position += isGiven ? 5 : 6;
    scanner.skip();
    return isGiven ? this.#given(start) : this.#expectation(start);
  }

  #given(start: number): GivenStatement {
    const scanner = this.#scanner;
    const atoms: GivenAtom[] = [];
    let end: number;
    do {
      scanner.skip();
      const isWithdrawn = this.#takeNot();
      const { value, source } = this.#parser.head('whole');
      const variable = value.args.findIndex(isVariable);
      if (variable >= 0)
        this.#report(
          'unsafe_variable',
          'a test supposes facts, which are ground: they have no variables',
          source.terms[variable] ?? source.span,
        );
      atoms.push({ atom: value, isWithdrawn, source });
      end = scanner.position;
      scanner.skip();
    } while (scanner.take(','));
    this.#stop(end);
    return { kind: 'given', atoms, span: { start, end: scanner.position } };
  }

  /** Takes `not` and the white space after it. */
  #takeNot(): boolean {
    const scanner = this.#scanner;
    if (!scanner.sees('not') || !isSpace(scanner.unit(scanner.position + 3))) return false;
    scanner.position += 3;
    scanner.skip();
    return true;
  }

  #expectation(start: number): Expectation {
    const scanner = this.#scanner;
    const textStart = scanner.position;
    const isNegative = this.#takeNot();
    const what = this.#startsViolation() ? this.#violation(isNegative) : this.#goal(isNegative);
    const end = scanner.position;
    this.#stop(end);
    const text = scanner.text.slice(textStart, end);
    return { ...what, text, span: { start, end: scanner.position } };
  }

  /** True at `violation`, white space and a name. */
  #startsViolation(): boolean {
    const scanner = this.#scanner;
    const end = scanner.position + 'violation'.length;
    if (!scanner.sees('violation') || !isSpace(scanner.unit(end))) return false;
    const name = scanner.pastSpace(end);
    return scanner.unit(name) === 34 || scanner.wordAt(name) !== '';
  }

  #violation(isNegative: boolean) {
    const scanner = this.#scanner;
    scanner.position += 'violation'.length;
    scanner.skip();
    const start = scanner.position;
    let name: string;
    if (scanner.unit() === 34) name = scanner.quotedText();
    else {
      name = scanner.text.slice(start, scanner.nameEnd(start));
      scanner.position += name.length;
    }
    const nameSpan = { start, end: scanner.position };
    if (name === '' || !isWellFormed(name))
      scanner.fail('a violation has a name', nameSpan.start, nameSpan.end);
    return { kind: isNegative ? ('noViolation' as const) : ('violation' as const), name, nameSpan };
  }

  #goal(isNegative: boolean) {
    const scanner = this.#scanner;
    const start = scanner.position;
    const { literals: goal, sources: body } = this.#parser.literals(0);
    const end = scanner.position;
    if (!goal.some((literal) => isAggregate(literal) || !isBuiltin(literal)))
      scanner.fail('an expectation asks at least one atom', start, end);
    for (const { kind, message, path } of bodyProblems(goal))
      this.#report(
        kind === 'unsafe' ? 'unsafe_variable' : 'syntax',
        message,
        body[path[0] ?? 0]?.span ?? { start, end },
      );
    const variables = answerVariables(goal);
    scanner.skip();
    const signAt = scanner.position;
    if (!scanner.take('=')) {
      scanner.position = end;
      return { kind: isNegative ? ('noAnswer' as const) : ('answer' as const), goal, variables, body };
    }
    if (isNegative)
      scanner.fail('expect not has no answers: write expect goal = the answers', signAt, signAt + 1);
    return { kind: 'answers' as const, goal, variables, body, answers: this.#answers(goal, variables) };
  }

  #answers(goal: readonly Literal[], variables: readonly string[]): ExpectedAnswer[] {
    const scanner = this.#scanner;
    const answers: ExpectedAnswer[] = [];
    scanner.skip();
    const hasBraces = scanner.take('{');
    scanner.skip();
    if (hasBraces && scanner.take('}')) return answers;
    let end: number;
    do {
      scanner.skip();
      const answer = this.#answer(goal, variables);
      const wrong = problemOf(answer, goal, variables);
      if (wrong !== null) scanner.fail(wrong, answer.span.start, answer.span.end);
      answers.push(answer);
      end = scanner.position;
      scanner.skip();
    } while (scanner.take(','));
    if (!hasBraces) scanner.position = end;
    else if (!scanner.take('}')) scanner.failUnexpected('expected , or }');
    return answers;
  }

  #answer(goal: readonly Literal[], variables: readonly string[]): ExpectedAnswer {
    const scanner = this.#scanner;
    const start = scanner.position;
    if (scanner.unit() === 34) {
      const value = scanner.quoted();
      return { kind: 'values', values: [value], span: { start, end: scanner.position } };
    }
    if (scanner.unit() === 40) {
      const values: string[] = [];
      this.#parser.arguments(values, []);
      return { kind: 'values', values, span: { start, end: scanner.position } };
    }
    const end = scanner.nameEnd(start + (scanner.unit() === 45 ? 1 : 0));
    if (end === start) scanner.failUnexpected('expected an answer ({} is none)');
    const closes = scanner.unit(end);
    const isAtom = closes === 40 || closes === 123;
    if (isAtom || (variables.length === 0 && goal.length === 1)) {
      const { value, source } = this.#parser.head('whole');
      return { kind: 'atom', atom: value, span: source.span };
    }
    const { value, span } = scanner.bareAnswer();
    return { kind: 'values', values: [value], span };
  }

  /** Reads the full stop of a statement that ended at `end`, or reports that it is missing. */
  #stop(end: number): void {
    const scanner = this.#scanner;
    scanner.skip();
    if (scanner.unit() === 46) {
      const next = scanner.unit(scanner.position + 1);
      if (!Number.isNaN(next) && !isSpace(next))
        scanner.fail('white space must follow the full stop that ends a statement', scanner.position);
      scanner.position++;
      return;
    }
    const goesOn = !scanner.atEnd && scanner.unit() !== 125;
    if (goesOn && !/[\n\r]/.test(scanner.text.slice(end, scanner.position)))
      this.#parser.failAfterLiteral('expected a comma or a full stop');
    this.#report('syntax', 'a statement ends with a full stop: write . here', { start: end - 1, end });
    scanner.position = end;
  }
}

function isLineEnd(unit: number): boolean {
  return unit === 10 || unit === 13;
}

/** The variables of a goal that have a value in its answers, in order of first occurrence. */
export function answerVariables(goal: readonly Literal[]): string[] {
  const atLevel = variablesAtLevel(goal);
  return [...atLevel].filter(isNamedVariable);
}

/** Why this cannot be an answer of the goal; null if it can. */
function problemOf(
  answer: ExpectedAnswer,
  goal: readonly Literal[],
  variables: readonly string[],
): string | null {
  const [only] = goal;
  const atom = only !== undefined && goal.length === 1 && isPositiveAtom(only) ? only : null;
  if (answer.kind === 'values') {
    if (variables.length === 0)
      return atom === null
        ? 'the goal has no variables: write expect goal, expect not goal, or = {}'
        : 'the goal has no variables: its answer is its atom, or {}';
    if (answer.values.some(isVariable)) return 'an answer is ground: it has no variables';
    if (answer.values.length === variables.length) return null;
    const wanted = variables.length === 1 ? 'one value' : `(${variables.join(', ')})`;
    return `an answer of this goal is ${wanted}; this one has ${answer.values.length} values`;
  }
  if (atom === null) return 'an atom is an answer only of a goal that is one atom';
  const { predicate, args, negated } = answer.atom;
  if (args.some(isVariable)) return 'an answer is ground: it has no variables';
  const fits = predicate === atom.predicate && negated === atom.negated && args.length === atom.args.length;
  return fits ? null : `this is no answer of ${renderLiteral(atom)}`;
}
