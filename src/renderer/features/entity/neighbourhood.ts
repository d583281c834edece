/**
 * The neighbourhood of an entity as a tidy tree from left to right, unfolded node by node.
 *
 * Each constant has one box. A neighbour that already has one elsewhere is linked to it by a dashed line, so that what
 * is connected shows as connected.
 */
import type { EntityPage } from '../../../engine/contract/entities.ts';

/** A neighbour with the predicates by which it is one. */
export interface Linked {
  readonly entity: string;
  readonly via: readonly { readonly predicate: string; readonly count: number }[];
}

/** The neighbours of one entity, as far as they were fetched. */
export interface Neighbours {
  readonly linked: readonly Linked[];
  /** True if there are more. */
  readonly hasMore: boolean;
}

/** The neighbours on a page, one entry for each constant, in the order of their first one. */
export function entityNeighbours({ neighbours, totals }: EntityPage): Neighbours {
  const byEntity = new Map<string, { entity: string; via: { predicate: string; count: number }[] }>();
  for (const { entity, via, count } of neighbours) {
    const known = byEntity.get(entity);
    if (known === undefined) byEntity.set(entity, { entity, via: [{ predicate: via, count }] });
    else known.via.push({ predicate: via, count });
  }
  return { linked: [...byEntity.values()], hasMore: totals.neighbours > neighbours.length };
}

/** A box of the drawing: an entity, or what shows more neighbours of one. */
export interface GraphNode {
  readonly key: string;
  readonly kind: 'entity' | 'more';
  /** The constant; of `more` that whose neighbours it shows. */
  readonly entity: string;
  /** Key of the box to the left; null: the middle of the page. */
  readonly parent: string | null;
  readonly via: Linked['via'];
  /** From 1. */
  readonly level: number;
  /** Position among its siblings, from 1, and their number. */
  readonly position: number;
  readonly siblings: number;
  readonly isUnfolded: boolean;
  /** Boxes elsewhere that it is linked to as well, by key. */
  readonly alsoLinked: readonly Linked[];
  readonly left: number;
  readonly top: number;
}

/** A drawn neighbourhood. */
export interface Neighbourhood {
  /** In the order of the tree: a box before those that it unfolds. */
  readonly nodes: readonly GraphNode[];
  readonly width: number;
  readonly height: number;
}

export const boxWidth = 176;
export const boxHeight = 40;
const columnWidth = boxWidth + 72;
const rowHeight = boxHeight + 10;
const margin = 14;

/** Key of the box of an entity. */
export function keyOfEntity(entity: string): string {
  return `entity ${entity}`;
}

interface Draft {
  readonly key: string;
  readonly kind: GraphNode['kind'];
  readonly entity: string;
  readonly parent: string | null;
  readonly via: Linked['via'];
  readonly level: number;
  readonly children: Draft[];
  readonly alsoLinked: Linked[];
}

/** Lays out what is unfolded around `centre`; `known` has the neighbours of the unfolded entities. */
export function neighbourhoodOf(
  centre: string,
  unfolded: ReadonlySet<string>,
  known: ReadonlyMap<string, Neighbours>,
): Neighbourhood {
  const seen = new Set([centre]);
  const draft = (entity: string, parent: string | null, via: Linked['via'], level: number): Draft => ({
    key: keyOfEntity(entity),
    kind: 'entity',
    entity,
    parent,
    via,
    level,
    children: [],
    alsoLinked: [],
  });
  const root = draft(centre, null, [], 1);
  // Level by level, so that a box stays where it is when one further out is unfolded.
  for (let open = [root]; open.length > 0; ) {
    const next: Draft[] = [];
    for (const node of open) {
      const found = unfolded.has(node.entity) ? known.get(node.entity) : undefined;
      if (found === undefined) continue;
      for (const linked of found.linked) {
        const isBack = node.parent === keyOfEntity(linked.entity);
        if (seen.has(linked.entity)) {
          if (!isBack) node.alsoLinked.push(linked);
          continue;
        }
        seen.add(linked.entity);
        const child = draft(linked.entity, node.key, linked.via, node.level + 1);
        node.children.push(child);
        next.push(child);
      }
      if (found.hasMore)
        node.children.push({
          ...draft(node.entity, node.key, [], node.level + 1),
          key: `more ${node.entity}`,
          kind: 'more',
        });
    }
    open = next;
  }
  return placed(root, unfolded);
}

function placed(root: Draft, unfolded: ReadonlySet<string>): Neighbourhood {
  const nodes: GraphNode[] = [];
  let nextRow = 0;
  let deepest = 1;
  /** Places the box in the middle of what it unfolds; returns the row of its middle. */
  function place(node: Draft, position: number, siblings: number): number {
    const at = nodes.length;
    // Reserves its place in the order of the tree.
    nodes.push(undefined as unknown as GraphNode);
    deepest = Math.max(deepest, node.level);
    const rows = node.children.map((child, index) => place(child, index + 1, node.children.length));
    const [first] = rows;
    const row = first === undefined ? nextRow++ : (first + (rows.at(-1) ?? first)) / 2;
    const { children: _children, ...rest } = node;
    nodes[at] = {
      ...rest,
      position,
      siblings,
      isUnfolded: node.kind === 'entity' && unfolded.has(node.entity),
      left: margin + (node.level - 1) * columnWidth,
      top: margin + row * rowHeight,
    };
    return row;
  }
  place(root, 1, 1);
  return {
    nodes,
    width: 2 * margin + (deepest - 1) * columnWidth + boxWidth,
    height: 2 * margin + (nextRow - 1) * rowHeight + boxHeight,
  };
}

/** What a key does to the drawing: moves the cursor, or folds or unfolds its box. */
export type GraphKey =
  | { readonly kind: 'move'; readonly to: string }
  | { readonly kind: 'fold' | 'unfold' | 'open'; readonly node: GraphNode };

/** What the key does at the box; null: nothing. */
export function afterGraphKey(key: string, nodes: readonly GraphNode[], active: string): GraphKey | null {
  const at = nodes.findIndex((node) => node.key === active);
  const node = nodes[at];
  if (node === undefined) return null;
  const move = (to: GraphNode | undefined): GraphKey | null =>
    to === undefined || to === node ? null : { kind: 'move', to: to.key };
  const parent = nodes.find(({ key: of }) => of === node.parent);
  const child = nodes.find(({ parent: of }) => of === node.key);
  switch (key) {
    case 'ArrowDown':
      return move(nodes[at + 1]);
    case 'ArrowUp':
      return move(nodes[at - 1]);
    case 'Home':
      return move(nodes[0]);
    case 'End':
      return move(nodes.at(-1));
    case 'ArrowRight':
      if (node.kind === 'more') return { kind: 'unfold', node };
      return node.isUnfolded ? move(child) : { kind: 'unfold', node };
    case 'ArrowLeft':
      return node.isUnfolded && parent !== undefined ? { kind: 'fold', node } : move(parent);
    case '+':
      return node.isUnfolded ? null : { kind: 'unfold', node };
    case '-':
      return node.isUnfolded && parent !== undefined ? { kind: 'fold', node } : null;
    case 'Enter':
      return node.kind === 'more' ? { kind: 'unfold', node } : { kind: 'open', node };
    default:
      return null;
  }
}

/** How a neighbour is linked, in words: `parent, met 3 times`. */
export function viaInWords(via: Linked['via']): string {
  return via
    .map(({ predicate, count }) => (count === 1 ? predicate : `${predicate} ${count} times`))
    .join(', ');
}

/** The accessible name of a box. */
export function labelOfNode(node: GraphNode): string {
  if (node.kind === 'more') return `More neighbours of ${node.entity}`;
  const also = node.alsoLinked.map(({ entity, via }) => `${entity} by ${viaInWords(via)}`).join('; ');
  return [
    node.entity,
    ...(node.via.length === 0 ? [] : [`by ${viaInWords(node.via)}`]),
    ...(also === '' ? [] : [`also linked to ${also}`]),
  ].join(', ');
}
