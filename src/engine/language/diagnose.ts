/**
 * All diagnostics of a text of facts, rules and constraints, with their positions, for editors and /rules/validate.
 *
 * An error is something that the service would refuse; a warning is legal and probably a mistake. The text is
 * read as rules without scope, together with the existing predicates and rules. Pure: it also runs in a
 * browser's worker.
 */
import type { Literal, Rule } from '../contract/language.ts';
import type { Diagnostic } from '../contract/rules.ts';
import { runAtOnce } from '../base/slices.ts';
import { ArgumentNames } from './argument-names.ts';
import { bodyProblems, ruleProblems, type RuleProblem, singletonVariables } from './check.ts';
import { renderAtom, renderConstraint, ruleIdentity } from './print.ts';
import { programSteps } from './parse.ts';
import type { ConstraintStatement, Statement, SyntaxProblem } from './parser.ts';
import type { LineTable, LiteralSource, Span } from './source.ts';
import {
  dependenciesOf,
  type NegativeCycle,
  negativeCycles,
  renderCycle,
  type ScopedRule,
} from './stratify.ts';
import { isAggregate, isBuiltin, relationOf } from './terms.ts';

/** The existing predicates and rules. A predicate may have several arities. */
export interface KnownLanguage {
  readonly predicates: Iterable<{ readonly name: string; readonly arity: number }>;
  readonly rules: Iterable<{ readonly rule: Rule; readonly scope: string | null }>;
  /** Names of declared arguments; absent: none are known. */
  readonly names?: ArgumentNames;
  /** The cycles through `not` or an aggregate in the existing rules and those of the text; absent: they are looked for. */
  readonly cycles?: readonly NegativeCycle[];
}

/** The diagnostics of a text. */
interface Diagnosis {
  /** In text order, at most 1000; if there are more, errors take precedence. */
  readonly diagnostics: Diagnostic[];
  /** Number of rules, facts and constraints that could be read. */
  readonly rules: number;
  readonly facts: number;
  readonly constraints: number;
}

const maxDiagnostics = 1000;
const maxProblemsOfRule = 100;

type RuleStatement = Extract<Statement, { kind: 'rule' }>;

/** Collects the diagnostics of one text. */
class Findings {
  readonly diagnostics: Diagnostic[] = [];
  readonly #lines: LineTable;

  constructor(lines: LineTable) {
    this.#lines = lines;
  }

  add(severity: Diagnostic['severity'], code: Diagnostic['code'], span: Span, message: string): void {
    this.diagnostics.push({ severity, code, message, ...this.#lines.range(span) });
  }

  /** The diagnostics in text order. */
  sorted(): Diagnostic[] {
    const errorsFirst = [
      ...this.diagnostics.filter((each) => each.severity === 'error'),
      ...this.diagnostics.filter((each) => each.severity !== 'error'),
    ].slice(0, maxDiagnostics);
    return errorsFirst.sort(
      (left, right) => left.startLine - right.startLine || left.startColumn - right.startColumn,
    );
  }
}

/** Reads a text and returns its errors and warnings. */
export function diagnose(text: string, known: KnownLanguage): Diagnosis {
  return runAtOnce(diagnosis(text, known));
}

/** Statements checked between two yields. */
const statementsOfStep = 64;

/**
 * Like `diagnose`, in small steps, except for the search for cycles. `allowsConstraints`: constraints are statements too; else
 * each is an error.
 */
export function* diagnosis(
  text: string,
  known: KnownLanguage,
  allowsConstraints = false,
): Generator<'more', Diagnosis, undefined> {
  const parsed = yield* programSteps(text, {
    maxErrors: maxDiagnostics,
    allowsConstraints,
    names: known.names ?? new ArgumentNames([]),
  });
  return yield* diagnosisOf(parsed, known);
}

/** A text that is parsed; each list in text order. */
interface ReadText {
  readonly statements: readonly Statement[];
  readonly constraints: readonly ConstraintStatement[];
  readonly errors: readonly SyntaxProblem[];
  readonly lines: LineTable;
}

/** Like `diagnosis`, of a text that is parsed. `uses`: of predicates, if not only statements and constraints have some. */
export function* diagnosisOf(
  { statements, constraints, errors, lines }: ReadText,
  known: KnownLanguage,
  uses: readonly PredicateOccurrence[] = occurrencesIn(statements, constraints),
): Generator<'more', Diagnosis, undefined> {
  const findings = new Findings(lines);
  for (const error of errors) findings.add('error', error.code, error.span, error.message);
  const rules = statements.filter((statement) => statement.kind === 'rule');
  const sound: RuleStatement[] = [];
  for (const [index, statement] of rules.entries()) {
    if (index % statementsOfStep === 0) yield 'more';
    if (checkStatement(statement, findings)) sound.push(statement);
  }
  const stored = [...known.rules];
  findCycles(sound, known.cycles ?? cyclesOf(sound, stored), findings);
  for (const constraint of constraints) checkConstraintStatement(constraint, findings);
  yield* findDuplicates(statements, stored, findings);
  yield* checkPredicates(uses, known.predicates, findings);
  const facts = statements.length - rules.length;
  return { diagnostics: findings.sorted(), rules: rules.length, facts, constraints: constraints.length };
}

/** Checks safety and singletons of one constraint. */
function checkConstraintStatement({ literals, body, span }: ConstraintStatement, findings: Findings): void {
  const problems = bodyProblems(literals);
  for (const problem of problems.slice(0, maxProblemsOfRule)) {
    const code = problem.kind === 'unsafe' ? 'unsafe_variable' : 'syntax';
    findings.add('error', code, placeInBody(problem, literals, body) ?? span, problem.message);
  }
  if (literals.length < 2) return;
  const places: Places = new Map();
  for (const [index, literal] of literals.entries())
    notePlaces(literal, body[index] as LiteralSource, places);
  const unsafe = new Set(problems.map((problem) => problem.variable));
  const asRule = { head: { predicate: '!-', args: [], negated: false }, body: literals };
  for (const variable of singletonVariables(asRule)) {
    if (unsafe.has(variable) || variable.startsWith('?_')) continue;
    const message = `${variable} occurs only once in ${renderConstraint(literals)}: write ?_ if it may be anything and violations that differ only in it are one`;
    findings.add('info', 'singleton_variable', places.get(variable) ?? span, message);
  }
}

/** Checks safety and singletons of one rule; false if the rule would be refused. */
function checkStatement(statement: RuleStatement, findings: Findings): boolean {
  const problems = ruleProblems(statement.rule);
  for (const problem of problems.slice(0, maxProblemsOfRule)) {
    const code = problem.kind === 'unsafe' ? 'unsafe_variable' : 'syntax';
    findings.add('error', code, placeOf(problem, statement), problem.message);
  }
  const unsafe = new Set(problems.map((problem) => problem.variable));
  const places = placesIn(statement);
  for (const variable of singletonVariables(statement.rule)) {
    if (unsafe.has(variable) || variable.startsWith('?_')) continue;
    const message = `${variable} occurs only once in this rule: write ?_ if it may be anything, or check its spelling`;
    findings.add('warning', 'singleton_variable', places.get(variable) ?? statement.span, message);
  }
  return problems.length === 0;
}

/** The source of the literal at a path: an index in the body, then in the braces. */
function sourceAt(body: readonly LiteralSource[], path: readonly number[]): LiteralSource | null {
  let found: LiteralSource | null = null;
  let sources = body;
  for (const index of path) {
    found = sources[index] ?? null;
    sources = found?.body ?? [];
  }
  return found;
}

function literalAt(body: readonly Literal[], path: readonly number[]): Literal | null {
  let found: Literal | null = null;
  let literals = body;
  for (const index of path) {
    found = literals[index] ?? null;
    literals = found !== null && isAggregate(found) ? found.body : [];
  }
  return found;
}

type Places = Map<string, Span>;

/** Records the first position of every term of a literal, including those inside braces. */
function notePlaces(literal: Literal, source: LiteralSource, places: Places): void {
  const terms = isAggregate(literal) ? [literal.result, ...literal.over] : literal.args;
  noteTerms(terms, source.terms, places);
  if (!isAggregate(literal)) return;
  for (const [index, inner] of literal.body.entries())
    notePlaces(inner, source.body[index] as LiteralSource, places);
}

function noteTerms(terms: readonly string[], spans: readonly Span[], places: Places): void {
  for (const [index, term] of terms.entries()) if (!places.has(term)) places.set(term, spans[index] as Span);
}

/** The first position of every term of a rule. */
function placesIn({ rule, head, body }: RuleStatement): Places {
  const places: Places = new Map();
  noteTerms(rule.head.args, head.terms, places);
  for (const [index, literal] of rule.body.entries())
    notePlaces(literal, body[index] as LiteralSource, places);
  return places;
}

/** Where a problem of a rule is shown: at its variable if it names one, else at its literal. */
function placeOf(problem: RuleProblem, statement: RuleStatement): Span {
  const { rule, head, body } = statement;
  const { path, variable } = problem;
  if (path.length === 0) {
    const term = variable === null ? undefined : head.terms[rule.head.args.indexOf(variable)];
    return term ?? head.span;
  }
  return placeInBody(problem, rule.body, body) ?? statement.span;
}

function placeInBody(
  { path, variable }: RuleProblem,
  literals: readonly Literal[],
  body: readonly LiteralSource[],
): Span | null {
  const source = sourceAt(body, path);
  const literal = literalAt(literals, path);
  if (source === null || literal === null) return null;
  const terms: Places = new Map();
  if (variable !== null) notePlaces(literal, source, terms);
  return terms.get(variable ?? '') ?? source.span;
}

function cyclesOf(
  statements: readonly RuleStatement[],
  stored: readonly { rule: Rule; scope: string | null }[],
): NegativeCycle[] {
  const all: ScopedRule[] = [
    ...stored.map(({ rule, scope }) => ({ rule, scope, id: 'stored' })),
    ...statements.map(({ rule }) => ({ rule, scope: null, id: 'text' })),
  ];
  return negativeCycles(all);
}

/** Cycles through `not` or an aggregate, shown at the text's rules that take part. */
function findCycles(
  statements: readonly RuleStatement[],
  cycles: readonly NegativeCycle[],
  findings: Findings,
): void {
  const reported = new Set<string>();
  for (const cycle of cycles) {
    const words = renderCycle(cycle);
    if (reported.has(words)) continue;
    reported.add(words);
    const message = `these rules cannot be stratified, since a cycle goes through not or an aggregate: ${words}`;
    const steps = new Set(
      cycle.completes.map((completes, index) =>
        stepKey(cycle.relations[index], cycle.relations[index + 1], completes),
      ),
    );
    const places = statements.flatMap(({ rule, body }) =>
      dependenciesOf(rule.body).flatMap((dependency) => {
        const { relation, completes, path } = dependency;
        const source = sourceAt(body, path);
        const isStep = steps.has(stepKey(relationOf(rule.head), relation, completes));
        return isStep && source !== null ? [{ completes, span: source.span }] : [];
      }),
    );
    const through = places.filter((place) => place.completes);
    for (const { span } of through.length > 0 ? through : places)
      findings.add('error', 'negative_cycle', span, message);
  }
}

function stepKey(from: string | undefined, to: string | undefined, completes: boolean): string {
  return `${from}\n${to}\n${completes}`;
}

/** Rules and facts that the text has twice, and rules that exist already. */
function* findDuplicates(
  statements: readonly Statement[],
  stored: readonly { rule: Rule; scope: string | null }[],
  findings: Findings,
): Generator<'more', void, undefined> {
  const taught = new Set(stored.filter(({ scope }) => scope === null).map(({ rule }) => ruleIdentity(rule)));
  const seen = new Set<string>();
  for (const [index, statement] of statements.entries()) {
    if (index % statementsOfStep === 0) yield 'more';
    const { kind, span } = statement;
    const identity = kind === 'fact' ? renderAtom(statement.atom) : ruleIdentity(statement.rule);
    if (seen.has(`${kind} ${identity}`))
      findings.add(
        'warning',
        'duplicate',
        span,
        `this ${kind} stands in the text already: remove one of the two`,
      );
    else if (kind === 'rule' && taught.has(identity))
      findings.add(
        'info',
        'duplicate',
        span,
        'this rule is taught already: teaching it again changes nothing',
      );
    seen.add(`${kind} ${identity}`);
  }
}

/** One use of a predicate; `concludes`: as a fact or a head, which makes it known. */
export interface PredicateOccurrence {
  readonly name: string;
  readonly arity: number;
  readonly concludes: boolean;
  readonly span: Span;
}

function usesIn(body: readonly Literal[], sources: readonly LiteralSource[]): PredicateOccurrence[] {
  return body.flatMap((literal, index): PredicateOccurrence[] => {
    const source = sources[index];
    if (source === undefined || isBuiltin(literal)) return [];
    if (isAggregate(literal)) return usesIn(literal.body, source.body);
    return [{ name: literal.predicate, arity: literal.args.length, concludes: false, span: source.name }];
  });
}

function usesOf(statement: Statement): PredicateOccurrence[] {
  const atom = statement.kind === 'fact' ? statement.atom : statement.rule.head;
  const head: PredicateOccurrence = {
    name: atom.predicate,
    arity: atom.args.length,
    concludes: true,
    span: statement.head.name,
  };
  return statement.kind === 'fact' ? [head] : [head, ...usesIn(statement.rule.body, statement.body)];
}

/** The predicates of statements and constraints. */
function occurrencesIn(
  statements: readonly Statement[],
  constraints: readonly ConstraintStatement[],
): PredicateOccurrence[] {
  const uses = statements.flatMap(usesOf);
  for (const { literals, body } of constraints) uses.push(...usesIn(literals, body));
  return uses;
}

/** The known predicates: arities by name, and names by their lower case. */
class Lexicon {
  readonly #arities = new Map<string, Set<number>>();
  readonly #spellings = new Map<string, Set<string>>();

  add(name: string, arity: number): void {
    const arities = this.#arities.get(name) ?? new Set();
    this.#arities.set(name, arities.add(arity));
    const lower = name.toLowerCase();
    const spellings = this.#spellings.get(lower) ?? new Set();
    this.#spellings.set(lower, spellings.add(name));
  }

  has(name: string, arity: number): boolean {
    return this.#arities.get(name)?.has(arity) ?? false;
  }

  /** The known predicates of that name, as in `p/1, p/2`; '' if there are none. */
  known(name: string): string {
    const arities = [...(this.#arities.get(name) ?? [])].sort((left, right) => left - right);
    return arities.map((arity) => `${name}/${arity}`).join(', ');
  }

  /** A known spelling of the name that differs in case only. */
  nearMiss(name: string): string | null {
    for (const spelling of this.#spellings.get(name.toLowerCase()) ?? [])
      if (spelling !== name) return spelling;
    return null;
  }
}

/** Warns of predicates that nothing concludes, of different case, and of different arities. */
function* checkPredicates(
  uses: readonly PredicateOccurrence[],
  predicates: KnownLanguage['predicates'],
  findings: Findings,
): Generator<'more', void, undefined> {
  const lexicon = new Lexicon();
  for (const { name, arity } of predicates) lexicon.add(name, arity);
  for (const [index, use] of uses.entries()) {
    if (index % statementsOfStep === 0) yield 'more';
    if (!use.concludes || lexicon.has(use.name, use.arity)) continue;
    if (lexicon.known(use.name) !== '') warnOfArity(use, lexicon, findings);
    else warnOfCase(use, lexicon, findings);
    lexicon.add(use.name, use.arity);
  }
  for (const [index, use] of uses.entries()) {
    if (index % statementsOfStep === 0) yield 'more';
    if (use.concludes || lexicon.has(use.name, use.arity)) continue;
    if (lexicon.known(use.name) !== '') warnOfArity(use, lexicon, findings);
    else if (!warnOfCase(use, lexicon, findings))
      findings.add(
        'warning',
        'unknown_predicate',
        use.span,
        `nothing is known of ${use.name}/${use.arity}: no fact and no rule has it, so this never matches yet`,
      );
  }
}

function warnOfArity(use: PredicateOccurrence, lexicon: Lexicon, findings: Findings): void {
  const message = `${use.name} has ${use.arity} arguments here, but elsewhere it is ${lexicon.known(use.name)}: these are different relations`;
  findings.add('warning', 'arity_drift', use.span, message);
}

function warnOfCase(use: PredicateOccurrence, lexicon: Lexicon, findings: Findings): boolean {
  const spelling = lexicon.nearMiss(use.name);
  if (spelling === null) return false;
  const message = `${use.name} differs from ${lexicon.known(spelling)} in case only: predicates are case-sensitive`;
  findings.add('warning', 'near_miss_case', use.span, message);
  return true;
}
