/**
 * Hints: what a caller probably meant, if a question or retraction found nothing, or a write looks like a slip.
 *
 * Each names the predicate, constant or atom meant as it is rendered, so that one more call succeeds. Hints change
 * nothing, and no answer depends on them. The search is bounded to a few milliseconds; the absence of a hint does not
 * mean that all is well.
 */
import { type Atom, type AtomLiteral, type Literal, type Rule, isVariable } from '../contract/language.ts';
import { EngineError } from '../base/errors.ts';
import type { KnownNames } from './known-names.ts';
import { parseAtom } from '../language/parse.ts';
import { renderAtom, renderConstant, renderLiteral, renderRule } from '../language/print.ts';
import { atomsIn, atomsOf, wildcard } from '../language/terms.ts';
import { spellingOf } from '../store/relation-names.ts';

export const maxHints = 5;
/** Maximum number of literals or facts examined per request. */
const maxExamined = 1000;
/** A longer constant is a text: nobody meant another one. */
const maxHintedCharacters = 1000;

/** The `hints` field of an answer; absent if there are none. */
export function hintsPart(hints: readonly string[]): { hints?: string[] } {
  return hints.length === 0 ? {} : { hints: [...hints] };
}

/** A bounded, ordered set of hints. */
export class Hints {
  readonly #hints = new Set<string>();

  get isFull(): boolean {
    return this.#hints.size >= maxHints;
  }

  add(hint: string | null): void {
    if (hint !== null && !this.isFull) this.#hints.add(hint);
  }

  list(): string[] {
    return [...this.#hints];
  }
}

/** Hints for a question or pattern that found nothing. */
export function hintsOfNothing(known: KnownNames, body: readonly Literal[]): string[] {
  const hints = new Hints();
  let looked = 0;
  const counts = occurrences([...atomsIn(body)]);
  for (const literal of atomsIn(body)) {
    if (hints.isFull || ++looked > maxExamined) break;
    addAsked(known, literal, counts, hints);
  }
  return hints.list();
}

function addAsked(
  known: KnownNames,
  asked: AtomLiteral,
  counts: ReadonlyMap<string, number>,
  hints: Hints,
): void {
  const { predicate } = asked;
  const arity = asked.args.length;
  const wrapped = wrappedAtom(asked);
  if (wrapped !== null && !known.has(predicate, arity)) {
    hints.add(
      `${predicate} is not a predicate here: to ask for explicit negation, use ${renderAtom(wrapped)}`,
    );
    return;
  }
  const arities = known.arities(predicate);
  const name = arities.length > 0 ? predicate : (known.nearest(predicate, arity) ?? predicate);
  const entities = asked.args.map((term) => known.entityOf(term));
  const variables = asked.args.map((term, position) =>
    entities[position] === null && isVariableSlip(known, term, counts) ? variableFor(term, asked) : null,
  );
  const spellings = asked.args.map((term, position) =>
    isVariable(term) || (variables[position] ?? entities[position]) !== null
      ? null
      : spellingMeant(known, name, asked, position),
  );
  const args = asked.args.map(
    (term, position) => entities[position] ?? variables[position] ?? spellings[position] ?? term,
  );
  const meant = renderLiteral({ ...asked, predicate: name, args });
  if (arities.length === 0) hints.add(unknownName(known, predicate, name, arity, meant));
  else if (!arities.includes(arity)) hints.add(otherArity(known, asked, arities));
  for (const [position, entity] of entities.entries())
    if (entity !== null) hints.add(aliasOf(asked.args[position] as string, entity, meant));
  const slips = asked.args.filter((_, position) => variables[position] !== null);
  if (slips.length > 0) hints.add(likeVariables(slips, meant));
  for (const [position, spelling] of spellings.entries())
    if (spelling !== null) {
      const written = renderConstant(asked.args[position] as string);
      hints.add(
        `no fact of it has ${written}, but there is ${renderConstant(spelling)}: did you mean ${meant}?`,
      );
    }
  if (slips.length === 0) hints.add(opposite(known, asked));
}

function aliasOf(alias: string, entity: string, meant: string): string {
  return `${renderConstant(alias)} is an alias of ${renderConstant(entity)}, and facts are matched by text: did you mean ${meant}?`;
}

function unknownName(known: KnownNames, name: string, near: string, arity: number, meant: string): string {
  const said = `no fact and no rule has the predicate ${name}`;
  if (near === name) return said;
  if (known.has(near, arity)) return `${said}: did you mean ${meant}?`;
  const arities = known.arities(near);
  return `${said}: the nearest is ${relations(known, near, arities)}${asIn(known, near, arities)}`;
}

function otherArity(known: KnownNames, { predicate, args }: Atom, arities: readonly number[]): string {
  const given = args.length === 1 ? '1 argument' : `${args.length} arguments`;
  return `${predicate} has ${given} here, but is known as ${relations(known, predicate, arities)}${asIn(known, predicate, arities)}`;
}

/** Renders `p/1 and p/2`; with its declared names `p{person, city}`. */
function relations(known: KnownNames, name: string, arities: readonly number[]): string {
  return listed(
    arities.slice(0, 5).map((arity) => {
      const names = known.argumentsOf(name, arity);
      return names.length === 0 ? `${name}/${arity}` : `${name}{${names.join(', ')}}`;
    }),
    'and',
  );
}

/** Renders `: for example p(a, b)` if such a fact is stored. */
function asIn(known: KnownNames, name: string, arities: readonly number[]): string {
  for (const arity of arities) {
    const example = known.example(name, arity);
    if (example !== null && example.length <= 300) return `: for example ${example}`;
  }
  return '';
}

function likeVariables(slips: readonly string[], meant: string): string {
  const names = [...new Set(slips)].map(renderConstant);
  const [verb, what] = names.length === 1 ? ['is', 'a constant'] : ['are', 'constants'];
  return `${listed(names, 'and')} ${verb} ${what} here: a variable begins with ?, as in ${meant}`;
}

function opposite(known: KnownNames, asked: AtomLiteral): string | null {
  if (asked.naf || asked.args.some(isVariable) || !known.isStored({ ...asked, negated: !asked.negated }))
    return null;
  const stored = renderAtom({ ...asked, negated: !asked.negated });
  return `${stored} is stored: the opposite of what was asked for`;
}

/** Question words, and wildcards of other systems. */
const asking =
  /^(?:\*|%|_|_[A-Za-z]\w*|[A-Z]\d*|Who|Whom|Whose|What|Which|Where|When|Someone|Somebody|Something|Anyone|Anybody|Anything|Any|Var|Variable)$/;
const capital = /^[A-Z]\w*$/;

/** True if a constant of a question was probably meant as a variable. */
function isVariableSlip(known: KnownNames, term: string, counts: ReadonlyMap<string, number>): boolean {
  const isLike = asking.test(term) || (capital.test(term) && (counts.get(term) ?? 0) > 1);
  return isLike && !known.hasConstant(term);
}

/** The variable that the term was meant as, distinct from those of the atom. */
function variableFor(term: string, { args }: Atom): string {
  if (!/^\w+$/.test(term) || term === '_') return wildcard;
  const lower = `?${term.toLowerCase()}`;
  return args.includes(lower) ? `?${term}` : lower;
}

/** How often each constant occurs. */
function occurrences(atoms: readonly Atom[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { args } of atoms)
    for (const term of args) if (!isVariable(term)) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}

/**
 * The constant that was probably meant at this position of an atom without matches; null: this one, as far as is known.
 */
function spellingMeant(known: KnownNames, name: string, { args }: Atom, position: number): string | null {
  const constant = args[position] as string;
  const arity = args.length;
  const isThere =
    known.hasConstantAt(name, arity, position, constant) ||
    (known.isRuled(name, arity) && known.hasConstant(constant));
  if (isThere) return null;
  const [guessed] = known.guessedAt(name, arity, position, constant);
  if (guessed !== undefined) return guessed;
  const spellings = known.otherSpellings(constant);
  return spellings.find((each) => known.hasConstantAt(name, arity, position, each)) ?? spellings[0] ?? null;
}

/** The negated atom in a constant like `not(...)` given as text; null if there is none. */
function wrappedAtom({ predicate, args }: Atom): Atom | null {
  const [inner] = args;
  if (
    args.length !== 1 ||
    inner === undefined ||
    !/^(?:not|no|neg|never|false|isnt|is_not)$/i.test(predicate)
  )
    return null;
  const atom = atomIn(inner);
  return atom === null ? null : { ...atom, negated: !atom.negated };
}

/** Parses a constant as an atom; null if it is not one. */
function atomIn(constant: string): Atom | null {
  if (constant.length > 1000 || !/^-?[^\s(]+\(.*\)\s*[.?]?$/s.test(constant)) return null;
  try {
    return parseAtom(constant.replace(/\s*\?$/, ''));
  } catch (error) {
    if (error instanceof EngineError) return null;
    throw error;
  }
}

/** Hints for an empty listing of facts: `predicate` and `q` as in GET /facts. */
export function hintsOfFilter(
  known: KnownNames,
  { predicate, q }: { readonly predicate: string | null; readonly q: string | null },
): string[] {
  const hints = new Hints();
  if (predicate !== null && !known.isKnown(predicate)) {
    const near = known.nearest(predicate, -1);
    const said = `no fact and no rule has the predicate ${predicate}`;
    hints.add(near === null ? said : `${said}: did you mean ${near}?`);
  }
  if (q !== null) {
    const entity = known.entityOf(q.trim());
    if (entity !== null) hints.add(aliasOf(q.trim(), entity, renderConstant(entity)));
    const atom = atomIn(q.trim());
    const written = atom === null ? null : renderAtom(atom);
    if (atom !== null && !atom.args.some(isVariable) && known.isStored(atom) && written !== q)
      hints.add(`the filter matches the atom as it is rendered: ${written}`);
    else if (atom !== null)
      for (const hint of hintsOfNothing(known, [{ ...atom, naf: false }])) hints.add(hint);
    else
      for (const spelling of known.otherSpellings(q).slice(0, 1))
        hints.add(`no fact has ${renderConstant(q)}, but there is ${renderConstant(spelling)}`);
  }
  return hints.list();
}

/** Hints for facts to be stored, given the state before. */
export function hintsOfFacts(
  known: KnownNames,
  facts: readonly {
    readonly predicate: string;
    readonly args: readonly string[];
    readonly truthVal: boolean;
  }[],
): string[] {
  const hints = new Hints();
  const seen = new Set<string>();
  let [last, lastArity] = ['', -1];
  for (let at = 0; at < facts.length && !hints.isFull && seen.size < maxExamined; at++) {
    const { predicate, args, truthVal } = facts[at] as (typeof facts)[number];
    // Facts of one relation mostly come together.
    if (at >= maxExamined && predicate === last && args.length === lastArity) continue;
    [last, lastArity] = [predicate, args.length];
    const relation = `${predicate}/${args.length}`;
    const atom = { predicate, args: [...args], negated: !truthVal };
    if (!seen.has(relation)) {
      seen.add(relation);
      hints.add(toldRelation(known, atom));
    }
    if (at < maxExamined) for (const hint of toldConstants(known, atom)) hints.add(hint);
  }
  return hints.list();
}

function toldRelation(known: KnownNames, atom: Atom): string | null {
  const { predicate, args } = atom;
  const arity = args.length;
  if (known.has(predicate, arity)) return null;
  const wrapped = wrappedAtom(atom);
  if (wrapped !== null)
    return `${renderAtom(atom)} is stored as a fact of ${predicate}: to state explicit negation, use ${renderAtom(wrapped)}`;
  const arities = known.arities(predicate);
  if (arities.length > 0) return otherArity(known, atom, arities);
  const [like] = known.spelledLike(predicate, arity);
  if (like !== undefined) return newName(known, atom, like);
  const positive = /^(?:not|no|never|isnt|is_not)[_-](.+)$/i.exec(predicate)?.[1];
  if (positive === undefined || !known.has(positive, arity)) return null;
  const meant = renderAtom({ ...atom, predicate: positive, negated: !atom.negated });
  return `${predicate} is a new predicate: to state explicit negation, use ${meant}`;
}

function newName(known: KnownNames, atom: Atom, like: string): string {
  const { predicate, args } = atom;
  const meant = known.has(like, args.length)
    ? renderAtom({ ...atom, predicate: like })
    : relations(known, like, known.arities(like));
  return `${predicate} is a new predicate beside ${like}: did you mean ${meant}?`;
}

function* toldConstants(known: KnownNames, atom: Atom): Generator<string> {
  const { predicate, args } = atom;
  for (let position = 0; position < args.length; position++) {
    const constant = args[position] as string;
    if (constant.length > maxHintedCharacters) continue;
    if (isSingleCapital(constant)) {
      if (!known.hasConstant(constant))
        yield `${constant} is stored as a constant: a fact has no variables, and in rules and questions a variable begins with ?`;
      continue;
    }
    if (!known.isNew(constant)) continue;
    if (constant.endsWith(')') || constant.endsWith(').')) {
      const inner = atomIn(constant);
      if (inner !== null && known.has(inner.predicate, inner.args.length) && wrappedAtom(atom) === null)
        yield `${renderConstant(constant)} is stored as one constant: to store the fact, tell ${renderAtom(inner)}`;
    }
    const [meant] = known.guessedAt(predicate, args.length, position, constant);
    if (meant === undefined) continue;
    const mended = renderAtom({ ...atom, args: args.with(position, meant) });
    yield `${renderConstant(constant)} is new in ${predicate}, which has ${renderConstant(meant)}: did you mean ${mended}?`;
  }
}

function isSingleCapital(constant: string): boolean {
  if (constant.length !== 1) return false;
  const unit = constant.charCodeAt(0);
  return unit >= 65 && unit <= 90;
}

/** Hints for a rule to be stored, given the state before. */
export function hintsOfRule(known: KnownNames, rule: Rule): string[] {
  const hints = new Hints();
  const atoms = [...atomsOf(rule)];
  hints.add(capitalsOf(known, rule, atoms));
  for (const [at, atom] of atoms.slice(0, maxExamined).entries()) {
    if (hints.isFull) break;
    hints.add(ruleRelation(known, atom, at === 0 ? null : rule.head));
    for (const hint of ruleConstants(known, atom)) hints.add(hint);
  }
  return hints.list();
}

/** `head` null: the atom is the head itself. */
function ruleRelation(known: KnownNames, atom: Atom, head: Atom | null): string | null {
  const { predicate, args } = atom;
  const arity = args.length;
  if (known.has(predicate, arity)) return null;
  const isOfHead = head?.predicate === predicate;
  if (isOfHead && head.args.length === arity) return null;
  const arities = known.arities(predicate);
  if (isOfHead && !arities.includes(head.args.length)) arities.push(head.args.length);
  if (arities.length > 0) return otherArity(known, atom, arities);
  const like =
    head !== null && spellingOf(head.predicate) === spellingOf(predicate)
      ? head.predicate
      : known.spelledLike(predicate, arity)[0];
  if (like === undefined) return null;
  return `no fact and no other rule has the predicate ${predicate}: did you mean ${renderAtom({ ...atom, predicate: like })}?`;
}

function* ruleConstants(known: KnownNames, atom: Atom): Generator<string> {
  const { predicate, args } = atom;
  for (let position = 0; position < args.length; position++) {
    const constant = args[position] as string;
    if (isVariable(constant) || !known.isNew(constant)) continue;
    const [meant] = known.guessedAt(predicate, args.length, position, constant);
    if (meant === undefined) continue;
    const mended = renderAtom({ ...atom, args: args.with(position, meant) });
    yield `no fact of ${predicate} has ${renderConstant(constant)}, but there is ${renderConstant(meant)}: did you mean ${mended}?`;
  }
}

/** Capitalized constants probably meant as variables: those that occur twice, or are single letters. */
function capitalsOf(known: KnownNames, rule: Rule, atoms: readonly Atom[]): string | null {
  const slips = new Map<string, string>();
  const variables = new Set<string>();
  for (const { args } of atoms) for (const term of args) if (isVariable(term)) variables.add(term);
  for (const [term, count] of occurrences(atoms)) {
    if (!(isSingleCapital(term) || (count > 1 && capital.test(term)))) continue;
    if (known.hasConstant(term)) continue;
    const lower = `?${term.toLowerCase()}`;
    slips.set(term, variables.has(lower) || [...slips.values()].includes(lower) ? `?${term}` : lower);
  }
  if (slips.size === 0) return null;
  const meant = renderRule(withVariables(rule, slips));
  return likeVariables([...slips.keys()], meant);
}

function withVariables({ head, body }: Rule, slips: ReadonlyMap<string, string>): Rule {
  const terms = (args: readonly string[]): string[] => args.map((term) => slips.get(term) ?? term);
  const literals = (list: readonly Literal[]): Literal[] =>
    list.map((literal) =>
      'aggregate' in literal
        ? { ...literal, result: slips.get(literal.result) ?? literal.result, body: literals(literal.body) }
        : { ...literal, args: terms(literal.args) },
    );
  return { head: { ...head, args: terms(head.args) }, body: literals(body) };
}

/** Renders `a`, `a and b` or `a, b and c`. */
export function listed(items: readonly string[], last: 'and' | 'or'): string {
  if (items.length < 2) return items.join('');
  return `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`;
}
