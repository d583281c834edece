/**
 * Atoms, literals and rules as text.
 *
 * The text parses back to the same thing (`parse.ts`), whatever the strings are. A constant is bare if that
 * is unambiguous, else a JSON string literal; operands of built-ins, where no parenthesis ends them, are
 * quoted more often.
 */
import {
  type AggregateLiteral,
  type Atom,
  type AtomLiteral,
  isVariable,
  type Literal,
  NamedTerms,
  type Rule,
} from '../contract/language.ts';
import { isNumber } from './numbers.ts';
import { isAggregate, isArithmetic, isComparison, isNamedVariable } from './terms.ts';

// eslint-disable-next-line no-control-regex
const needsQuotes = /^$|^\s|\s$|[,()"\\\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
const word = /^[\p{L}\p{N}_]+$/u;

/** A constant or variable as an argument of an atom. */
export function renderConstant(text: string): string {
  return needsQuotes.test(text) ? JSON.stringify(text) : text;
}

/** A constant or variable as an operand of a built-in. */
function renderOperand(text: string): string {
  return isVariable(text) || word.test(text) || isNumber(text) ? text : JSON.stringify(text);
}

const needsQuotesInBraces = /[{}]/;

/** `predicate{name: value}`: an atom whose arguments are not in the order of a declaration yet. */
function renderNamed({ predicate, negated }: Atom, args: NamedTerms): string {
  const fields = args.names.map((name, at) => {
    const text = args[at] as string;
    return `${name}: ${needsQuotesInBraces.test(text) ? JSON.stringify(text) : renderConstant(text)}`;
  });
  return `${negated ? '-' : ''}${predicate}{${fields.join(', ')}}`;
}

/** `predicate(arg1, arg2)`, preceded by `-` if negated. */
export function renderAtom(atom: Atom): string {
  const { args } = atom;
  if (args instanceof NamedTerms) return renderNamed(atom, args);
  let text = atom.negated ? `-${atom.predicate}(` : `${atom.predicate}(`;
  for (let index = 0; index < args.length; index++) {
    if (index > 0) text += ', ';
    text += renderConstant(args[index] as string);
  }
  return `${text})`;
}

/** The atom of a fact; the truth value false is explicit negation. */
export function renderIdentity(fact: {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
}): string {
  return renderAtom({ predicate: fact.predicate, args: fact.args as string[], negated: !fact.truthVal });
}

function renderBuiltin(literal: AtomLiteral): string | null {
  const operands = literal.args.map(renderOperand);
  if (isComparison(literal) && operands.length === 2)
    return `${operands[0]} ${literal.predicate} ${operands[1]}`;
  if (isArithmetic(literal) && operands.length === 3)
    return `${operands[2]} = ${operands[0]} ${literal.predicate} ${operands[1]}`;
  return null;
}

function renderAggregate(literal: AggregateLiteral): string {
  const over = literal.over.map(renderOperand).join(', ');
  return `${renderOperand(literal.result)} = ${literal.aggregate} { ${over} : ${renderBody(literal.body)} }`;
}

/** A body literal: `p(a)`, `-p(a)`, `not p(a)`, `?a < ?b`, `?c = ?a + ?b`, `?n = count { ?y : p(?y) }`. */
export function renderLiteral(literal: Literal): string {
  if (isAggregate(literal)) return renderAggregate(literal);
  const plain = renderBuiltin(literal) ?? renderAtom(literal);
  return literal.naf ? `not ${plain}` : plain;
}

/** The literals of a body in order, separated by commas. */
export function renderBody(body: readonly Literal[]): string {
  return body.map(renderLiteral).join(', ');
}

/** `head :- body`, without a full stop. */
export function renderRule(rule: Rule): string {
  return `${renderAtom(rule.head)} :- ${renderBody(rule.body)}`;
}

/** `!- body`, without a full stop. */
export function renderConstraint(body: readonly Literal[]): string {
  return `!- ${renderBody(body)}`;
}

/**
 * A text that is equal for two rules exactly if they are the same: same head, same body in the same order, up to
 * renaming of variables. The scope does not matter. `?_` is never renamed, since each occurrence is a variable of its
 * own.
 */
export function ruleIdentity(rule: Rule): string {
  const names = new Map<string, string>();
  function rename(term: string): string {
    if (!isNamedVariable(term)) return term;
    let name = names.get(term);
    if (name === undefined) {
      name = `?${names.size}`;
      names.set(term, name);
    }
    return name;
  }
  function shape(literal: Literal): unknown[] {
    if (isAggregate(literal))
      return [literal.aggregate, rename(literal.result), literal.over.map(rename), literal.body.map(shape)];
    return [literal.predicate, literal.negated, literal.naf, ...literal.args.map(rename)];
  }
  const { predicate, negated, args } = rule.head;
  return JSON.stringify([predicate, negated, args.map(rename), rule.body.map(shape)]);
}
