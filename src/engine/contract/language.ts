/**
 * The language on the wire: the types of atoms, literals and rules, and the checks of names and constants. Their schemas
 * are in `language-schemas.ts`: the first page of the workbench runs this file, and does without a validator.
 *
 * The wire shape with all defaults filled in is also the engine's AST. An argument that starts with `?` is a variable,
 * any other string a constant.
 */
/** Comparison predicates: two arguments. */
export const comparisonNames = ['<', '<=', '>', '>=', '=', '!='] as const;
/** Arithmetic predicates: left, right, result. */
export const arithmeticNames = ['+', '-', '*', '/', 'mod'] as const;
export const aggregateNames = ['count', 'sum', 'min', 'max', 'avg'] as const;

export type AggregateName = (typeof aggregateNames)[number];

/** `predicate(args)`, or `-predicate(args)` when `negated` (explicit negation). */
export interface Atom {
  predicate: string;
  args: string[];
  negated: boolean;
}

/** An atom in a body; `naf`: under default negation (`not`). A built-in has the name of one as its predicate. */
export interface AtomLiteral extends Atom {
  naf: boolean;
}

/** `result = aggregate { over : body }`. */
export interface AggregateLiteral {
  aggregate: AggregateName;
  result: string;
  over: string[];
  body: Literal[];
}

export type Literal = AtomLiteral | AggregateLiteral;

/** `head :- body`. Variables are scoped to the rule. */
export interface Rule {
  head: Atom;
  body: Literal[];
}

/**
 * Arguments by name, of an atom whose declaration is not known yet: the values in the order given, beside their names.
 * `language/argument-names` puts them in the order of the declaration before anything else reads them.
 */
export class NamedTerms extends Array<string> {
  /** Copies have no names: they are plain lists. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  readonly names: readonly string[];
  /** An argument that is left out is an error; else it is `?_`. */
  readonly needsAll: boolean;

  constructor(given: ReadonlyMap<string, string>, needsAll: boolean) {
    super();
    for (const value of given.values()) this.push(value);
    this.names = [...given.keys()];
    this.needsAll = needsAll;
  }

  /** As a client gives them, so that a program that sends what it parsed sends the names. */
  toJSON(): Record<string, string> {
    return Object.fromEntries(this.names.map((name, at) => [name, this[at] as string]));
  }
}

const argumentName = /^[\p{L}\p{N}_]{1,128}$/u;

/** True if an argument may be declared with this name. */
export function isArgumentName(name: string): boolean {
  return argumentName.test(name);
}

const loneSurrogate = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

/** True if the text has no lone surrogate, so that UTF-8 can encode it. */
export function isWellFormed(text: string): boolean {
  return !loneSurrogate.test(text);
}

/** Maximum size of a constant: its UTF-8 bytes. */
export const maxConstantBytes = 65_536;

/** Why the text is not a valid constant; null if it is. It may be a variable. */
export function constantProblem(text: string): string | null {
  // A UTF-16 code unit takes one to three bytes.
  if (text.length * 3 > maxConstantBytes) {
    const bytes = text.length > maxConstantBytes ? text.length : utf8Bytes(text);
    if (bytes > maxConstantBytes)
      return `a constant has at most ${maxConstantBytes} bytes of UTF-8; this one has ${utf8Bytes(text)}`;
  }
  return isWellFormed(text) ? null : 'the text holds a lone surrogate';
}

/** The bytes of the text in UTF-8; a lone surrogate counts as three. */
function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    // The two units of a surrogate pair take four bytes together.
    if (unit >= 0x80) bytes += unit < 0x800 || isHalfOfPair(text, at, unit) ? 1 : 2;
  }
  return bytes;
}

function isHalfOfPair(text: string, at: number, unit: number): boolean {
  if (unit < 0xd800 || unit > 0xdfff) return false;
  const other = unit < 0xdc00 ? text.charCodeAt(at + 1) : text.charCodeAt(at - 1);
  return unit < 0xdc00 ? other >= 0xdc00 && other <= 0xdfff : other >= 0xd800 && other <= 0xdbff;
}

/** Why the text is not a valid predicate; null if it is. */
export function predicateProblem(name: string): string | null {
  if (name.length < 1 || name.length > 256) return 'a predicate has 1 to 256 characters';
  if (!isWellFormed(name)) return 'the text holds a lone surrogate';
  const positive = /^(?:not|no)\s+(\S+)$/i.exec(name)?.[1];
  if (positive !== undefined)
    return (
      `a predicate has no white space: to say that something is explicitly false, use ${positive} itself, with ` +
      `truthVal false in a fact and negated true in a question or rule`
    );
  // eslint-disable-next-line no-control-regex
  if (/[\s\u0000-\u001f\u007f-\u009f(){},;"'`]/u.test(name))
    return 'a predicate has no white space, control character, quote or any of ( ) , { } ;';
  if (name.includes(':-')) return 'a predicate does not contain :-';
  if (/^[?\-%#]/.test(name)) return 'a predicate does not start with ? - % or #';
  if (name.endsWith('.')) return 'a predicate does not end with a full stop';
  return null;
}

const builtinNames: ReadonlySet<string> = new Set([...comparisonNames, ...arithmeticNames]);

/** True for the name of a comparison or an arithmetic operation. */
export function isBuiltinName(name: string): boolean {
  return builtinNames.has(name);
}

/** True for a variable: it starts with `?`. A valid one continues with letters, digits or `_`. */
export function isVariable(term: string): boolean {
  return term.startsWith('?');
}

export const maxArguments = 64;
export const maxBodyLiterals = 256;
