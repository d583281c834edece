import { TextMap } from '../base/text-map.ts';
import { EngineError, invalid } from '../base/errors.ts';
import type { FactInput } from '../contract/facts.ts';
import {
  type Bounds,
  boundsAfter,
  type FactIdentity,
  type FactPattern,
  type FactStore,
  type FactToStore,
  openBounds,
} from '../store/fact-store.ts';
import { renderAtom } from '../language/print.ts';

/** Converts a client's fact to its logged form: resolves times and includes only the given fields. */
export function factToStore(input: FactInput, now: number): FactToStore {
  const { predicate, args, truthVal, scope, validFrom, metadata, ttl } = input;
  const validUntil = endOf(input, now);
  if (validFrom === null && validUntil === null && metadata === null)
    return { predicate, args, truthVal, scope };
  return {
    predicate,
    args,
    truthVal,
    scope,
    ...(validFrom === null ? {} : { validFrom }),
    ...(validUntil === null ? {} : { validUntil }),
    ...(ttl !== null && validUntil === now + ttl ? { endsByTtl: true } : {}),
    ...(metadata === null ? {} : { metadata }),
  };
}

/** The requested end of validity: the earlier of `validUntil` and now + `ttl`. */
function endOf(input: FactInput, now: number): number | 'never' | null {
  const { ttl, validUntil } = input;
  if (ttl === null) return validUntil;
  const end = now + ttl;
  return typeof validUntil === 'number' ? Math.min(validUntil, end) : end;
}

/** True if the fact sets a bound of its validity. */
export function givesValidity(fact: FactToStore): boolean {
  return fact.validFrom !== undefined || fact.validUntil !== undefined;
}

/** True if the stored fact decides whether the validity is well-formed: only one bound is given. */
export function dependsOnStored(fact: FactToStore): boolean {
  return (typeof fact.validFrom === 'number') !== (typeof fact.validUntil === 'number') && !clears(fact);
}

function clears(fact: FactToStore): boolean {
  return fact.validFrom === 'always' || fact.validUntil === 'never';
}

/** Refuses a validity that ends before it begins; stored bounds replace bounds that the fact does not give. */
export function checkValidity(fact: FactToStore, path: string, stored: Bounds = openBounds): void {
  refuseReversed(boundsAfter(fact, stored), path);
}

/**
 * Refuses validities that end before they begin. Checks facts in order, each against the bounds left by the stored fact
 * and the facts before it.
 */
export class ValidityCheck {
  readonly #facts: FactStore | null;
  readonly #time: number;
  readonly #earlier = new TextMap<Bounds>();

  /** `facts` is null if the tenant has none yet. */
  constructor(facts: FactStore | null, time: number) {
    this.#facts = facts;
    this.#time = time;
  }

  check(fact: FactToStore, path: string): void {
    const identity = JSON.stringify([fact.predicate, fact.truthVal, fact.scope, ...fact.args]);
    const stored = this.#earlier.get(identity) ?? this.#facts?.boundsOf(fact, this.#time) ?? openBounds;
    const bounds = boundsAfter(fact, stored.until > this.#time ? stored : openBounds);
    refuseReversed(bounds, path);
    this.#earlier.set(identity, bounds);
  }
}

function refuseReversed(bounds: Bounds, path: string): void {
  if (bounds.until <= bounds.from)
    throw invalid(
      `${path}validUntil`,
      'validity must end after it begins: give a validUntil later than validFrom',
    );
}

/** Refuses if exactly this fact changed after the generation. */
export function checkUnchanged(facts: FactStore | null, fact: FactIdentity, generation: number): void {
  const changedAt = facts?.changedAt(fact.predicate, fact.args, fact.truthVal, fact.scope) ?? 0;
  if (changedAt <= generation) return;
  throw changedSince({ ...fact, negated: !fact.truthVal }, changedAt, generation);
}

/**
 * Refuses if a matching fact, stored at the given generation and time, changed after `generation`. A pattern without
 * variables also counts retractions; if the fact is not stored and may have been forgotten, the latest generation that
 * can have retracted it counts.
 */
export function checkNoneChanged(
  facts: FactStore | null,
  pattern: FactPattern,
  generation: number,
  now: { readonly generation: number; readonly time: number },
): void {
  if (facts === null) return;
  const { predicate, args, truthVal } = pattern;
  let isStored = false;
  for (const fact of facts.match(pattern, now.generation, now.time, true)) {
    isStored = true;
    if (fact.relation.bornIn(fact.row) > generation)
      checkUnchanged(facts, facts.identityOf(fact), generation);
  }
  if (args.some((term) => term.startsWith('?'))) return;
  for (const fact of facts.matchChanged(pattern, generation))
    checkUnchanged(facts, facts.identityOf(fact), generation);
  if (isStored) return;
  for (const negated of truthVal === null ? [false, true] : [!truthVal]) {
    const forgotten = facts.forgottenOf(predicate, args.length, negated);
    if (forgotten > generation) throw changedSince({ predicate, args, negated }, forgotten, generation);
  }
}

function changedSince(
  { predicate, args, negated }: { predicate: string; args: readonly string[]; negated: boolean },
  changedAt: number,
  generation: number,
): EngineError {
  const atom = renderAtom({ predicate, args: [...args], negated });
  return new EngineError(
    'Conflict',
    `${atom} was changed in generation ${changedAt}, after ${generation}: read it again and repeat the write`,
  );
}
