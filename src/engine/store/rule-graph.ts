/** A relation that a rule reads. */
export interface Reading {
  readonly relation: string;
  /** True if it is read under default negation or inside an aggregate. */
  readonly completes: boolean;
}

/** An SCC of relations. Edges may still name components that were merged into others. */
interface Component {
  /** The component into which this one was merged. */
  into: Component | null;
  /** Components that its rules read; true if one of those rules does so under `not` or in an aggregate. */
  readonly below: Map<Component, boolean>;
  /** Components whose rules read it. */
  readonly above: Set<Component>;
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
  readonly #components = new Map<string, Component>();

  /** True if a rule with this head and these readings makes no forbidden cycle in any view. */
  fits(head: string, readings: readonly Reading[]): boolean {
    const top = this.#componentOf(head);
    const closing = new Set<Component>();
    for (const { relation, completes } of readings) {
      const between = componentsBetween(top, this.#componentOf(relation));
      if (completes && between.size > 0) return false;
      for (const component of between) closing.add(component);
    }
    return !hasStrict(closing);
  }

  /** Adds a rule. */
  add(head: string, readings: readonly Reading[]): void {
    for (const { relation, completes } of readings) {
      const top = this.#componentOf(head);
      const read = this.#componentOf(relation);
      const between = componentsBetween(top, read);
      if (between.size > 0) merged(between).isStrict ||= completes;
      else {
        top.below.set(read, completes || top.below.get(read) === true);
        read.above.add(top);
      }
    }
  }

  #componentOf(relation: string): Component {
    let component = this.#components.get(relation);
    if (component === undefined)
      component = { into: null, below: new Map(), above: new Set(), isStrict: false };
    component = rootOf(component);
    this.#components.set(relation, component);
    return component;
  }
}

function rootOf(component: Component): Component {
  let root = component;
  while (root.into !== null) root = root.into;
  // Path compression.
  for (let each = component; each.into !== null; ) {
    const next: Component = each.into;
    each.into = root;
    each = next;
  }
  return root;
}

/** Replaces merged components in the edges downwards. */
function refreshBelow(component: Component): void {
  for (const [target, completes] of component.below) {
    const root = rootOf(target);
    if (root === target && root !== component) continue;
    component.below.delete(target);
    if (root !== component) component.below.set(root, completes || component.below.get(root) === true);
  }
}

/** The same for the edges upwards. */
function refreshAbove(component: Component): void {
  for (const reader of component.above) {
    const root = rootOf(reader);
    if (root === reader && root !== component) continue;
    component.above.delete(reader);
    if (root !== component) component.above.add(root);
  }
}

interface Side {
  readonly seen: Set<Component>;
  readonly queue: Component[];
  readonly next: (component: Component) => Iterable<Component>;
  readonly degree: (component: Component) => number;
  readonly refresh: (component: Component) => void;
  cost: number;
}

/**
 * Searches downwards and upwards. Most relations that rules read have many components above them and few
 * below.
 */
const downwards = {
  next: (component: Component) => component.below.keys(),
  degree: (component: Component) => component.below.size,
  refresh: refreshBelow,
};
const upwards = {
  next: (component: Component) => component.above,
  degree: (component: Component) => component.above.size,
  refresh: refreshAbove,
};

function sideFrom(component: Component, way: Pick<Side, 'next' | 'degree' | 'refresh'>): Side {
  return { seen: new Set([component]), queue: [component], ...way, cost: 0 };
}

/**
 * The components on paths from `top` down to `read`, including both; empty if there is no path. Searches from
 * both ends, always extending the cheaper side, until one side is exhausted.
 */
function componentsBetween(top: Component, read: Component): Set<Component> {
  if (top === read) return new Set([top]);
  const down = sideFrom(read, downwards);
  const up = sideFrom(top, upwards);
  for (;;) {
    const [side, other] = costOfNext(down) <= costOfNext(up) ? [down, up] : [up, down];
    const component = side.queue.pop();
    if (component !== undefined) {
      follow(side, component);
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

function follow(side: Side, component: Component, within: ReadonlySet<Component> | null = null): void {
  side.refresh(component);
  side.cost += 1 + side.degree(component);
  for (const each of side.next(component)) {
    if (side.seen.has(each) || within?.has(each) === false) continue;
    side.seen.add(each);
    side.queue.push(each);
  }
}

/** True if one of the components reads another of them, or itself, under `not` or in an aggregate. */
function hasStrict(components: ReadonlySet<Component>): boolean {
  for (const component of components) {
    if (component.isStrict) return true;
    if (components.size === 1) continue;
    refreshBelow(component);
    for (const [target, completes] of component.below) if (completes && components.has(target)) return true;
  }
  return false;
}

/** Merges components into one: the one with most edges absorbs the others. */
function merged(components: ReadonlySet<Component>): Component {
  const isStrict = hasStrict(components);
  const [first, ...rest] = [...components].sort(
    (a, b) => b.below.size + b.above.size - a.below.size - a.above.size,
  );
  const root = first as Component;
  for (const component of rest) {
    component.into = root;
    for (const [target, completes] of component.below)
      root.below.set(target, completes || root.below.get(target) === true);
    for (const reader of component.above) root.above.add(reader);
    component.below.clear();
    component.above.clear();
  }
  root.isStrict = isStrict;
  return root;
}
