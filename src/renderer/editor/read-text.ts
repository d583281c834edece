/**
 * Where the names of a text stand: predicates and variables, statement by statement.
 *
 * Read by the parser that the service uses, so that what is renamed or looked up is what is meant: a word in a
 * constant, a string or a comment is none of it. Statements that cannot be read are left out. Offsets are UTF-16
 * units of the text; a question is read as one body, and its places are those in the question.
 */
import type { Atom, Literal, Rule } from '../../engine/contract/language.ts';
import { parseProgram, type Statement } from '../../engine/language/parse.ts';
import type { LiteralSource, Span } from '../../engine/language/source.ts';
import { isAggregate, isBuiltin } from '../../engine/language/terms.ts';

export type TextMode = 'program' | 'question';

export type AtomRole = 'fact' | 'head' | 'body';

/** One place where a predicate is named. */
export interface PredicateUse {
  readonly kind: 'predicate';
  readonly name: string;
  readonly arity: number;
  readonly negated: boolean;
  readonly role: AtomRole;
  /** Of the name alone. */
  readonly span: Span;
  /** Of the whole literal. */
  readonly whole: Span;
  readonly terms: readonly Span[];
  /** Index of the statement. */
  readonly statement: number;
}

/** One place where a variable stands. Variables are those of their statement. */
export interface VariableUse {
  readonly kind: 'variable';
  readonly name: string;
  readonly span: Span;
  readonly statement: number;
  /** What it is a term of. */
  readonly within: 'head' | 'atom' | 'absence' | 'builtin' | 'aggregate';
  /** How many braces stand around it. */
  readonly depth: number;
}

export type SymbolUse = PredicateUse | VariableUse;

export interface ReadStatement {
  readonly kind: 'fact' | 'rule' | 'question';
  /** Of a question the whole text. */
  readonly span: Span;
  readonly atom: Atom | null;
  readonly rule: Rule | null;
  /** The places of the body's literals. */
  readonly body: readonly LiteralSource[];
}

export interface ParsedText {
  readonly statements: readonly ReadStatement[];
  readonly predicates: readonly PredicateUse[];
  readonly variables: readonly VariableUse[];
  /** True where nothing of the text was passed over. */
  readonly isWhole: boolean;
}

/** A question is read as the body of this rule. */
export const questionHead = 'question :- ';

/** A question without the mark that may end it; every place stays. */
export function withoutQuestionMark(text: string): string {
  return text.replace(/\)\s*\?\s*$/, (end) => `)${' '.repeat(end.length - 1)}`);
}

const most = 1_000_000;

/** Collects the uses of one statement. `shift`: what was put before the text. */
class Uses {
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

function readStatement(statement: Statement, index: number, uses: Uses, isQuestion: boolean): ReadStatement {
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

let last: { readonly text: string; readonly mode: TextMode; readonly read: ParsedText } | null = null;

/** Reads what can be read of a text. The last one is kept: of what is written, several ask after each key. */
export function parseEditorText(text: string, mode: TextMode): ParsedText {
  if (last?.text !== text || last.mode !== mode) last = { text, mode, read: readAnew(text, mode) };
  return last.read;
}

function readAnew(text: string, mode: TextMode): ParsedText {
  const isQuestion = mode === 'question';
  const shift = isQuestion ? questionHead.length : 0;
  const whole = isQuestion ? questionHead + withoutQuestionMark(text) : text;
  const { statements, errors } = parseProgram(whole, { maxErrors: most });
  const uses = new Uses(shift);
  const read = (isQuestion ? statements.slice(0, 1) : statements).map((statement, index) =>
    readStatement(statement, index, uses, isQuestion),
  );
  const isWhole = errors.length === 0 && read.length === statements.length;
  return { statements: read, predicates: uses.predicates, variables: uses.variables, isWhole };
}

function holds(span: Span, offset: number): boolean {
  return span.start <= offset && offset <= span.end;
}

/** The predicate or variable that is named at an offset, its end included. */
export function symbolAt(read: ParsedText, offset: number): SymbolUse | null {
  return (
    read.predicates.find(({ span }) => holds(span, offset)) ??
    read.variables.find(({ span }) => holds(span, offset)) ??
    null
  );
}

/** Every place of the same predicate (name and arity, whatever its sign), or of the same variable of the statement. */
export function usesOf(read: ParsedText, symbol: SymbolUse): SymbolUse[] {
  return symbol.kind === 'predicate'
    ? read.predicates.filter(({ name, arity }) => name === symbol.name && arity === symbol.arity)
    : read.variables.filter(({ name, statement }) => name === symbol.name && statement === symbol.statement);
}

/** One stretch of a text and what stands there instead. */
export interface TextEdit extends Span {
  readonly text: string;
}

/** The text after edits that do not overlap. */
export function applyTextEdits(text: string, edits: readonly TextEdit[]): string {
  let result = text;
  for (const { start, end, text: part } of [...edits].sort((left, right) => right.start - left.start))
    result = result.slice(0, start) + part + result.slice(end);
  return result;
}

/** The text with a predicate called otherwise wherever its statements can be read. */
export function renameInText(
  text: string,
  mode: TextMode,
  from: { name: string; arity: number },
  to: string,
) {
  const { predicates } = parseEditorText(text, mode);
  const edits = predicates
    .filter(({ name, arity }) => name === from.name && arity === from.arity)
    .map(({ span }) => ({ ...span, text: to }));
  return applyTextEdits(text, edits);
}
