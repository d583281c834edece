/**
 * The lifecycle of memory in the simplest way: a list of facts, scanned completely for everything. It shares with the
 * engine the definition of a fact, the formula of salience and the grammar, and no way of finding anything.
 */
import { breakdown, used, type Uses } from '../store/salience.ts';
import { compareText } from '../base/text-order.ts';
import type { Metadata } from '../contract/facts.ts';
import type { Consolidation, ConsolidatedValue } from '../contract/memory.ts';
import { parseTime } from '../contract/time-text.ts';
import { renderAtom } from '../language/print.ts';

export interface ModelFact {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
  readonly scope: string | null;
  readonly createdAt: number;
  readonly validFrom: number | null;
  readonly validUntil: number | null;
  readonly metadata: Metadata;
  readonly uses: Uses;
}

export interface ModelFilter {
  readonly scope?: string;
  readonly unscoped?: true;
}

type Identity = Pick<ModelFact, 'predicate' | 'args' | 'truthVal' | 'scope'>;

export class MemoryModel {
  /** In the order of assertion; expired ones stay until they are swept. */
  facts: ModelFact[] = [];
  now: number;
  /** Predicates in the bodies of enabled rules. */
  ruled = new Set<string>();

  constructor(now: number) {
    this.now = now;
  }

  find(identity: Identity): ModelFact | null {
    return this.facts.find((fact) => isSame(fact, identity) && this.isStored(fact)) ?? null;
  }

  stored(): ModelFact[] {
    return this.facts.filter((fact) => this.isStored(fact));
  }

  isStored({ validUntil }: ModelFact): boolean {
    return validUntil === null || validUntil > this.now;
  }

  /** The answers to `concluded(?x)` by `concluded(?x) :- visit(?x, ?_, ?_), not one(?x)`. */
  concluded(): string[] {
    const holding = (predicate: string, arity: number): Set<string> =>
      new Set(
        this.stored()
          .filter((fact) => fact.predicate === predicate && fact.args.length === arity)
          .filter(({ truthVal, validFrom }) => truthVal && (validFrom ?? 0) <= this.now)
          .map(({ args }) => args[0] as string),
      );
    const ones = holding('one', 1);
    return [...holding('visit', 3)]
      .filter((constant) => !ones.has(constant))
      .sort(compareText)
      .map((constant) => `concluded(${constant})`);
  }

  /** An assertion that gives all of validity and metadata. */
  tell(fact: Omit<ModelFact, 'createdAt' | 'uses'>): void {
    const known = this.find(fact);
    if (known === null) {
      this.#put({ ...fact, createdAt: this.now, uses: usedOnce(this.now) });
      return;
    }
    const told = { ...fact, createdAt: known.createdAt, uses: used(known.uses, this.now) };
    this.facts = this.facts.map((each) => (each === known ? told : each));
  }

  retract(identity: Identity): void {
    this.facts = this.facts.filter((fact) => !(isSame(fact, identity) && this.isStored(fact)));
  }

  use(wanted: (fact: ModelFact) => boolean): void {
    this.facts = this.facts.map((fact) =>
      this.isStored(fact) && (fact.validFrom ?? 0) <= this.now && wanted(fact)
        ? { ...fact, uses: used(fact.uses, this.now) }
        : fact,
    );
  }

  salience({ uses, metadata }: ModelFact): number {
    return breakdown(uses, metadata, this.now).salience;
  }

  decay(threshold: number, filter: ModelFilter) {
    const inView = this.facts.filter((fact) => isIn(fact, filter));
    const expired = inView.filter((fact) => !this.isStored(fact));
    const faded = inView.filter(
      (fact) =>
        this.isStored(fact) &&
        (fact.validFrom ?? 0) <= this.now &&
        fact.metadata['pinned'] !== true &&
        this.salience(fact) < threshold,
    );
    const order = (facts: ModelFact[]): ModelFact[] =>
      facts.sort(
        (left, right) =>
          this.salience(left) - this.salience(right) ||
          compareText(atomOf(left), atomOf(right)) ||
          compareText(left.scope ?? '', right.scope ?? ''),
      );
    const evicted = [...order(expired), ...order(faded)];
    this.facts = this.facts.filter((fact) => !evicted.includes(fact));
    return {
      evicted: evicted.length,
      expired: expired.length,
      lowSalience: faded.length,
      remaining: this.stored().filter((fact) => isIn(fact, filter)).length,
      atoms: evicted.map(atomOf),
    };
  }

  /** The summaries of the answer; skipped patterns are not reported. */
  consolidate(least: number, predicates: readonly string[] | null, filter: ModelFilter) {
    const before = this.stored().filter((fact) => isIn(fact, filter));
    const summaries = before.filter(isSummary);
    const facts = before.filter(
      (fact) =>
        fact.args.length >= 2 &&
        !isSummary(fact) &&
        (predicates === null ? !this.ruled.has(fact.predicate) : predicates.includes(fact.predicate)),
    );
    const isEpisode = (fact: ModelFact, position: number): boolean =>
      predicates !== null ||
      fact.validFrom !== null ||
      fact.validUntil !== null ||
      fact.metadata['episode'] === true ||
      isTime(fact.args[position] as string);
    const claimed = new Set<ModelFact>();
    const plans: Plan[] = [];
    for (const summary of summaries) {
      const { values, position, from } = consolidationOf(summary);
      const matching = facts.filter(
        (fact) =>
          !claimed.has(fact) &&
          isAlike(fact, { ...summary, predicate: from }) &&
          String(without(fact.args, position)) === String(summary.args.slice(0, -1)),
      );
      for (const fact of matching) claimed.add(fact);
      const joining = matching.filter(
        (fact) =>
          isEpisode(fact, position) &&
          !(isPinned(fact) && values.some(({ value }) => value === fact.args[position])),
      );
      if (joining.length > 0) plans.push({ former: summary, position, facts: joining });
    }
    const seen = new Set<ModelFact>();
    for (const fact of facts) {
      if (claimed.has(fact) || seen.has(fact)) continue;
      const position = this.#position(before, summaries, fact);
      const group = facts.filter(
        (each) =>
          !claimed.has(each) &&
          isAlike(each, fact) &&
          String(without(each.args, position)) === String(without(fact.args, position)),
      );
      for (const each of group) seen.add(each);
      if (group.length >= least && group.every((each) => isEpisode(each, position)))
        plans.push({ former: null, position, facts: group });
    }
    return this.#made(plans);
  }

  #position(stored: readonly ModelFact[], summaries: readonly ModelFact[], like: ModelFact): number {
    const rows = stored.filter((fact) => isAlike(fact, like)).map(({ args }) => args);
    for (const summary of summaries)
      if (isAlike(like, { ...summary, predicate: consolidationOf(summary).from }))
        rows.push(...membersOf(summary).map(({ args }) => args));
    const counts = like.args.map((_, at) => new Set(rows.map((args) => args[at])).size);
    return counts.lastIndexOf(Math.max(...counts));
  }

  #made(plans: readonly Plan[]) {
    const planned = plans.map((plan) => ({ plan, summary: this.#summaryOf(plan) }));
    let free = planned;
    const made: typeof planned = [];
    for (;;) {
      const next = free.filter(({ summary, plan }) => {
        const isTaken =
          made.some((each) => isSame(each.summary, summary)) ||
          (this.find(summary) !== null &&
            ![plan, ...made.map((each) => each.plan)].some(
              ({ former }) => former !== null && isSame(former, summary),
            ));
        if (!isTaken) made.push({ plan, summary });
        return isTaken;
      });
      if (next.length === free.length) break;
      free = next;
    }
    for (const { plan } of made)
      for (const fact of [...plan.facts.filter((each) => !isPinned(each)), plan.former])
        if (fact !== null) this.retract(fact);
    const ordered = made.sort(
      (left, right) =>
        compareText(atomOf(left.summary), atomOf(right.summary)) ||
        compareText(left.summary.scope ?? '', right.summary.scope ?? ''),
    );
    for (const { summary } of ordered) this.#put(summary);
    return ordered.map(({ summary, plan }) => ({
      atom: atomOf(summary),
      scope: summary.scope,
      support: consolidationOf(summary).count,
      replaced: plan.facts
        .filter((fact) => !isPinned(fact))
        .map(atomOf)
        .sort(compareText),
      metadata: summary.metadata,
    }));
  }

  #summaryOf({ former, position, facts }: Plan): ModelFact {
    const [like] = facts as [ModelFact];
    const came = facts.map(
      ({ args, createdAt, validFrom, validUntil, metadata }): ConsolidatedValue => ({
        value: args[position] as string,
        createdAt,
        ...(validFrom === null ? {} : { validFrom }),
        ...(validUntil === null ? {} : { validUntil }),
        ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
      }),
    );
    const kept = former === null ? [] : consolidationOf(former).values;
    const values = [...kept.filter(({ value }) => !came.some((each) => each.value === value)), ...came].sort(
      (left, right) => left.createdAt - right.createdAt || compareText(left.value, right.value),
    );
    const times = values.map(({ createdAt }) => createdAt);
    const consolidated: Consolidation = {
      from: like.predicate,
      position,
      values,
      count: values.length,
      first: Math.min(...times),
      last: Math.max(...times),
    };
    const { consolidated: _before, ...own } = former?.metadata ?? {};
    const metadata: Metadata = { ...own };
    for (const [name, usual] of [
      ['importance', 0.5],
      ['confidence', 1],
    ] as const) {
      const all = values.map((each) => each.metadata?.[name] ?? usual) as number[];
      const most = Math.max(...all, (own[name] ?? 0) as number);
      if (most !== usual || name in own) metadata[name] = most;
    }
    return {
      predicate: `${like.predicate}_summary`,
      args: [...without(like.args, position), String(values.length)],
      truthVal: like.truthVal,
      scope: like.scope,
      createdAt: this.now,
      validFrom: null,
      validUntil: null,
      metadata: { ...metadata, consolidated },
      uses: usedOnce(this.now),
    };
  }

  /** The atoms that return. */
  restore(summary: ModelFact): string[] {
    const returning = membersOf(summary).filter((member) => this.find(member) === null);
    this.retract(summary);
    for (const fact of returning) this.#put({ ...fact, uses: used(usedOnce(fact.createdAt), this.now) });
    return returning.map(atomOf);
  }

  /** A new fact; it replaces an expired one. */
  #put(fact: ModelFact): void {
    this.facts = [...this.facts.filter((each) => !isSame(each, fact)), fact];
  }
}

interface Plan {
  readonly former: ModelFact | null;
  readonly position: number;
  readonly facts: readonly ModelFact[];
}

export function isSummary({ metadata }: ModelFact): boolean {
  return 'consolidated' in metadata;
}

function consolidationOf({ metadata }: ModelFact): Consolidation {
  return metadata['consolidated'] as Consolidation;
}

/** The facts that the summary represents, unchanged except for their uses. */
export function membersOf(summary: ModelFact): ModelFact[] {
  const { from, position, values } = consolidationOf(summary);
  const constants = summary.args.slice(0, -1);
  return values.map(({ value, createdAt, validFrom = null, validUntil = null, metadata = {} }) => ({
    predicate: from,
    args: [...constants.slice(0, position), value, ...constants.slice(position)],
    truthVal: summary.truthVal,
    scope: summary.scope,
    createdAt,
    validFrom,
    validUntil,
    metadata,
    uses: usedOnce(createdAt),
  }));
}

function isPinned({ metadata }: ModelFact): boolean {
  return metadata['pinned'] === true;
}

function isTime(text: string): boolean {
  return parseTime(text) !== null || (/^\d+$/.test(text) && (text.length === 12 || text.length === 13));
}

function isSame(left: Identity, right: Identity): boolean {
  return (
    left.predicate === right.predicate &&
    left.truthVal === right.truthVal &&
    left.scope === right.scope &&
    JSON.stringify(left.args) === JSON.stringify(right.args)
  );
}

function isAlike(left: Identity, right: Identity): boolean {
  return (
    left.predicate === right.predicate &&
    left.truthVal === right.truthVal &&
    left.scope === right.scope &&
    left.args.length === right.args.length
  );
}

function isIn({ scope }: ModelFact, filter: ModelFilter): boolean {
  if (filter.unscoped === true) return scope === null;
  return filter.scope === undefined || filter.scope === scope;
}

function without(args: readonly string[], position: number): string[] {
  return args.filter((_, at) => at !== position);
}

function usedOnce(time: number): Uses {
  return { count: 1, first: time, latest: [time] };
}

export function atomOf({ predicate, args, truthVal }: Identity): string {
  return renderAtom({ predicate, args: [...args], negated: !truthVal });
}
