/**
 * Packages: knowledge from files, applied under a name. A tenant's record of a package says what applying it brought, so
 * that a later apply takes away nothing else.
 *
 * What it holds is named by keys: of a fact its identity, of a rule and a constraint the id, of a declaration name and
 * arity. With each is the generation in which the package brought that version: a version of another generation is somebody
 * else's. A record is never changed: an apply replaces it, so that a snapshot can be written meanwhile.
 */
import { TextMap } from '../base/text-map.ts';
import type { ErasedFacts } from './erased-facts.ts';
import type { FactIdentity } from './fact-store.ts';

/** One applied package. */
export interface PackageRecord {
  readonly name: string;
  /** Where its facts, rules and constraints are; null: without scope. */
  readonly scope: string | null;
  /** When it was last applied with a change, epoch milliseconds, in which generation, and by whom. */
  readonly appliedAt: number;
  readonly generation: number;
  /** Id of the key; null: without a key. */
  readonly actor: string | null;
  /** Name of the key as it was then; null: none. */
  readonly keyName: string | null;
  /** The generations of the versions that it brought, by key, in the order in which it brought them: of facts … */
  readonly facts: PackageHoldings;
  /** … and of rules, declarations and constraints, which belong to the database. */
  readonly shared: PackageHoldings;
}

/** Generations by key. */
export type PackageHoldings = Pick<
  ReadonlyMap<string, number>,
  'get' | 'has' | 'size' | 'keys' | 'entries' | typeof Symbol.iterator
>;

/** The packages of one tenant, by name. */
export type TenantPackages = Map<string, PackageRecord>;

/** What a key names. */
export type PackagedThing =
  | { readonly kind: 'fact'; readonly identity: FactIdentity }
  | { readonly kind: 'rule' | 'constraint'; readonly id: string }
  | { readonly kind: 'declaration'; readonly name: string; readonly arity: number };

/** The key of a fact. */
export function packagedFact({ predicate, args, truthVal, scope }: FactIdentity): string {
  return JSON.stringify([predicate, truthVal, scope, ...args]);
}

/** The key of the rule with this id. */
export function packagedRule(id: string): string {
  return `rule ${id}`;
}

/** The key of the constraint with this id. */
export function packagedConstraint(id: string): string {
  return `constraint ${id}`;
}

/** The key of the declaration of this predicate. */
export function packagedDeclaration({
  name,
  arity,
}: {
  readonly name: string;
  readonly arity: number;
}): string {
  return `declaration ${arity} ${name}`;
}

/** What the key names. */
export function packagedThing(key: string): PackagedThing {
  if (isPackagedFact(key)) {
    const [predicate, truthVal, scope, ...args] = JSON.parse(key) as [string, boolean, string | null];
    return { kind: 'fact', identity: { predicate, args, truthVal, scope } };
  }
  const [kind = '', first = '', ...rest] = key.split(' ');
  if (kind === 'declaration') return { kind, name: rest.join(' '), arity: Number(first) };
  return { kind: kind as 'rule' | 'constraint', id: first };
}

/** True if the key is of a fact, rather than of a rule, declaration or constraint, which belong to the database. */
export function isPackagedFact(key: string): boolean {
  return key.startsWith('[');
}

/** Whether the key is of a fact about the entity. */
export function isErasedKey(key: string, erased: ErasedFacts): boolean {
  const thing = packagedThing(key);
  return thing.kind === 'fact' && erased.has(thing.identity.args);
}

/** Keys looked at in one step. */
export const keysInStep = 1024;

/** The records that lose something, without the facts about an entity, in steps. */
export function* packagesWithout(
  packages: TenantPackages,
  erased: ErasedFacts,
): Generator<'more', PackageRecord[], undefined> {
  const changed: PackageRecord[] = [];
  let looked = 0;
  for (const record of packages.values()) {
    const facts = new TextMap<number>();
    for (const [key, generation] of record.facts) {
      if (++looked % keysInStep === 0) yield 'more';
      if (!isErasedKey(key, erased)) facts.set(key, generation);
    }
    if (facts.size < record.facts.size) changed.push({ ...record, facts });
  }
  return changed;
}
