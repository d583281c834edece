/**
 * Scopes in the simplest way: facts in a map, scanned completely for everything. The oracle of the random test of
 * forks, diffs and merges; it knows the contract and nothing of the engine.
 */
import { compareText, compareTexts } from '../base/text-order.ts';
import type { Metadata } from '../contract/facts.ts';
import type { Resolution } from '../contract/scopes.ts';
import { factIdentity } from './generators.ts';
import type { ModelFact } from './naive-model.ts';

export interface ScopedFact extends ModelFact {
  readonly metadata: Metadata;
}

export interface ModelMerge {
  readonly source: string | null;
  readonly target: string | null;
  /** Absent: the recorded base of the fork if there is one, else none. */
  readonly base?: string | null | { readonly scope: string };
  readonly strategy: 'SOURCE_WINS' | 'TARGET_WINS' | 'KEEP_BOTH' | 'REJECT';
  readonly resolutions: readonly Resolution[];
}

/** One difference: both sides of a pair, else the existing one. */
export interface ModelDifference {
  readonly source: ScopedFact | null;
  readonly target: ScopedFact | null;
}

interface ScopeEntry {
  createdAt: number;
  isForked: boolean;
  forkedFrom: string | null;
  forkedAt: number | null;
}

/** A fork: the source's facts at that time. `life` is the same for forks of a scope that was not deleted between. */
interface ModelFork {
  readonly target: string | null;
  readonly source: string | null;
  readonly life: object;
  readonly facts: readonly ScopedFact[];
}

/** The outcome of a conflict that no resolution settles. */
const byRule = {
  SOURCE_WINS: 'source',
  TARGET_WINS: 'target',
  KEEP_BOTH: 'both',
  REJECT: 'conflict',
} as const;

/** A refused call: its code. */
export class Refused extends Error {}

export class ScopeModel {
  facts = new Map<string, ScopedFact>();
  /** Scopes of rules, with the times of those rules. */
  rules: { readonly scope: string | null; readonly createdAt: number }[] = [];
  time = 0;
  #entries = new Map<string, ScopeEntry>();
  /** In the order of creation. */
  #forks: readonly ModelFork[] = [];
  #lives: ReadonlyMap<string | null, object> = new Map();
  /** The facts of the last merge of a pair that comes from a fork. */
  #merged: readonly {
    readonly pair: readonly (string | null)[];
    readonly facts: readonly ScopedFact[];
  }[] = [];

  /** An independent copy. */
  copy(): ScopeModel {
    const copy = new ScopeModel();
    copy.facts = new Map(this.facts);
    copy.rules = [...this.rules];
    copy.time = this.time;
    copy.#entries = new Map(Array.from(this.#entries, ([name, entry]) => [name, { ...entry }]));
    copy.#forks = this.#forks;
    copy.#lives = this.#lives;
    copy.#merged = this.#merged;
    return copy;
  }

  /** The common ancestor of the two, in either direction of the merge; null: none recorded. */
  forkBase(one: string | null, other: string | null): readonly ScopedFact[] | null {
    const merged = this.#merged.find(({ pair }) => pair.includes(one) && pair.includes(other));
    if (merged !== undefined && one !== other) return merged.facts;
    const forkOf = (scope: string | null) => this.#forks.find(({ target }) => target === scope);
    const [first, second] = [forkOf(one), forkOf(other)];
    if (first?.source === other && first.life === this.#lives.get(other)) return first.facts;
    if (second?.source === one && second.life === this.#lives.get(one)) return second.facts;
    const both = this.#forks.filter((fork) => fork === first || fork === second);
    return both.length === 2 && both[0]?.life === both[1]?.life ? (both[0]?.facts ?? null) : null;
  }

  /** Pairs with a recorded common ancestor, each in both directions. */
  related(): (readonly [string | null, string | null])[] {
    const scopes = [...new Set(this.#forks.flatMap(({ source, target }) => [source, target]))];
    const pairs = scopes.flatMap((one) => scopes.map((other) => [one, other] as const));
    return pairs.filter(([one, other]) => one !== other && this.forkBase(one, other) !== null);
  }

  /** Removes everything that the scope has in common with others. */
  #endAncestry(scope: string | null): void {
    this.#forks = this.#forks.filter(({ target }) => target !== scope);
    this.#merged = this.#merged.filter(({ pair }) => !pair.includes(scope));
    this.#lives = new Map([...this.#lives].filter(([source]) => source !== scope));
  }

  /** The facts that count as stored in the scope. */
  held(scope: string | null): ScopedFact[] {
    return [...this.facts.values()].filter((fact) => fact.scope === scope && this.isHeld(fact));
  }

  isHeld({ validUntil }: ModelFact): boolean {
    return validUntil === null || validUntil > this.time;
  }

  store(fact: ScopedFact): void {
    const { scope } = fact;
    if (scope !== null && this.isHeld(fact)) {
      const entry = this.#entries.get(scope);
      const isThere = this.held(scope).length > 0 || entry?.isForked === true;
      if (!isThere)
        this.#entries.set(scope, {
          createdAt: this.time,
          isForked: false,
          forkedFrom: null,
          forkedAt: null,
        });
    }
    this.facts.set(factIdentity(fact), fact);
  }

  remove(fact: ModelFact): void {
    this.facts.delete(factIdentity(fact));
  }

  exists(scope: string | null): boolean {
    if (scope === null) return true;
    return (
      this.held(scope).length > 0 ||
      this.rules.some((rule) => rule.scope === scope) ||
      this.#entries.get(scope)?.isForked === true
    );
  }

  list(): (Omit<ScopeEntry, 'isForked'> & { name: string; facts: number; rules: number })[] {
    const names = new Set<string>(this.#entries.keys());
    for (const { scope } of this.rules) if (scope !== null) names.add(scope);
    return [...names]
      .filter((name) => this.exists(name))
      .sort(compareText)
      .map((name) => {
        const facts = this.held(name).length;
        const rules = this.rules.filter(({ scope }) => scope === name);
        const entry = this.#entries.get(name);
        const own = entry !== undefined && (facts > 0 || entry.isForked) ? [entry] : [];
        return {
          name,
          facts,
          rules: rules.length,
          createdAt: Math.min(...[...own, ...rules].map(({ createdAt }) => createdAt)),
          forkedFrom: own[0]?.forkedFrom ?? null,
          forkedAt: own[0]?.forkedAt ?? null,
        };
      });
  }

  /** The facts that were copied, in this generation. */
  fork(source: string | null, target: string | null, generation: number): ScopedFact[] {
    if (!this.exists(source)) throw new Refused('ScopeNotFound');
    if (source === target || this.held(target).length > 0) throw new Refused('Conflict');
    this.#endAncestry(target);
    const life = this.#lives.get(source) ?? {};
    this.#lives = new Map([...this.#lives, [source, life]]);
    this.#forks = [...this.#forks, { target, source, life, facts: this.held(source) }];
    const copies = this.held(source).map((fact) => ({ ...fact, scope: target }));
    for (const fact of copies) this.store(fact);
    if (target !== null) {
      const entry = this.#entries.get(target);
      const createdAt = entry?.isForked === true ? entry.createdAt : this.time;
      this.#entries.set(target, { createdAt, isForked: true, forkedFrom: source, forkedAt: generation });
    }
    return copies;
  }

  delete(scope: string): number {
    if (!this.exists(scope)) throw new Refused('ScopeNotFound');
    const gone = this.held(scope);
    for (const fact of gone) this.remove(fact);
    this.#entries.delete(scope);
    this.#endAncestry(scope);
    return gone.length;
  }

  differences(source: string | null, target: string | null): { all: ModelDifference[]; unchanged: number } {
    let unchanged = 0;
    const all: ModelDifference[] = [];
    const left = { source: this.held(source), target: this.held(target) };
    const without = <Item>(list: readonly Item[], item: Item): Item[] => list.filter((each) => each !== item);
    for (const one of left.source) {
      const other = left.target.find(
        (fact) => atomOf(fact) === atomOf(one) && fact.truthVal === one.truthVal,
      );
      if (other === undefined) continue;
      left.source = without(left.source, one);
      left.target = without(left.target, other);
      if (sameVersion(one, other)) unchanged++;
      else all.push({ source: one, target: other });
    }
    for (const one of left.source) {
      const other = left.target.find((fact) => atomOf(fact) === atomOf(one));
      left.source = without(left.source, one);
      if (other !== undefined) left.target = without(left.target, other);
      all.push({ source: one, target: other ?? null });
    }
    for (const other of left.target) all.push({ source: null, target: other });
    return { all: all.sort(compareDifferences), unchanged };
  }

  /** The base of the merge. `bases` null: none, the merge is two-way; `used`: as reported. */
  #baseOf(source: string | null, target: string | null, base: ModelMerge['base']) {
    if (!this.exists(source)) throw new Refused('ScopeNotFound');
    const remembered = this.forkBase(source, target);
    if (base === 'fork' && remembered === null) throw new Refused('ValidationException');
    const named = typeof base === 'object' ? (base?.scope ?? null) : base;
    const isByFork = base === 'fork' || (base === undefined && remembered !== null);
    if (!isByFork && typeof named === 'string' && !this.exists(named)) throw new Refused('ScopeNotFound');
    const given = isByFork ? (remembered ?? []) : typeof named === 'string' ? this.held(named) : null;
    // Expired facts count as absent in the base too.
    const bases = given?.filter((fact) => this.isHeld(fact)) ?? null;
    const used = isByFork ? 'fork' : named === 'fork' ? { scope: 'fork' } : (named ?? null);
    return { remembered, bases, used };
  }

  /** Merges, unless it is a dry run. Counts like the answer. */
  merge({ source, target, base, strategy, resolutions }: ModelMerge, isTried: boolean) {
    const { remembered, bases, used } = this.#baseOf(source, target, base);
    const [ofSource, ofTarget] = [this.held(source), this.held(target)];
    const known = new Set([...this.held(source), ...this.held(target)].map(atomOf));
    const takes = new Map(resolutions.map((each) => [atomOf(each), each.take]));
    if (takes.size < resolutions.length || [...takes.keys()].some((atom) => !known.has(atom)))
      throw new Refused('ValidationException');
    const counts = { added: 0, updated: 0, deleted: 0, kept: 0, resolved: 0 };
    const conflicts: ModelDifference[] = [];
    const unsettled: ModelDifference[] = [];
    const gone: ScopedFact[] = [];
    const come: ScopedFact[] = [];
    for (const difference of this.differences(source, target).all) {
      const atom = atomOf((difference.source ?? difference.target) as ScopedFact);
      const sides = { source: ofSource, target: ofTarget };
      const agreed = bases === null ? oneSided(difference) : byBase(difference, sides, bases);
      const opposite = agreed === 'source' ? oppositeOf(difference, ofTarget) : undefined;
      const winner = opposite === undefined ? agreed : 'conflict';
      const conflict = opposite === undefined ? difference : { ...difference, target: opposite };
      if (winner === 'conflict') conflicts.push(conflict);
      const resolved = takes.get(atom);
      if (winner === 'conflict' && resolved !== undefined) counts.resolved++;
      const take = resolved ?? (winner === 'conflict' ? byRule[strategy] : winner);
      if (take === 'conflict') unsettled.push(conflict);
      else if (opposite !== undefined && take === 'target') counts.kept++;
      else {
        const { source: one, target: other } = difference;
        if (one === null) {
          if (take === 'source') {
            counts.deleted++;
            gone.push(other as ScopedFact);
          } else if (winner === 'conflict') counts.kept++;
        } else if (other === null) {
          if (take === 'target') continue;
          counts.added++;
          come.push({ ...one, scope: target });
        } else if (take === 'target') counts.kept++;
        else if (take === 'source') {
          counts.updated++;
          gone.push(other);
          come.push({ ...one, scope: target });
        } else if (one.truthVal !== other.truthVal) {
          counts.updated++;
          come.push({ ...one, scope: target });
        } else {
          const both = together(one, other);
          if (sameVersion(both, other)) counts.kept++;
          else {
            counts.updated++;
            come.push(both);
          }
        }
      }
    }
    if (unsettled.length > 0) throw new Refused('Conflict');
    if (!isTried) {
      for (const fact of come) this.store(fact);
      const stored = new Set(come.map(factIdentity));
      for (const fact of gone) if (!stored.has(factIdentity(fact))) this.remove(fact);
      if (remembered !== null) {
        const others = this.#merged.filter(({ pair }) => !pair.includes(source) || !pair.includes(target));
        this.#merged = [...others, { pair: [source, target], facts: this.held(source) }];
      }
    }
    return { ...counts, base: used, conflicts, isChange: gone.length + come.length > 0 };
  }
}

function oneSided({ source, target }: ModelDifference): 'source' | 'target' | 'conflict' {
  if (source !== null && target !== null) return 'conflict';
  return source === null ? 'target' : 'source';
}

/** The target's fact that is the opposite of one that it lacks. */
function oppositeOf(
  { source, target }: ModelDifference,
  held: readonly ScopedFact[],
): ScopedFact | undefined {
  if (source === null || target !== null) return undefined;
  return held.find((fact) => atomOf(fact) === atomOf(source) && fact.truthVal !== source.truthVal);
}

/** The side that changed it since the base: only that one counts. */
function byBase(
  { source, target }: ModelDifference,
  sides: { readonly source: readonly ScopedFact[]; readonly target: readonly ScopedFact[] },
  base: readonly ScopedFact[],
): 'source' | 'target' | 'conflict' {
  const before = (fact: ScopedFact): ScopedFact | undefined =>
    base.find((each) => atomOf(each) === atomOf(fact) && each.truthVal === fact.truthVal);
  const isUntouched = (fact: ScopedFact): boolean => {
    const was = before(fact);
    return was !== undefined && sameVersion(was, fact);
  };
  if (source !== null && target !== null && source.truthVal !== target.truthVal) {
    // Each side's facts of the atom, compared with the base's.
    const told = (facts: readonly ScopedFact[]): string =>
      canonical(
        facts
          .filter((fact) => atomOf(fact) === atomOf(source))
          .map(({ truthVal, validFrom, validUntil, metadata }) => ({
            truthVal,
            validFrom,
            validUntil,
            metadata,
          }))
          .sort((left, right) => Number(left.truthVal) - Number(right.truthVal)),
      );
    if (told(sides.source) === told(base)) return 'target';
    return told(sides.target) === told(base) ? 'source' : 'conflict';
  }
  if (source !== null && target !== null) {
    if (isUntouched(source)) return 'target';
    return isUntouched(target) ? 'source' : 'conflict';
  }
  const only = (source ?? target) as ScopedFact;
  const [own, other] = source === null ? (['target', 'source'] as const) : (['source', 'target'] as const);
  if (before(only) === undefined) return own;
  return isUntouched(only) ? other : 'conflict';
}

function together(source: ScopedFact, target: ScopedFact): ScopedFact {
  const widest = (one: number | null, other: number | null, pick: (...times: number[]) => number) =>
    one === null || other === null ? null : pick(one, other);
  return {
    ...target,
    validFrom: widest(source.validFrom, target.validFrom, Math.min),
    validUntil: widest(source.validUntil, target.validUntil, Math.max),
    metadata: metadataTogether(source.metadata, target.metadata),
  };
}

/** The target's keys stay; other keys of the source are added; contradictory values go under `_source`. */
function metadataTogether(source: Metadata, target: Metadata): Metadata {
  if (Object.keys(source).length === 0) return target;
  if (Object.keys(target).length === 0) return source;
  const result: Metadata = { ...target };
  const otherwise: Metadata = {};
  for (const [name, value] of Object.entries(source)) {
    if (name === '_source') continue;
    if (!(name in target)) result[name] = value;
    else if (canonical(value) !== canonical(target[name])) otherwise[name] = value;
  }
  if (!('_source' in source)) {
    if (Object.keys(otherwise).length > 0) result['_source'] = { ...noted(target), ...otherwise };
    return result;
  }
  const own = source['_source'];
  const isSaidAlready = '_source' in target && canonical(own) === canonical(target['_source']);
  if (Object.keys(otherwise).length === 0 && (isSaidAlready || !('_source' in target)))
    result['_source'] = own;
  else result['_source'] = { ...noted(target), ...otherwise, _source: own };
  return result;
}

function noted(target: Metadata): Metadata {
  const known = target['_source'];
  if (known === undefined) return {};
  const isObject = typeof known === 'object' && known !== null && !Array.isArray(known);
  return isObject ? known : { _target: known };
}

export function atomOf({
  predicate,
  args,
}: {
  readonly predicate: string;
  readonly args: readonly string[];
}): string {
  return JSON.stringify([predicate, ...args]);
}

function sameVersion(left: ScopedFact, right: ScopedFact): boolean {
  return (
    left.truthVal === right.truthVal &&
    left.validFrom === right.validFrom &&
    left.validUntil === right.validUntil &&
    canonical(left.metadata) === canonical(right.metadata)
  );
}

/** JSON with its keys in order. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([left], [right]) => compareText(left, right)))
      : part,
  );
}

function compareDifferences(left: ModelDifference, right: ModelDifference): number {
  const [one, other] = [
    (left.source ?? left.target) as ScopedFact,
    (right.source ?? right.target) as ScopedFact,
  ];
  return (
    compareText(one.predicate, other.predicate) ||
    compareTexts(one.args, other.args) ||
    Number(other.truthVal) - Number(one.truthVal)
  );
}
