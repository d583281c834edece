/**
 * Arguments by name: from the names that declarations give to arguments to their positions.
 *
 * Names are resolved at the border, once: what is stored, derived and rendered has positions only. So a rule means
 * what it meant when it was taught, whatever is declared later.
 */
import { editDistance } from '../base/edit-distance.ts';
import { invalid } from '../base/errors.ts';
import { NamedTerms } from '../contract/language.ts';
import { wildcard } from './terms.ts';

/** What of a declaration names its arguments. */
export interface NamedArguments {
  readonly name: string;
  readonly arity: number;
  readonly arguments: readonly { readonly name: string }[];
}

/** The arguments in order with their names, or why they have none. */
type InOrder =
  | { readonly kind: 'inOrder'; readonly args: string[]; readonly names: readonly string[] }
  /** `name`: the argument at fault; null: the atom as a whole. `isDeclared`: its predicate has named arguments. */
  | {
      readonly kind: 'problem';
      readonly message: string;
      readonly name: string | null;
      readonly isDeclared: boolean;
    };

/** The arguments by these names, as many. */
export function namedBy(names: readonly string[], args: readonly string[]): Record<string, string> {
  // Without a prototype, so that any name is a field of its own.
  const named = Object.create(null) as Record<string, string>;
  for (let at = 0; at < names.length; at++) named[names[at] as string] = args[at] as string;
  return named;
}

/** At most this many names are listed in a message. */
const maxListed = 10;

/** The names of arguments that are declared in a database. */
export class ArgumentNames {
  /** By predicate, the names for each arity, ascending. */
  readonly #byPredicate = new Map<string, (readonly string[])[]>();

  constructor(declarations: Iterable<NamedArguments>) {
    for (const { name, arity, arguments: declared } of declarations) {
      if (declared.length !== arity) continue;
      const known = this.#byPredicate.get(name) ?? [];
      known.push(declared.map((each) => each.name));
      known.sort((left, right) => left.length - right.length);
      this.#byPredicate.set(name, known);
    }
  }

  /** The names of the arguments in order; null: they have none. */
  of(predicate: string, arity: number): readonly string[] | null {
    return this.#byPredicate.get(predicate)?.find((names) => names.length === arity) ?? null;
  }

  /** The field `named` of an atom in an answer: its arguments by name; none unless they are declared. */
  part(predicate: string, args: readonly string[]): { named?: Record<string, string> } {
    const names = this.of(predicate, args.length);
    return names === null || names.length === 0 ? {} : { named: namedBy(names, args) };
  }

  /** True if no argument has a name. */
  get isEmpty(): boolean {
    return this.#byPredicate.size === 0;
  }

  /** The declared arities of the predicate, as the names of their arguments. */
  arities(predicate: string): readonly (readonly string[])[] {
    return this.#byPredicate.get(predicate) ?? [];
  }

  /**
   * The arguments in the order of the one declaration of the predicate that has all their names; what is left out is
   * `?_`, unless all are needed.
   */
  inOrder(predicate: string, given: NamedTerms): InOrder {
    const declared = this.arities(predicate);
    const isDeclared = declared.length > 0;
    const problem = (message: string, name: string | null = null): InOrder => {
      return { kind: 'problem', message, name, isDeclared };
    };
    if (!isDeclared) return problem(this.#undeclared(predicate));
    const all = new Set(declared.flat());
    const unknown = given.names.find((name) => !all.has(name));
    if (unknown !== undefined) return problem(unknownName(predicate, unknown, declared), unknown);
    const having = declared.filter((names) => given.names.every((name) => names.includes(name)));
    // Names are distinct: as many as the arity are all of them.
    const fitting = given.needsAll ? having.filter((names) => names.length === given.length) : having;
    const [names, another] = fitting;
    if (another !== undefined && names !== undefined)
      return problem(
        `the names fit ${predicate}/${names.length} and ${predicate}/${another.length}: give the arguments in order`,
      );
    if (names === undefined) return problem(missing(predicate, given, having, declared));
    const values = new Map(given.names.map((name, at) => [name, given[at] as string]));
    return { kind: 'inOrder', args: names.map((name) => values.get(name) ?? wildcard), names };
  }

  #undeclared(predicate: string): string {
    const near = nearest(predicate, this.#byPredicate.keys());
    const meant = near === null ? '' : `; did you mean ${near}?`;
    return `no arguments of ${predicate} are declared: give them in order, as a list or in parentheses${meant}`;
  }
}

function unknownName(predicate: string, name: string, declared: readonly (readonly string[])[]): string {
  const near = nearest(name, new Set(declared.flat()));
  const meant = near === null ? '' : ` Did you mean ${near}?`;
  return `no argument of ${predicate} is called ${name}: there is ${listed(predicate, declared)}.${meant}`;
}

function missing(
  predicate: string,
  given: NamedTerms,
  having: readonly (readonly string[])[],
  declared: readonly (readonly string[])[],
): string {
  const [names] = having;
  if (names === undefined)
    return `no arity of ${predicate} has all of ${given.names.join(', ')}: there is ${listed(predicate, declared)}`;
  const left = names.filter((name) => !given.names.includes(name)).slice(0, maxListed);
  return `a fact and the head of a rule need all arguments of ${predicate}: give ${left.join(', ')}`;
}

function listed(predicate: string, declared: readonly (readonly string[])[]): string {
  return declared
    .slice(0, maxListed)
    .map((names) => {
      const more = names.length > maxListed ? ', …' : '';
      return `${predicate}{${names.slice(0, maxListed).join(', ')}${more}}`;
    })
    .join(' and ');
}

/** Longer names are not compared, nor more than so many. */
const [maxCompared, maxComparisons] = [64, 10_000];

/** The name spelled most like this one; null: none is like it. */
function nearest(name: string, among: Iterable<string>): string | null {
  if (name.length > maxCompared) return null;
  const plain = name.toLowerCase();
  const most = plain.length <= 3 ? 1 : 2;
  let best: string | null = null;
  let least = most + 1;
  let looked = 0;
  for (const each of among) {
    if (++looked > maxComparisons) break;
    if (Math.abs(each.length - name.length) > most) continue;
    const distance = editDistance(each.toLowerCase(), plain);
    if (distance < least) [best, least] = [each, distance];
  }
  return best;
}

/**
 * Puts the arguments by name in order, in every atom of a request; metadata is not looked into. Throws a 400
 * ValidationException with the path of an atom that fits no declaration.
 */
export function resolveNames(request: unknown, names: () => ArgumentNames, path = ''): void {
  if (typeof request !== 'object' || request === null) return;
  if (Array.isArray(request)) {
    for (const [at, each] of (request as unknown[]).entries())
      if (typeof each === 'object') resolveNames(each, names, `${path}${at}.`);
    return;
  }
  const fields = request as Record<string, unknown>;
  const { args, predicate } = fields;
  if (args instanceof NamedTerms) {
    if (typeof predicate !== 'string')
      throw invalid(`${path}args`, 'arguments by name stand beside their predicate');
    fields['args'] = argsInOrder(predicate, args, names(), path);
  }
  // An atom has no others within.
  if (Array.isArray(args) && typeof predicate === 'string') return;
  for (const field in fields) {
    const value = fields[field];
    if (typeof value !== 'object' || value === null || field === 'metadata' || field === 'args') continue;
    resolveNames(value, names, `${path}${field}.`);
  }
}

/** Like `resolveNames`, for one atom. `path` ends with a full stop, or is empty. */
export function argsInOrder(
  predicate: string,
  args: readonly string[],
  names: ArgumentNames,
  path: string,
): string[] {
  if (!(args instanceof NamedTerms)) return args as string[];
  const inOrder = names.inOrder(predicate, args);
  if (inOrder.kind === 'inOrder') return inOrder.args;
  throw invalid(`${path}args${inOrder.name === null ? '' : `.${inOrder.name}`}`, inOrder.message);
}
