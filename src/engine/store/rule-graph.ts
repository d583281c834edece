/**
 * Which relations rest on which, by the rules of a database, kept in such a way that one rule more costs little:
 * relations that rest on one another are one knot, and between knots there is no cycle.
 *
 * All rules count at once, whatever their scope. So where the graph says that a rule makes no cycle through default
 * negation or an aggregate there is none; where it says that one might be made, `language/stratify` looks at the views
 * one by one. Nothing is ever taken out: whoever takes a rule away makes a new graph.
 */
export interface Reading {
  readonly relation: string;
  /** The relation is read under default negation or inside an aggregate. */
  readonly completes: boolean;
}

/** Relations that rest on one another, or one relation. Edges may still name knots that have become part of others. */
interface Knot {
  /** The knot that this one has become part of. */
  into: Knot | null;
  /** Knots that its rules read, and whether one of those rules does so under `not` or in an aggregate. */
  readonly below: Map<Knot, boolean>;
  /** Knots whose rules read it. */
  readonly above: Set<Knot>;
  /** One of its relations reads another, or itself, under `not` or in an aggregate: no view of one scope may. */
  isStrict: boolean;
}

export class RuleGraph {
  readonly #knots = new Map<string, Knot>();

  /** True where a rule with this head and these readings makes no cycle that must not be, in any view. */
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

  /** Takes in a rule. */
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
  // The next look is a shorter way.
  for (let each = knot; each.into !== null; ) {
    const next: Knot = each.into;
    each.into = root;
    each = next;
  }
  return root;
}

/** Puts the knots that edges downwards name in place of what has become part of them. */
function refreshBelow(knot: Knot): void {
  for (const [target, completes] of knot.below) {
    const root = rootOf(target);
    if (root === target && root !== knot) continue;
    knot.below.delete(target);
    if (root !== knot) knot.below.set(root, completes || knot.below.get(root) === true);
  }
}

/** The same upwards. */
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

/** One way only: what most rules read has many above it and little below. */
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
 * The knots by which `read` rests on `top`, both with them; none where it does not. Both ends are followed, the one
 * that costs less first, until one of them has been seen whole.
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

/** A side without anything left to follow comes first. */
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

/** True where one of the knots reads another of them, or has one within, that must be complete. */
function hasStrict(knots: ReadonlySet<Knot>): boolean {
  for (const knot of knots) {
    if (knot.isStrict) return true;
    if (knots.size === 1) continue;
    refreshBelow(knot);
    for (const [target, completes] of knot.below) if (completes && knots.has(target)) return true;
  }
  return false;
}

/** One knot in the place of several: the one with most edges takes in the others. */
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
