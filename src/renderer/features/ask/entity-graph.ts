/**
 * Answers as a graph of entities, bounded, and what is known about an entity added to it. Pure.
 *
 * Two entities have one link in each direction, however many answers or facts say so. Of too many nodes those around
 * the most linked stay, of too many links those that most answers say; `notDrawn` says what is missing.
 */
import { formatCount } from '../../ui/format.ts';
import type { ShownAnswer } from './answer.ts';
import type { GraphAxes } from './answer-forms.ts';

/** More nodes cannot be read, and are laid out slowly. */
export const MAX_NODES = 150;
export const MAX_LINKS = 500;
/** Neighbours that one unfolding adds at most. */
export const MAX_UNFOLDED = 40;
/** Nodes at which unfolding ends. */
export const MAX_NODES_IN_ALL = 300;

/** A link between two entities. */
export interface AnswerLink {
  readonly from: string;
  readonly to: string;
  /** Distinct, in order of occurrence: values of the label's column, or predicates. */
  readonly labels: readonly string[];
  /** How many answers or facts say it. */
  readonly count: number;
}

/** A graph of entities. */
export interface EntityGraph {
  /** In order of occurrence. */
  readonly nodes: readonly string[];
  readonly links: readonly AnswerLink[];
  readonly notDrawn: string | null;
}

interface GrowingLink {
  from: string;
  to: string;
  labels: Set<string>;
  count: number;
}

class Links {
  readonly #links = new Map<string, GrowingLink>();

  add(from: string, to: string, label: string | null): void {
    const key = JSON.stringify([from, to]);
    const link = this.#links.get(key) ?? { from, to, labels: new Set<string>(), count: 0 };
    this.#links.set(key, link);
    link.count += 1;
    if (label !== null) link.labels.add(label);
  }

  all(): AnswerLink[] {
    return [...this.#links.values()].map((link) => ({ ...link, labels: [...link.labels] }));
  }
}

/** Returns the number of links of each node. */
export function degreesOf(links: readonly AnswerLink[]): Map<string, number> {
  const degrees = new Map<string, number>();
  for (const { from, to } of links)
    for (const node of from === to ? [from] : [from, to]) degrees.set(node, (degrees.get(node) ?? 0) + 1);
  return degrees;
}

/** How many neighbours of a node come with it where not all nodes can be drawn. */
const NEIGHBOURS_EACH = 12;

/** The nodes around the most linked ones, breadth first, so that what is drawn hangs together. */
function aroundHubs(all: readonly string[], links: readonly AnswerLink[]): Set<string> {
  const degrees = degreesOf(links);
  const neighbours = new Map<string, string[]>();
  for (const { from, to } of links)
    for (const [node, other] of [
      [from, to],
      [to, from],
    ] as const) {
      const known = neighbours.get(node);
      if (known === undefined) neighbours.set(node, [other]);
      else known.push(other);
    }
  const mostFirst = (nodes: readonly string[]) =>
    nodes.toSorted((left, right) => (degrees.get(right) ?? 0) - (degrees.get(left) ?? 0));
  const chosen = new Set<string>();
  for (const hub of mostFirst(all)) {
    const waiting = [hub];
    for (let at = 0; at < waiting.length && chosen.size < MAX_NODES; at++) {
      const node = waiting[at] as string;
      if (chosen.has(node)) continue;
      chosen.add(node);
      const fresh = (neighbours.get(node) ?? []).filter((other) => !chosen.has(other));
      waiting.push(...mostFirst(fresh).slice(0, NEIGHBOURS_EACH));
    }
    if (chosen.size >= MAX_NODES) break;
  }
  return chosen;
}

/** Returns the graph of answers: an edge from one column to another for each. */
export function answerGraph(
  bindings: ShownAnswer['bindings'],
  { source, target, label }: GraphAxes,
): EntityGraph {
  const found = new Links();
  const order = new Set<string>();
  for (const row of bindings) {
    const [from, to] = [row[source] ?? '', row[target] ?? ''];
    order.add(from).add(to);
    found.add(from, to, label === null ? null : (row[label] ?? ''));
  }
  const links = found.all();
  const all = [...order];
  const chosen = all.length <= MAX_NODES ? order : aroundHubs(all, links);
  const between = links.filter(({ from, to }) => chosen.has(from) && chosen.has(to));
  const drawn =
    between.length <= MAX_LINKS ? between : between.toSorted((a, b) => b.count - a.count).slice(0, MAX_LINKS);
  const missing = [
    ...(chosen.size === all.length
      ? []
      : [`${chosen.size} of ${formatCount(all.length)} nodes, around the most linked`]),
    ...(drawn.length === links.length
      ? []
      : [`${formatCount(drawn.length)} of ${formatCount(links.length)} links`]),
  ];
  return {
    nodes: all.filter((node) => chosen.has(node)),
    links: drawn,
    notDrawn: missing.length === 0 ? null : `Drawn: ${missing.join(', and ')}.`,
  };
}

/** A fact, as far as a graph needs it. */
export interface LinkingFact {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
}

/** What is known about an entity, as links. */
export interface KnownLinks {
  readonly links: readonly AnswerLink[];
  /** Facts that say something about it alone, such as `person(ada)`: their predicates. */
  readonly alone: readonly string[];
}

/** Returns the links that facts say of an entity: to each other argument, from the earlier to the later one. */
export function knownLinks(entity: string, facts: readonly LinkingFact[]): KnownLinks {
  const found = new Links();
  const alone = new Set<string>();
  for (const { predicate, args, truthVal } of facts) {
    const own = args.indexOf(entity);
    if (own < 0) continue;
    const label = truthVal ? predicate : `-${predicate}`;
    if (args.length === 1) alone.add(label);
    for (const [position, other] of args.entries()) {
      if (position === own) continue;
      if (position < own) found.add(other, entity, label);
      else found.add(entity, other, label);
    }
  }
  return { links: found.all(), alone: [...alone] };
}

/** Returns the graph with what is known about an entity, as far as there is room. */
export function withKnownLinks(
  graph: EntityGraph,
  entity: string,
  links: readonly AnswerLink[],
): EntityGraph {
  const nodes = new Set(graph.nodes);
  const room = Math.min(MAX_UNFOLDED, MAX_NODES_IN_ALL - nodes.size);
  let added = 0;
  const leftOut = new Set<string>();
  const byPair = new Map(graph.links.map((link) => [JSON.stringify([link.from, link.to]), link]));
  for (const link of links) {
    const other = link.from === entity ? link.to : link.from;
    if (!nodes.has(other)) {
      if (added >= room) {
        leftOut.add(other);
        continue;
      }
      added += 1;
      nodes.add(other);
    }
    const key = JSON.stringify([link.from, link.to]);
    const before = byPair.get(key);
    const labels = new Set([...(before?.labels ?? []), ...link.labels]);
    byPair.set(key, { ...link, labels: [...labels], count: Math.max(before?.count ?? 0, link.count) });
  }
  const missing =
    leftOut.size === 0 ? null : `${formatCount(leftOut.size)} more neighbours of ${entity} are not drawn.`;
  return {
    nodes: [...nodes],
    links: [...byPair.values()],
    notDrawn: [graph.notDrawn, missing].filter((text) => text !== null).join(' ') || null,
  };
}

/** Returns the node that lies nearest in a direction of arrow keys; null if none does. */
export function nodeToward(
  from: string,
  direction: { readonly x: number; readonly y: number },
  centres: ReadonlyMap<string, { readonly x: number; readonly y: number }>,
): string | null {
  const here = centres.get(from);
  if (here === undefined) return null;
  let best: { node: string; cost: number } | null = null;
  for (const [node, { x, y }] of centres) {
    const along = (x - here.x) * direction.x + (y - here.y) * direction.y;
    const aside = Math.abs((x - here.x) * direction.y) + Math.abs((y - here.y) * direction.x);
    if (node === from || along <= 0) continue;
    const cost = along + 2 * aside;
    if (best === null || cost < best.cost) best = { node, cost };
  }
  return best?.node ?? null;
}
