import { EngineError, invalid } from '../base/errors.ts';
import type { ArgumentType, Declaration } from '../contract/declarations.ts';
import { acceptsAny, isOfType, misfit } from '../language/argument-types.ts';
import { renderConstant, renderIdentity } from '../language/print.ts';
import { holdersOf, judgeKey, keyPositions, type StrictKey, StrictKeys } from '../state/key-rule.ts';
import type { FactBlock, FactFrame } from '../store/fact-block.ts';
import type { DeclarationStore } from '../store/declaration-store.ts';
import type { Bounds, FactIdentity, FactStore, FactToStore } from '../store/fact-store.ts';
import { givesValidity } from './prepare-facts.ts';

/** Checks facts to be stored against the declarations: types, which need no state, and keys, which do. */

/** Refuses with ShapeViolation a fact with an argument of another type, if its predicate's declaration rejects them. */
export function refuseMisfits(declarations: DeclarationStore, fact: FactIdentity, path: string): void {
  const declaration = declarationOf(declarations, fact);
  if (declaration?.check !== 'reject') return;
  for (const { position, message } of misfitsOf(declaration, fact.args)) {
    const at = `${path}args.${position}`;
    const value = fact.args[position] as string;
    throw new EngineError(
      'ShapeViolation',
      `${at}: ${message}, as ${relationName(declaration)} is declared`,
      {
        errors: [{ path: at, message }],
        path: at,
        value,
      },
    );
  }
}

/** The indexes of the facts that `refuseMisfits` refuses, ascending; in steps. */
export function* misfitsInBlock(
  declarations: DeclarationStore,
  block: FactBlock,
): Generator<'more', number[], undefined> {
  const found: number[] = [];
  const typed = block.frames.map((frame) => typedArguments(declarations, frame));
  if (typed.every((each) => each.length === 0)) return found;
  for (let index = 0; index < block.length; index++) {
    if (index % factsInStep === factsInStep - 1) yield 'more';
    for (const { position, type } of typed[block.frameOf[index] as number] as readonly TypedArgument[])
      if (!isOfType(type, block.argumentAt(index, position))) {
        found.push(index);
        break;
      }
  }
  return found;
}

const factsInStep = 256;

interface TypedArgument {
  readonly position: number;
  readonly type: ArgumentType;
}

/** The arguments of which some constants are refused. */
function typedArguments(declarations: DeclarationStore, { predicate, arity }: FactFrame): TypedArgument[] {
  const declaration = declarations.size === 0 ? null : declarations.get(predicate, arity);
  if (declaration?.check !== 'reject') return [];
  return declaration.arguments.flatMap(({ type }, position) =>
    acceptsAny(type) ? [] : [{ position, type }],
  );
}

/** What is at odds with a declaration that only warns, in words. */
export function shapeHints(declarations: DeclarationStore, fact: FactIdentity): string[] {
  const declaration = declarationOf(declarations, fact);
  if (declaration?.check !== 'warn' || fits(declaration, fact.args)) return [];
  return [...misfitsOf(declaration, fact.args)].map(
    ({ message }) => `${relationName(declaration)} is declared otherwise: ${message}`,
  );
}

function fits({ arguments: declared }: Declaration, args: readonly string[]): boolean {
  for (let position = 0; position < declared.length; position++) {
    const { type } = declared[position] as Declaration['arguments'][number];
    if (!isOfType(type, args[position] as string)) return false;
  }
  return true;
}

/** The arguments that are not of their type, with what is wrong. */
export function* misfitsOf(
  declaration: Declaration,
  args: readonly string[],
): Generator<{ readonly position: number; readonly message: string }> {
  for (const [position, argument] of declaration.arguments.entries()) {
    const value = args[position] as string;
    if (!isOfType(argument.type, value)) yield { position, message: misfit(argument, value) };
  }
}

function declarationOf(
  declarations: DeclarationStore,
  { predicate, args }: Pick<FactIdentity, 'predicate' | 'args'>,
): Declaration | null {
  return declarations.size === 0 ? null : declarations.get(predicate, args.length);
}

function relationName({ name, arity }: Declaration): string {
  return `${name}/${arity}`;
}

/** True if a key may refuse the fact, which only what is stored decides. */
export function mayConflict(declarations: DeclarationStore, fact: FactToStore): boolean {
  if (declarations.size === 0) return false;
  const key = StrictKeys.of(declarations).keyOf(fact);
  if (key === null) return false;
  // The clock gives a fact without validity a beginning that is never too early.
  return key.onConflict === 'reject' || fact.validFrom !== undefined || fact.validUntil !== undefined;
}

/** Names what a fact shares with those that a key lets it contradict: its value of the key, or the fact itself. */
export function keyClaim(declarations: DeclarationStore | null, fact: FactIdentity): string {
  const key = declarations === null ? null : StrictKeys.of(declarations).keyOf(fact);
  const { predicate, args, truthVal, scope } = fact;
  if (key !== null) return nameOf(fact, key);
  return JSON.stringify([predicate, args.length, scope, truthVal, ...args]);
}

/** Refuses with KeyConflict the one fact of a request that a key forbids. Requires what `KeyCheck` does. */
export function* refuseKeyConflict(
  declarations: DeclarationStore,
  facts: FactStore | null,
  fact: FactToStore,
  time: number,
): Generator<'more', void, undefined> {
  const key = StrictKeys.of(declarations).keyOf(fact);
  if (key === null || facts === null) return;
  const { rivals } = yield* holdersOf(facts, fact, key, time);
  // It may be refused only for a fact in its way, or for a validity that ends before it begins.
  if (rivals.length > 0 || givesValidity(fact))
    yield* new KeyCheck(declarations, facts, time).check(fact, '');
}

/** A fact that holds a value of a key, as stored or as an earlier fact of the same request leaves it. */
interface Holder extends Bounds {
  readonly args: readonly string[];
}

/**
 * Refuses facts that a key forbids. Facts of one request count in their order, so it keeps what each leaves of the
 * holders of a value of the key. Requires that no other write of the database is under way.
 */
export class KeyCheck {
  readonly #keys: StrictKeys;
  readonly #facts: FactStore | null;
  readonly #time: number;
  readonly #isGone: (fact: FactIdentity) => boolean;
  /** By scope, relation and value of the key, for what the request has looked at; null: nothing. */
  #holders: Map<string, Holder[]> | null = null;

  /** `facts`: null if the tenant has none. `isGone`: what the request has retracted before. */
  constructor(
    declarations: DeclarationStore,
    facts: FactStore | null,
    time: number,
    isGone: (fact: FactIdentity) => boolean = () => false,
  ) {
    this.#keys = StrictKeys.of(declarations);
    this.#facts = facts;
    this.#time = time;
    this.#isGone = isGone;
  }

  /** Throws KeyConflict, or counts the fact as stored. */
  *check(fact: FactToStore, path: string): Generator<'more', void, undefined> {
    const key = this.#keys.keyOf(fact);
    if (key === null) return;
    const name = nameOf(fact, key);
    const holders = this.#holders?.get(name) ?? (yield* this.#holdersOf(fact, key));
    const same = holders.find(({ args }) => isSame(args, fact.args)) ?? null;
    const rivals = holders.filter((holder) => holder !== same);
    const judgement = judgeKey(fact, same, rivals, key.onConflict, this.#time);
    if (judgement.kind === 'conflict') throw keyConflict(fact, key, judgement.inTheWay, path);
    const given = { from: fact.validFrom, until: fact.validUntil };
    const kept = same ?? { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };
    let from = given.from === 'always' ? Number.NEGATIVE_INFINITY : (given.from ?? kept.from);
    const until = given.until === 'never' ? Number.POSITIVE_INFINITY : (given.until ?? kept.until);
    // An earlier fact of the request may have got its beginning from the key.
    if (until <= from)
      throw invalid(
        `${path}validUntil`,
        'validity must end after it begins: give a validUntil later than validFrom',
      );
    let left = rivals;
    if (judgement.kind === 'supersedes') {
      ({ from } = judgement);
      left = rivals
        .filter((rival) => !judgement.retracted.includes(rival))
        .map((rival) => (judgement.ended.includes(rival) ? { ...rival, until: from } : rival))
        .filter((rival) => rival.until > this.#time);
    }
    if (until > this.#time) left.push({ args: fact.args, from, until });
    this.#holders ??= new Map();
    this.#holders.set(name, left);
  }

  *#holdersOf(fact: FactToStore, key: StrictKey): Generator<'more', Holder[], undefined> {
    const facts = this.#facts;
    if (facts === null) return [];
    const { same, rivals } = yield* holdersOf(facts, fact, key, this.#time);
    const { predicate, scope } = fact;
    const relation = facts.relation(predicate, fact.args.length, false);
    if (relation === null) return [];
    const all = [...rivals, ...(same === null ? [] : [same])].sort((left, right) => left.row - right.row);
    return all
      .map(({ row, from, until }) => ({ args: facts.argsOf({ relation, row }), from, until }))
      .filter(({ args }) => !this.#isGone({ predicate, args, truthVal: true, scope }));
  }
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.every((text, at) => text === right[at]);
}

function nameOf({ predicate, args, scope }: FactIdentity, { positions }: StrictKey): string {
  return JSON.stringify([predicate, args.length, scope, ...positions.map((position) => args[position])]);
}

function keyConflict(
  fact: FactToStore,
  key: StrictKey,
  { args, from, until }: Holder,
  path: string,
): EngineError {
  const { predicate, scope } = fact;
  const { declaration, onConflict } = key;
  const inTheWay = renderIdentity({ predicate, args: [...args], truthVal: true });
  const values = keyPositions(declaration)
    .map((position) => `${declaration.arguments[position]?.name} ${renderConstant(args[position] as string)}`)
    .join(', ');
  const mend =
    onConflict === 'reject'
      ? 'retract it, or end its validity, before you store another'
      : 'it begins later: end the new fact with validUntil where that one begins, or give a later validFrom';
  return new EngineError(
    'KeyConflict',
    `${path === '' ? '' : `${path.slice(0, -1)}: `}${inTheWay} has the key ${values} of ${relationName(declaration)} at the same time: ${mend}`,
    {
      ...(path === ''
        ? {}
        : { errors: [{ path: path.slice(0, -1), message: `${inTheWay} has the same key` }] }),
      inTheWay: {
        atom: inTheWay,
        scope,
        validFrom: Number.isFinite(from) ? from : null,
        validUntil: Number.isFinite(until) ? until : null,
      },
    },
  );
}
