/**
 * The little language that workloads are written in: positive rules over binary and wider relations.
 *
 * A workload is written once; every contestant gets it in its own language through the printers here, so that
 * no contestant is given a better-written program by accident. Constants are lower-case words of letters, digits
 * and `_`, which need no quotes in any of the languages. Only SQL is written by hand, with the workload.
 */

/** A predicate and its arguments; one that starts with `?` is a variable. */
export type BenchAtom = readonly [predicate: string, ...args: string[]];

export interface BenchRule {
  readonly head: BenchAtom;
  readonly body: readonly BenchAtom[];
}

/** `rule(['tc', '?x', '?y'], ['edge', '?x', '?y'])` */
export function rule(head: BenchAtom, ...body: BenchAtom[]): BenchRule {
  return { head, body };
}

function printAtom(atom: BenchAtom, variable: (name: string) => string): string {
  const [predicate, ...args] = atom;
  return `${predicate}(${args.map((arg) => (arg.startsWith('?') ? variable(arg.slice(1)) : arg)).join(', ')})`;
}

const ownVariable = (name: string): string => `?${name}`;
const prologVariable = (name: string): string => name.toUpperCase();

/** Corollary's own grammar, without the full stop. */
export function corollaryRule(rule: BenchRule): string {
  return `${printAtom(rule.head, ownVariable)} :- ${rule.body.map((atom) => printAtom(atom, ownVariable)).join(', ')}`;
}

/** Prolog and ASP agree on rules as simple as these. */
export function prologRule(rule: BenchRule): string {
  return `${prologAtom(rule.head)} :- ${rule.body.map(prologAtom).join(', ')}.`;
}

export function prologAtom(atom: BenchAtom): string {
  return printAtom(atom, prologVariable);
}

/** Namespace of everything that N3 sees. */
export const n3Namespace = 'urn:b:';

function n3Triple(atom: BenchAtom): string {
  const [predicate, subject, object, ...more] = atom;
  if (subject === undefined || object === undefined || more.length > 0)
    throw new Error(`N3 takes two arguments: ${predicate}`);
  const term = (text: string): string => (text.startsWith('?') ? text : `:${text}`);
  return `${term(subject)} :${predicate} ${term(object)}`;
}

/** A rule as N3, for a document whose default prefix is `n3Namespace`. */
export function n3Rule(rule: BenchRule): string {
  return `{ ${rule.body.map(n3Triple).join(' . ')} } => { ${n3Triple(rule.head)} } .`;
}
