/**
 * The small language in which workloads are written: rules over predicates of any arity, with default negation and
 * aggregates.
 *
 * A workload is written once; every contestant gets it in its own language through the printers here, so that no
 * contestant gets a better-written program by accident. Constants are lower-case words of letters, digits and `_`, or integers,
 * which need no quotes in any of the languages except Soufflé's. Only SQL is written by hand, with the workload.
 */

/** A predicate and its arguments; one that starts with `?` is a variable, and `?_` matches anything. */
export type BenchAtom = readonly [predicate: string, ...args: string[]];

/** True if no match of the atom can be derived. */
export interface Negation {
  readonly not: BenchAtom;
}

/**
 * `result` is the number of matches of the atom, or what its name says of the first variables of `over`, which are numbers. The
 * matches differ in `over`.
 */
export interface Aggregate {
  readonly name: 'count' | 'sum' | 'max';
  readonly result: string;
  readonly over: readonly string[];
  readonly of: BenchAtom;
}

export type BenchLiteral = BenchAtom | Negation | Aggregate;

export interface BenchRule {
  readonly head: BenchAtom;
  readonly body: readonly BenchLiteral[];
}

/** `rule(['tc', '?x', '?y'], ['edge', '?x', '?y'])` */
export function rule(head: BenchAtom, ...body: BenchLiteral[]): BenchRule {
  return { head, body };
}

export const not = (...atom: BenchAtom): Negation => ({ not: atom });

/** `count('?n', '?y', ['tc', '?x', '?y'])` */
export const count = (result: string, over: string, of: BenchAtom): Aggregate =>
  aggregate('count', result, [over], of);
/** `aggregate('sum', '?n', ['?v', '?x'], ['sale', '?x', '?k', '?v'])` */
export const aggregate = (
  name: Aggregate['name'],
  result: string,
  over: readonly string[],
  of: BenchAtom,
): Aggregate => ({ name, result, over, of });

/** How one language writes a term, a negated atom, an aggregate, and the parts around a rule. */
interface Language {
  term(text: string): string;
  not(atom: string): string;
  aggregate(name: Aggregate['name'], result: string, over: readonly string[], of: string): string;
  readonly end: string;
}

const isVariable = (term: string): boolean => term.startsWith('?');

/** Prolog's variables and ASP's begin with a capital letter. */
const capital = (term: string): string => (isVariable(term) ? term.slice(1).toUpperCase() : term);

const corollary: Language = {
  term: (text) => text,
  not: (atom) => `not ${atom}`,
  aggregate: (name, result, over, of) => `${result} = ${name} { ${over.join(', ')} : ${of} }`,
  end: '',
};

const prolog: Language = {
  term: capital,
  not: (atom) => `\\+ ${atom}`,
  aggregate: (name, result, [value], of) =>
    `aggregate_all(${name === 'count' ? name : `${name}(${value})`}, ${of}, ${result})`,
  end: '.',
};

const answerSets: Language = {
  term: capital,
  not: (atom) => `not ${atom}`,
  aggregate: (name, result, over, of) => `${result} = #${name} { ${over.join(', ')} : ${of} }`,
  end: '.',
};

const souffle: Language = {
  term: (term) => (isVariable(term) ? term.slice(1) : `"${term}"`),
  not: (atom) => `!${atom}`,
  aggregate: (name, result, [value], of) =>
    `${result} = ${name === 'count' ? name : `${name} to_number(${value})`} : { ${of} }`,
  end: '.',
};

function printAtom([predicate, ...args]: BenchAtom, language: Language): string {
  return `${predicate}(${args.map((arg) => language.term(arg)).join(', ')})`;
}

function printLiteral(literal: BenchLiteral, language: Language): string {
  if ('not' in literal) return language.not(printAtom(literal.not, language));
  if (!('of' in literal)) return printAtom(literal, language);
  const { name, result, over, of } = literal;
  const variables = over.map((term) => language.term(term));
  return language.aggregate(name, language.term(result), variables, printAtom(of, language));
}

function printRule({ head, body }: BenchRule, language: Language): string {
  const literals = body.map((literal) => printLiteral(literal, language));
  return `${printAtom(head, language)} :- ${literals.join(', ')}${language.end}`;
}

/** Corollary's own grammar, without the full stop. */
export const corollaryRule = (rule: BenchRule): string => printRule(rule, corollary);
export const prologRule = (rule: BenchRule): string => printRule(rule, prolog);
export const prologAtom = (atom: BenchAtom): string => printAtom(atom, prolog);
export const gringoRule = (rule: BenchRule): string => printRule(rule, answerSets);
export const souffleRule = (rule: BenchRule): string => printRule(rule, souffle);

/** Namespace of every name in N3. */
export const n3Namespace = 'urn:b:';

/** N3 has triples, and its rules here only positive ones. */
export function fitsN3({ head, body }: BenchRule): boolean {
  return [head, ...body].every(
    (literal) => !('not' in literal) && !('of' in literal) && literal.length === 3,
  );
}

function n3Triple(literal: BenchLiteral): string {
  if ('not' in literal || 'of' in literal || literal.length !== 3)
    throw new Error(`N3 takes atoms of two arguments: ${JSON.stringify(literal)}`);
  const [predicate, subject = '', object = ''] = literal;
  const term = (text: string): string => (isVariable(text) ? text : `:${text}`);
  return `${term(subject)} :${predicate} ${term(object)}`;
}

/** A rule as N3, for a document whose default prefix is `n3Namespace`. */
export function n3Rule(rule: BenchRule): string {
  return `{ ${rule.body.map(n3Triple).join(' . ')} } => { ${n3Triple(rule.head)} } .`;
}
