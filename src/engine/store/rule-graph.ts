/** A relation that a rule reads. */
export interface Reading {
  readonly relation: string;
  /** True if it is read under default negation or inside an aggregate. */
  readonly completes: boolean;
}

/** An SCC of relations. Edges may still name components that were merged into others. */
interface Knot {
  /** The component into which this one was merged. */
  into: Knot | null;
  /** Components that its rules read; true if one of those rules does so under `not` or in an aggregate. */
  readonly below: Map<Knot, boolean>;
  /** Components whose rules read it. */
  readonly above: Set<Knot>;
  /**
   * True if one of its relations reads another, or itself, under `not` or in an aggregate, which no view of
   * one scope may have.
   */
  isStrict: boolean;
}

/**
 * The dependency graph of a database's rules, condensed to its SCCs and maintained incrementally, so that
 * adding one rule costs little.
 *
 * All rules count, whatever their scope. So if the graph says that a rule makes no cycle through default
 * negation or an aggregate, there is none; if it says that one is possible, `language/stratify` checks the
 * views one by one. Nothing is ever removed: after a rule was removed, a new graph is made.
 */
export class RuleGraph {
  readonly #knots = new Map<string, Knot>();

  /** True if a rule with this head and these readings makes no forbidden cycle in any view. */
  fits(head: string, readings: readonly Reading[]): boolean {
    const top = this.#knotOf(head);
    const closing = new Set<Knot>();
    for (const { relation, completes } of readings) {
      const between = knotsBetween(top, this.#knotOf(relation));
      if (completes && between.size > 0) return false;
      for (const knot of between) closing.add(knot);
    }
    return !hasStrict(closing);
  }

  /** Adds a rule. */
  add(head: string, readings: readonly Reading[]): void {
    for (const { relation, completes } of readings) {
      const top = this.#knotOf(head);
      const read = this.#knotOf(relation);
      const between = knotsBetween(top, read);
      if (between.size > 0) merged(between).isStrict ||= completes;
      else {
        top.below.set(read, completes || top.below.get(read) === true);
        read.above.add(top);
      }
    }
  }

  #knotOf(relation: string): Knot {
    let knot = this.#knots.get(relation);
    if (knot === undefined) knot = { into: null, below: new Map(), above: new Set(), isStrict: false };
    knot = rootOf(knot);
    this.#knots.set(relation, knot);
    return knot;
  }
}

function rootOf(knot: Knot): Knot {
  let root = knot;
  while (root.into !== null) root = root.into;
  // Path compression.
  for (let each = knot; each.into !== null; ) {
    const next: Knot = each.into;
    each.into = root;
    each = next;
  }
  return root;
}

/** Replaces merged components in the edges downwards. */
function refreshBelow(knot: Knot): void {
  for (const [target, completes] of knot.below) {
    const root = rootOf(target);
    if (root === target && root !== knot) continue;
    knot.below.delete(target);
    if (root !== knot) knot.below.set(root, completes || knot.below.get(root) === true);
  }
}

/** The same for the edges upwards. */
function refreshAbove(knot: Knot): void {
  for (const reader of knot.above) {
    const root = rootOf(reader);
    if (root === reader && root !== knot) continue;
    knot.above.delete(reader);
    if (root !== knot) knot.above.add(root);
  }
}

interface Side {
  readonly seen: Set<Knot>;
  readonly queue: Knot[];
  readonly next: (knot: Knot) => Iterable<Knot>;
  readonly degree: (knot: Knot) => number;
  readonly refresh: (knot: Knot) => void;
  cost: number;
}

/**
 * Searches downwards and upwards. Most relations that rules read have many components above them and few
 * below.
 */
const downwards = {
  next: (knot: Knot) => knot.below.keys(),
  degree: (knot: Knot) => knot.below.size,
  refresh: refreshBelow,
};
const upwards = {
  next: (knot: Knot) => knot.above,
  degree: (knot: Knot) => knot.above.size,
  refresh: refreshAbove,
};

function sideFrom(knot: Knot, way: Pick<Side, 'next' | 'degree' | 'refresh'>): Side {
  return { seen: new Set([knot]), queue: [knot], ...way, cost: 0 };
}

/**
 * The components on paths from `top` down to `read`, including both; empty if there is no path. Searches from
 * both ends, always extending the cheaper side, until one side is exhausted.
 */
function knotsBetween(top: Knot, read: Knot): Set<Knot> {
  if (top === read) return new Set([top]);
  const down = sideFrom(read, downwards);
  const up = sideFrom(top, upwards);
  for (;;) {
    const [side, other] = costOfNext(down) <= costOfNext(up) ? [down, up] : [up, down];
    const knot = side.queue.pop();
    if (knot !== undefined) {
      follow(side, knot);
      continue;
    }
    const [end] = other.seen;
    if (end === undefined || !side.seen.has(end)) return new Set();
    const back = sideFrom(end, side === down ? upwards : downwards);
    for (let each = back.queue.pop(); each !== undefined; each = back.queue.pop())
      follow(back, each, side.seen);
    return back.seen;
  }
}

/** A side with nothing left to follow comes first. */
function costOfNext({ queue, degree, cost }: Side): number {
  const next = queue.at(-1);
  return next === undefined ? -1 : cost + 1 + degree(next);
}

function follow(side: Side, knot: Knot, within: ReadonlySet<Knot> | null = null): void {
  side.refresh(knot);
  side.cost += 1 + side.degree(knot);
  for (const each of side.next(knot)) {
    if (side.seen.has(each) || within?.has(each) === false) continue;
    side.seen.add(each);
    side.queue.push(each);
  }
}

/** True if one of the components reads another of them, or itself, under `not` or in an aggregate. */
function hasStrict(knots: ReadonlySet<Knot>): boolean {
  for (const knot of knots) {
    if (knot.isStrict) return true;
    if (knots.size === 1) continue;
    refreshBelow(knot);
    for (const [target, completes] of knot.below) if (completes && knots.has(target)) return true;
  }
  return false;
}

/** Merges components into one: the one with most edges absorbs the others. */
function merged(knots: ReadonlySet<Knot>): Knot {
  const isStrict = hasStrict(knots);
  const [first, ...rest] = [...knots].sort(
    (a, b) => b.below.size + b.above.size - a.below.size - a.above.size,
  );
  const root = first as Knot;
  for (const knot of rest) {
    knot.into = root;
    for (const [target, completes] of knot.below)
      root.below.set(target, completes || root.below.get(target) === true);
    for (const reader of knot.above) root.above.add(reader);
    knot.below.clear();
    knot.above.clear();
  }
  root.isStrict = isStrict;
  return root;
}
