import { TextMap, TextSet } from '../base/text-map.ts';
import {
  boundsAfter,
  type FactIdentity,
  type FactPattern,
  type FactToStore,
  openBounds,
  type ScopeChoice,
} from '../store/fact-store.ts';
import { equalPositions } from '../store/fact-matching.ts';
import { RelationNames } from '../store/relation-names.ts';
import { relationKey } from '../language/terms.ts';
import { isShapeOperation, type RuleOperation, type ShapeOperation } from '../state/operation.ts';

/**
 * The net writes of one fact in a transaction: it was retracted, asserted with the given fields, or both, which
 * replaces the stored fact by a new one. `bytes`: size of the writes as JSON.
 */
export interface NetFact {
  readonly identity: FactIdentity;
  /** The stored fact ends. */
  readonly isRetracted: boolean;
  /** null: not asserted. */
  readonly asserted: FactToStore | null;
  readonly bytes: number;
}

/** One write to one fact or one rule. */
export type WriteChange =
  | { readonly kind: 'retract'; readonly identity: FactIdentity }
  /** `isKeyed`: facts under a key count in the order of their last writes. */
  | { readonly kind: 'assert'; readonly fact: FactToStore; readonly isKeyed?: boolean }
  | RuleOperation
  | ShapeOperation;

/**
 * The net writes of a transaction: for each fact the final state, for rules and shape every operation in order. It does not read
 * stored facts; the caller resolves patterns and passes the facts to retract.
 */
export class NetWrites {
  bytes = 0;
  readonly #facts = new TextMap<NetFact>();
  readonly #rules: RuleOperation[] = [];
  readonly #shape: ShapeOperation[] = [];
  /** Keys of facts by relation. */
  readonly #byRelation = new Map<string, Set<string>>();
  readonly #scopes = new Set<string | null>();
  /** Names of the relations with asserted facts. */
  readonly names = new RelationNames();
  readonly #asserted = new TextSet();

  /** Facts in the order of their first write. */
  get facts(): Iterable<NetFact> {
    return this.#facts.values();
  }

  get rules(): readonly RuleOperation[] {
    return this.#rules;
  }

  /** The operations on declarations, constraints and aliases, in order. */
  get shape(): readonly ShapeOperation[] {
    return this.#shape;
  }

  get isEmpty(): boolean {
    return this.#facts.size === 0 && this.#rules.length === 0 && this.#shape.length === 0;
  }

  /** The relations with written facts. */
  get relations(): Iterable<string> {
    return this.#byRelation.keys();
  }

  /** The scopes with written facts. */
  get scopes(): Iterable<string | null> {
    return this.#scopes;
  }

  find(identity: FactIdentity): NetFact | null {
    return this.#facts.get(keyOf(identity)) ?? null;
  }

  /** `time`: the time of the write. */
  add(change: WriteChange, time: number): void {
    if (change.kind === 'assert') this.#assert(change.fact, time, change.isKeyed === true);
    else if (change.kind === 'retract')
      this.#put({ identity: identityOf(change.identity), isRetracted: true, asserted: null });
    else if (isShapeOperation(change)) {
      this.#shape.push(change);
      this.bytes += writeBytes(change);
    } else {
      this.#rules.push(change);
      this.bytes += writeBytes(change);
    }
  }

  /** Asserting again merges the given fields; a fact whose validity has ended is replaced by a new one. */
  #assert(fact: FactToStore, time: number, isKeyed: boolean): void {
    const known = this.find(fact);
    if (isKeyed && known !== null) {
      this.#facts.delete(keyOf(fact));
      this.bytes -= known.bytes;
    }
    if (known === null || known.asserted === null)
      this.#put({ identity: identityOf(fact), isRetracted: known !== null, asserted: fact });
    else if (hasEnded(known.asserted, time))
      this.#put({ identity: known.identity, isRetracted: true, asserted: fact });
    else {
      const { endsByTtl: _, ...given } = { ...known.asserted, ...fact };
      const { endsByTtl } = fact.validUntil === undefined ? known.asserted : fact;
      this.#put({ ...known, asserted: endsByTtl === true ? { ...given, endsByTtl } : given });
    }
  }

  /** The matching facts that are asserted here and have not ended by `time`. */
  *matching(pattern: FactPattern, time: number): Generator<FactIdentity> {
    for (const { identity, asserted } of this.#candidates(pattern))
      if (asserted !== null && !hasEnded(asserted, time) && matches(identity, pattern)) yield identity;
  }

  *#candidates(pattern: FactPattern): Generator<NetFact> {
    const { predicate, args, scope } = pattern;
    const isGround = !args.some((term) => term.startsWith('?'));
    for (const truthVal of pattern.truthVal === null ? [true, false] : [pattern.truthVal]) {
      const keys = this.#byRelation.get(relationKey(predicate, args.length, !truthVal));
      if (keys === undefined) continue;
      if (!isGround) {
        for (const key of keys) yield this.#facts.get(key) as NetFact;
        continue;
      }
      for (const each of scope.kind === 'all' ? this.#scopes : [scopeOf(scope)]) {
        const known = this.find({ predicate, args, truthVal, scope: each });
        if (known !== null) yield known;
      }
    }
  }

  #put(fact: Omit<NetFact, 'bytes'>): void {
    const { identity, isRetracted, asserted } = fact;
    const key = keyOf(identity);
    const bytes = (isRetracted ? writeBytes(identity) : 0) + (asserted === null ? 0 : writeBytes(asserted));
    this.bytes += bytes - (this.#facts.get(key)?.bytes ?? 0);
    this.#facts.set(key, { ...fact, bytes });
    const relation = relationKey(identity.predicate, identity.args.length, !identity.truthVal);
    let keys = this.#byRelation.get(relation);
    if (keys === undefined) this.#byRelation.set(relation, (keys = new Set()));
    keys.add(key);
    if (asserted !== null && !this.#asserted.has(relation)) {
      this.#asserted.add(relation);
      this.names.add(identity.predicate, identity.args.length);
    }
    this.#scopes.add(identity.scope);
  }
}

const utf8 = new TextEncoder();

/** Size of the value as JSON, in UTF-8 bytes. */
export function writeBytes(value: unknown): number {
  return utf8.encode(JSON.stringify(value)).length;
}

/** True if the fact's given end of validity has passed. */
function hasEnded(fact: FactToStore, time: number): boolean {
  return boundsAfter(fact, openBounds).until <= time;
}

function keyOf({ predicate, args, truthVal, scope }: FactIdentity): string {
  return JSON.stringify([predicate, truthVal, scope, ...args]);
}

function identityOf({ predicate, args, truthVal, scope }: FactIdentity): FactIdentity {
  return { predicate, args, truthVal, scope };
}

function scopeOf(choice: Exclude<ScopeChoice, { kind: 'all' }>): string | null {
  return choice.kind === 'scope' ? choice.scope : null;
}

function matches(identity: FactIdentity, { args, scope }: FactPattern): boolean {
  if (scope.kind !== 'all' && identity.scope !== scopeOf(scope)) return false;
  return (
    args.every((term, at) => term.startsWith('?') || term === identity.args[at]) &&
    equalPositions(args).every(([left, right]) => identity.args[left] === identity.args[right])
  );
}
