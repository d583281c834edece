/**
 * Positions of names in a text: predicates and variables, per statement.
 *
 * Uses the service's parser, so that a rename or look-up never touches words in constants, strings or comments.
 * Unparsable statements are skipped. Offsets are UTF-16 units of the text; a question is parsed as a body, with
 * positions in the question.
 */
import type { Atom, Literal, Rule } from '../engine/contract/language.ts';
import { parseKnowledgeText } from '../engine/language/knowledge-text.ts';
import { parseProgram } from '../engine/language/parse.ts';
import type { ConstraintStatement, Statement } from '../engine/language/parser.ts';
import type { LiteralSource, Span } from '../engine/language/source.ts';
import { isAggregate, isBuiltin } from '../engine/language/terms.ts';

/** How a text is parsed: facts and rules, the body of a question, or one constraint. */
export type TextMode = 'program' | 'question' | 'constraint' | 'tests';

/** Role of an atom in its statement; `given` and `answer`: in a test. */
type AtomRole = 'fact' | 'head' | 'body' | 'declaration' | 'given' | 'answer';

/** One occurrence of a predicate. */
export interface PredicateUse {
  readonly kind: 'predicate';
  readonly name: string;
  readonly arity: number;
  readonly negated: boolean;
  readonly role: AtomRole;
  /** Span of the name. */
  readonly span: Span;
  /** Span of the literal. */
  readonly whole: Span;
  readonly terms: readonly Span[];
  /** Index of the statement. */
  readonly statement: number;
}

/** One occurrence of a variable. Variables belong to their statement. */
export interface VariableUse {
  readonly kind: 'variable';
  readonly name: string;
  readonly span: Span;
  readonly statement: number;
  /** Construct that contains it. */
  readonly within: 'head' | 'atom' | 'absence' | 'builtin' | 'aggregate';
  /** Number of enclosing braces. */
  readonly depth: number;
}

/** An occurrence of a predicate or variable. */
export type SymbolUse = PredicateUse | VariableUse;

/** A parsed statement. */
export interface ReadStatement {
  /** `question`: the whole text is one, or an expectation of a test; `given`: what a test supposes. */
  readonly kind: 'fact' | 'rule' | 'question' | 'constraint' | 'declaration' | 'given';
  /** For a question, the whole text. */
  readonly span: Span;
  readonly atom: Atom | null;
  readonly rule: Rule | null;
  /** Positions of the body's literals. */
  readonly body: readonly LiteralSource[];
}

/** A text as far as it could be parsed. */
export interface ParsedText {
  readonly statements: readonly ReadStatement[];
  readonly predicates: readonly PredicateUse[];
  readonly variables: readonly VariableUse[];
  /** True if nothing was skipped. */
  readonly isWhole: boolean;
}

/** A question is parsed as the body of this rule. */
export const questionHead = 'question :- ';

/** Returns a question without its final question mark; positions are unchanged. */
export function withoutQuestionMark(text: string): string {
  return text.replace(/\)\s*\?\s*$/, (end) => `)${' '.repeat(end.length - 1)}`);
}

const most = 1_000_000;

/** Collects the occurrences of names, statement by statement. `shift` is the length of the text put before them. */
export class SymbolUses {
  readonly predicates: PredicateUse[] = [];
  readonly variables: VariableUse[] = [];
  readonly #shift: number;

  constructor(shift: number) {
    this.#shift = shift;
  }

  span({ start, end }: Span): Span {
    return { start: start - this.#shift, end: end - this.#shift };
  }

  atom(atom: Atom, source: LiteralSource, role: AtomRole, statement: number): void {
    this.predicates.push({
      kind: 'predicate',
      name: atom.predicate,
      arity: atom.args.length,
      negated: atom.negated,
      role,
      span: this.span(source.name),
      whole: this.span(source.span),
      terms: source.terms.map((term) => this.span(term)),
      statement,
    });
  }

  terms(
    names: readonly string[],
    spans: readonly Span[],
    place: Pick<VariableUse, 'within' | 'statement' | 'depth'>,
  ): void {
    for (const [index, name] of names.entries()) {
      const span = spans[index];
      if (name.startsWith('?') && span !== undefined)
        this.variables.push({ kind: 'variable', name, span: this.span(span), ...place });
    }
  }

  body(
    literals: readonly Literal[],
    sources: readonly LiteralSource[],
    statement: number,
    depth: number,
  ): void {
    for (const [index, literal] of literals.entries()) {
      const source = sources[index];
      if (source === undefined) continue;
      if (isAggregate(literal)) {
        const [result, ...over] = source.terms;
        if (result !== undefined)
          this.terms([literal.result], [result], { within: 'aggregate', statement, depth });
        this.terms(literal.over, over, { within: 'aggregate', statement, depth: depth + 1 });
        this.body(literal.body, source.body, statement, depth + 1);
      } else if (isBuiltin(literal)) {
        this.terms(literal.args, source.terms, { within: 'builtin', statement, depth });
      } else {
        this.atom(literal, source, 'body', statement);
        const within = literal.naf ? 'absence' : 'atom';
        this.terms(literal.args, source.terms, { within, statement, depth });
      }
    }
  }
}

function readStatement(
  statement: Statement,
  index: number,
  uses: SymbolUses,
  isQuestion: boolean,
): ReadStatement {
  const { kind, span, head } = statement;
  const atom = kind === 'fact' ? statement.atom : statement.rule.head;
  if (!isQuestion) {
    uses.atom(atom, head, kind === 'fact' ? 'fact' : 'head', index);
    uses.terms(atom.args, head.terms, { within: 'head', statement: index, depth: 0 });
  }
  if (kind === 'rule') uses.body(statement.rule.body, statement.body, index, 0);
  return {
    kind: isQuestion ? 'question' : kind,
    span: uses.span(span),
    atom: isQuestion ? null : atom,
    rule: kind === 'rule' ? statement.rule : null,
    body: kind === 'rule' ? statement.body : [],
  };
}

function readConstraint(
  { span, literals, body }: ConstraintStatement,
  index: number,
  uses: SymbolUses,
): ReadStatement {
  uses.body(literals, body, index, 0);
  return { kind: 'constraint', span: uses.span(span), atom: null, rule: null, body };
}

interface CachedRead {
  readonly text: string;
  readonly mode: TextMode;
  readonly read: ParsedText;
}

/** The latest first: an editor, a view beside it that trails it, and the stored texts take turns. */
let cached: readonly CachedRead[] = [];
const maxCached = 3;

/** Parses what can be parsed of a text. Caches the last results, which several callers need after each keystroke. */
export function parseEditorText(text: string, mode: TextMode): ParsedText {
  const known = cached.find((each) => each.mode === mode && each.text === text);
  const current = known ?? { text, mode, read: readAnew(text, mode) };
  if (cached[0] !== current)
    cached = [current, ...cached.filter((each) => each !== current)].slice(0, maxCached);
  return current.read;
}

function readAnew(text: string, mode: TextMode): ParsedText {
  if (mode === 'tests') {
    const { items, errors } = parseKnowledgeText(text, { tests: true });
    const isWhole = errors.length === 0 && items.every(({ kind }) => kind === 'test');
    return { statements: [], predicates: [], variables: [], isWhole };
  }
  const isQuestion = mode === 'question';
  const shift = isQuestion ? questionHead.length : 0;
  const whole = isQuestion ? questionHead + withoutQuestionMark(text) : text;
  const allowsConstraints = mode === 'constraint';
  const { statements, constraints, errors } = parseProgram(whole, { maxErrors: most, allowsConstraints });
  const uses = new SymbolUses(shift);
  if (allowsConstraints)
    return {
      statements: constraints.map((constraint, index) => readConstraint(constraint, index, uses)),
      predicates: uses.predicates,
      variables: uses.variables,
      isWhole: errors.length === 0 && statements.length === 0,
    };
  const read = (isQuestion ? statements.slice(0, 1) : statements).map((statement, index) =>
    readStatement(statement, index, uses, isQuestion),
  );
  const isWhole = errors.length === 0 && read.length === statements.length;
  return { statements: read, predicates: uses.predicates, variables: uses.variables, isWhole };
}

function holds(span: Span, offset: number): boolean {
  return span.start <= offset && offset <= span.end;
}

/** Returns the predicate or variable at an offset, its end included; null if there is none. */
export function symbolAt(read: ParsedText, offset: number): SymbolUse | null {
  return (
    read.predicates.find(({ span }) => holds(span, offset)) ??
    read.variables.find(({ span }) => holds(span, offset)) ??
    null
  );
}

/**
 * Returns all occurrences of the same predicate (name and arity, either sign), or of the same variable in the
 * statement.
 */
export function usesOf(read: ParsedText, symbol: SymbolUse): SymbolUse[] {
  return symbol.kind === 'predicate'
    ? read.predicates.filter(({ name, arity }) => name === symbol.name && arity === symbol.arity)
    : read.variables.filter(({ name, statement }) => name === symbol.name && statement === symbol.statement);
}

/** A replacement of one span. */
export interface TextEdit extends Span {
  readonly text: string;
}

/** Returns the text after edits that do not overlap. */
export function applyTextEdits(text: string, edits: readonly TextEdit[]): string {
  let result = text;
  for (const { start, end, text: part } of [...edits].sort((left, right) => right.start - left.start))
    result = result.slice(0, start) + part + result.slice(end);
  return result;
}
