import type { Pins } from './version-archive.ts';

/** The common ancestor of two scopes, from which a merge computes what changed on either side. */
interface MergeBase {
  /** The scope whose facts are meant. */
  readonly scope: number;
  /** As of the end of this generation, at this time. */
  readonly generation: number;
  readonly time: number;
}

/** From which scope, in which of its lives, and when a scope was forked. */
interface Fork {
  readonly target: number;
  /** `base.scope` is the source. */
  readonly base: MergeBase;
  /**
   * The generation in which the source's life began: a scope that is deleted and created again is another
   * one.
   */
  readonly life: number;
}

/** A pair of forked scopes that was merged since. */
interface MergedPair {
  readonly pair: readonly [number, number];
  readonly base: MergeBase;
}

/** The form in which it is saved. */
export interface SavedBases {
  readonly forks: readonly Fork[];
  readonly merged: readonly MergedPair[];
  /** Scopes that were deleted or overwritten by a fork, each with the generation that last did so. */
  readonly lives: readonly (readonly [number, number])[];
}

/**
 * The merge bases of pairs of scopes, from forks and merges.
 *
 * A fork makes the source's facts of that moment the base of source and fork. Two forks of one scope have as
 * base that scope's facts at the earlier fork. A merge of such a pair makes the merge source's facts of that
 * moment the base of the pair. Deleting a scope, or forking onto it, ends all its pairs. Scopes are numbers,
 * 0 being the facts without scope.
 *
 * A base is a scope and a generation, not a copy of facts: versions that have died since are in the
 * `VersionArchive`, which keeps them for the bases in `pins`. Immutable: each change returns a new value, so
 * `apply` prepares the next one while readers use this.
 */
export class MergeBases {
  readonly #forks: ReadonlyMap<number, Fork>;
  readonly #merged: ReadonlyMap<string, MergedPair>;
  readonly #lives: ReadonlyMap<number, number>;

  constructor({ forks, merged, lives }: SavedBases = { forks: [], merged: [], lives: [] }) {
    this.#lives = new Map(lives);
    const isCurrent = ({ base, life }: Fork): boolean => life === this.#lifeOf(base.scope);
    const forksOf = new Map<string, number>();
    for (const fork of forks) forksOf.set(originOf(fork), (forksOf.get(originOf(fork)) ?? 0) + 1);
    // Without its source, and without another fork of it, a fork is in no pair any more.
    const needed = forks.filter((fork) => isCurrent(fork) || (forksOf.get(originOf(fork)) ?? 0) > 1);
    this.#forks = new Map(needed.map((fork) => [fork.target, fork]));
    this.#merged = new Map(merged.map((each) => [keyOf(...each.pair), each]));
  }

  /** The base of two scopes, in either order; null if they have none. */
  baseOf(one: number, other: number): MergeBase | null {
    return this.#merged.get(keyOf(one, other))?.base ?? this.#baseByForks(one, other);
  }

  /** After `target` was forked from `base.scope`. */
  forked(target: number, base: MergeBase): MergeBases {
    const ended = this.ended(target, base.generation).saved();
    const life = new Map(ended.lives).get(base.scope) ?? 0;
    return new MergeBases({ ...ended, forks: [...ended.forks, { target, base, life }] });
  }

  /** After `base.scope` was merged into the other scope; unchanged if the two have no base. */
  merged(target: number, base: MergeBase): MergeBases {
    if (this.baseOf(base.scope, target) === null) return this;
    const pair = [base.scope, target] as const;
    const saved = this.saved();
    return new MergeBases({ ...saved, merged: [...saved.merged, { pair, base }] });
  }

  /** After the scope was deleted in this generation. */
  ended(scope: number, generation: number): MergeBases {
    const { forks, merged, lives } = this.saved();
    const isSource = forks.some(({ base }) => base.scope === scope);
    return new MergeBases({
      forks: forks.filter(({ target }) => target !== scope),
      merged: merged.filter(({ pair }) => !pair.includes(scope)),
      // A scope from which nothing was forked need not be recorded.
      lives: isSource ? [...lives.filter(([each]) => each !== scope), [scope, generation]] : lives,
    });
  }

  /** The generations of all bases that are, or may become, bases of a pair. */
  pins(): Pins {
    const generations = new Map<number, Set<number>>();
    for (const { base } of [...this.#forks.values(), ...this.#merged.values()]) {
      const known = generations.get(base.scope) ?? new Set();
      generations.set(base.scope, known.add(base.generation));
    }
    return new Map(
      Array.from(generations, ([scope, known]) => [scope, [...known].sort((left, right) => left - right)]),
    );
  }

  saved(): SavedBases {
    const forks = [...this.#forks.values()];
    const sources = new Set(forks.map(({ base }) => base.scope));
    return {
      forks,
      merged: [...this.#merged.values()],
      lives: [...this.#lives].filter(([scope]) => sources.has(scope)),
    };
  }

  #baseByForks(one: number, other: number): MergeBase | null {
    const [first, second] = [this.#forks.get(one), this.#forks.get(other)];
    for (const [fork, scope] of [[first, other] as const, [second, one] as const])
      if (fork?.base.scope === scope && fork.life === this.#lifeOf(scope)) return fork.base;
    if (first === undefined || second === undefined || first === second) return null;
    if (originOf(first) !== originOf(second)) return null;
    return first.base.generation <= second.base.generation ? first.base : second.base;
  }

  #lifeOf(scope: number): number {
    return this.#lives.get(scope) ?? 0;
  }
}

/** Equal for forks of the same scope, unless it was deleted between them. */
function originOf({ base, life }: Fork): string {
  return `${base.scope}@${life}`;
}

function keyOf(one: number, other: number): string {
  return one < other ? `${one},${other}` : `${other},${one}`;
}
