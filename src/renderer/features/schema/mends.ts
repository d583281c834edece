/**
 * The smallest changes that mend a violation.
 *
 * Of a constraint: every set of up to three changes (a stored fact of the proof retracted, or an absent one asserted) is
 * tried, the smallest first, and none that contains a set that mends. After a retraction that leaves the violation true by
 * another proof, that proof's facts are candidates too. Of a key: all facts but one go. Of a type: the fact goes. The search
 * is bounded, and says when a bound ended it.
 */
import type { StoredConstraint } from '../../../engine/contract/constraints.ts';
import type { Atom, Literal } from '../../../engine/contract/language.ts';
import { isVariable } from '../../../engine/contract/language.ts';
import type { Proof } from '../../../engine/contract/inference.ts';
import type { DeclarationViolation } from '../../../engine/contract/violations.ts';
import { parseAtom } from '../../../engine/language/parse.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import { isAbsence, isAggregate } from '../../../engine/language/terms.ts';

/** One change of a mend: a stored fact of one scope (null: without one) goes, or a fact is added. */
export interface MendChange {
  readonly kind: 'assert' | 'retract';
  readonly atom: Atom;
  readonly scope: string | null;
}

/** Changes that together end the violation. */
export type Mend = readonly MendChange[];

/** What the search found. */
export interface Mends {
  /** The smallest first. */
  readonly sets: readonly Mend[];
  /** True if a bound ended the search: there may be more sets. */
  readonly isCut: boolean;
}

/** Maximum numbers of sets tried, of changes in one, of candidates, and of sets found. */
const MAX_TRIED = 60;
const MAX_CHANGES = 3;
const MAX_CANDIDATES = 24;
const MAX_FOUND = 12;

/** Identifies a change. */
export function keyOfChange({ kind, atom, scope }: MendChange): string {
  return JSON.stringify([kind, renderAtom(atom), scope]);
}

/** The retractions of the stored facts of a proof, each once. */
export function retractionsOf({ steps }: Proof): MendChange[] {
  const found = new Map<string, MendChange>();
  for (const step of steps) {
    if (step.kind !== 'fact') continue;
    const change = { kind: 'retract', atom: parseAtom(step.atom), scope: step.scope } as const;
    found.set(keyOfChange(change), change);
  }
  return [...found.values()];
}

type Bindings = Readonly<Record<string, string>>;

function withBindings(terms: readonly string[], bindings: Bindings): string[] {
  return terms.map((term) => (isVariable(term) ? (bindings[term.slice(1)] ?? term) : term));
}

/** The body with the values of its variables. What an aggregate counts over keeps its variables. */
export function boundBody(body: readonly Literal[], bindings: Bindings): Literal[] {
  return body.map((literal) =>
    isAggregate(literal)
      ? { ...literal, body: boundBody(literal.body, withoutOver(literal.over, bindings)) }
      : { ...literal, args: withBindings(literal.args, bindings) },
  );
}

function withoutOver(over: readonly string[], bindings: Bindings): Bindings {
  const names = new Set(over.map((term) => term.slice(1)));
  return Object.fromEntries(Object.entries(bindings).filter(([name]) => !names.has(name)));
}

/** The assertions of what the body says is absent: ground, and in the scope of the view. */
export function assertionsOf(
  { body }: Pick<StoredConstraint, 'body'>,
  bindings: Bindings,
  scope: string | null,
): MendChange[] {
  return boundBody(body, bindings).flatMap((literal) => {
    if (!isAbsence(literal) || literal.args.some(isVariable)) return [];
    const { predicate, args, negated } = literal;
    return [{ kind: 'assert', atom: { predicate, args, negated }, scope } as const];
  });
}

/** The ways to keep one of the facts that share a key, or to drop the fact of another type. */
export function mendsOfDeclaration({ kind, facts, scope }: DeclarationViolation): Mend[] {
  const changes = facts.map(({ atom }): MendChange => ({ kind: 'retract', atom: parseAtom(atom), scope }));
  if (kind === 'shape') return [changes];
  return changes.map((kept) => changes.filter((change) => change !== kept)).slice(0, MAX_FOUND);
}

/** Tries a set. `proof`: another proof by which the violation is still true; null: it is mended. */
export type TryMend = (set: Mend) => Promise<{ readonly proof: Proof | null } | 'mended'>;

function contains(whole: Mend, part: Mend): boolean {
  const keys = new Set(whole.map(keyOfChange));
  return part.every((change) => keys.has(keyOfChange(change)));
}

/**
 * Searches for the smallest mends among these candidates, and those that further proofs bring. Rejects with the errors of
 * `tryMend`.
 */
export async function findMends(candidates: readonly MendChange[], tryMend: TryMend): Promise<Mends> {
  const known = new Map(candidates.slice(0, MAX_CANDIDATES).map((change) => [keyOfChange(change), change]));
  let isCut = candidates.length > MAX_CANDIDATES;
  const sets: Mend[] = [];
  const seen = new Set<string>();
  let tried = 0;
  let level: Mend[] = [[]];
  for (let size = 1; size <= MAX_CHANGES && level.length > 0; size++) {
    const failed: Mend[] = [];
    // Further candidates appear while these are tried: they are tried too.
    for (const start of level)
      for (const change of known.values()) {
        const set = [...start, change];
        const key = set.map(keyOfChange).toSorted().join('\n');
        if (start.includes(change) || seen.has(key) || sets.some((found) => contains(set, found))) continue;
        seen.add(key);
        if (tried >= MAX_TRIED || sets.length >= MAX_FOUND) return { sets, isCut: true };
        tried += 1;
        const outcome = await tryMend(set);
        if (outcome === 'mended') {
          sets.push(set);
          continue;
        }
        failed.push(set);
        for (const more of outcome.proof === null ? [] : retractionsOf(outcome.proof)) {
          if (known.has(keyOfChange(more))) continue;
          if (known.size >= MAX_CANDIDATES) isCut = true;
          else known.set(keyOfChange(more), more);
        }
      }
    level = failed;
  }
  return { sets, isCut: isCut || (level.length > 0 && sets.length === 0) };
}
