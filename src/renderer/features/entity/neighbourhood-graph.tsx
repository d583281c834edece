/** The neighbourhood of an entity as a drawing: an ARIA tree whose boxes unfold one by one. */
import { Button, Loader } from '@mantine/core';
import { IconArrowRight } from '@tabler/icons-react';
import { useQueries } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import { queryKeyOf } from '../../api/live.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf, scopeKey } from '../../api/space.ts';
import { EntityLink, useOpenEntity } from '../../ui/knowledge-links.tsx';
import { PaneProblem } from '../../ui/notices.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import styles from './entity.module.css';
import {
  afterGraphKey,
  boxHeight,
  boxWidth,
  type GraphNode,
  keyOfEntity,
  labelOfNode,
  type Neighbourhood,
  neighbourhoodOf,
  type Neighbours,
  entityNeighbours,
  viaInWords,
} from './neighbourhood.ts';

/** Neighbours fetched of a box, and again by `more`. */
const step = 12;
/** How far a line to the same column goes to the right. */
const minBend = 48;
/** Characters of a name in a box, and of its predicates. */
const maxName = 22;
const maxVia = 26;

function shortened(text: string, most: number): string {
  const characters = [...text];
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text;
}

/** The neighbours of the unfolded entities, by entity, with the first failure. */
function useNeighbours(limits: ReadonlyMap<string, number>, infer: boolean) {
  const { call, endpoint, space } = useSession();
  const { scope } = space;
  return useQueries({
    queries: [...limits].map(([constant, limit]) => ({
      queryKey: queryKeyOf('facts', endpoint, 'neighbours', constant, scopeKey(scope), infer, limit),
      queryFn: async ({ signal }: { signal: AbortSignal }) =>
        entityNeighbours(
          await call(
            'describeEntity',
            { body: { constant, limit, infer, ...scopeFieldsOf(scope) } },
            { signal },
          ),
        ),
      placeholderData: (before: Neighbours | undefined) => before,
    })),
    combine: (queries) => {
      const known = new Map<string, Neighbours>();
      for (const [at, constant] of [...limits.keys()].entries()) {
        const data = queries[at]?.data;
        if (data !== undefined) known.set(constant, data);
      }
      return {
        known,
        error: queries.find(({ error }) => error !== null)?.error ?? null,
        isFetching: queries.some(({ isPending }) => isPending),
        again: () => void Promise.all(queries.map(({ refetch }) => refetch())),
      };
    },
  });
}

function Box({ node, id, isActive, act }: BoxProps) {
  const isMore = node.kind === 'more';
  const name = isMore ? 'Show more' : shortened(node.entity, maxName);
  const via = shortened(viaInWords(node.via), maxVia);
  const isPlain = isMore || node.via.length === 0;
  const isCentre = node.parent === null;
  return (
    <g
      id={id}
      role="treeitem"
      aria-label={labelOfNode(node)}
      aria-level={node.level}
      aria-posinset={node.position}
      aria-setsize={node.siblings}
      aria-selected={isActive}
      {...(isMore ? {} : { 'aria-expanded': node.isUnfolded })}
      className={[
        styles.box,
        isActive ? styles.active : '',
        isCentre ? styles.centre : '',
        isMore ? styles.more : '',
      ].join(' ')}
      transform={`translate(${node.left} ${node.top})`}
      onClick={() => act.select(node)}
      onDoubleClick={() => act.open(node)}
    >
      <title>{labelOfNode(node)}</title>
      <rect className={styles.frame} width={boxWidth} height={boxHeight} rx={6} />
      {!isPlain && (
        <text className={styles.via} x={12} y={15}>
          {via}
        </text>
      )}
      <text className={isMore ? styles.moreText : styles.nodeName} x={12} y={isPlain ? 25 : 31}>
        {name}
      </text>
      {!isMore && !isCentre && (
        <g
          className={styles.fold}
          transform={`translate(${boxWidth} ${boxHeight / 2})`}
          onClick={(event) => {
            event.stopPropagation();
            act.toggle(node);
          }}
          onDoubleClick={(event) => event.stopPropagation()}
        >
          <rect x={-13} y={-13} width={26} height={26} fill="transparent" />
          <circle r={8} />
          <path d={node.isUnfolded ? 'M-4 0h8' : 'M-4 0h8M0 -4v8'} />
        </g>
      )}
    </g>
  );
}

interface BoxActions {
  readonly select: (node: GraphNode) => void;
  readonly open: (node: GraphNode) => void;
  readonly toggle: (node: GraphNode) => void;
}

interface BoxProps {
  node: GraphNode;
  id: string;
  isActive: boolean;
  act: BoxActions;
}

/** The lines of the tree as one path, and those to boxes elsewhere as another. */
function Lines({ nodes, active }: { nodes: readonly GraphNode[]; active: string }) {
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  const curve = (from: GraphNode, to: GraphNode): string => {
    const [x1, y1] = [from.left + boxWidth, from.top + boxHeight / 2];
    const isFurther = to.left > from.left;
    const [x2, y2] = [to.left + (isFurther ? 0 : boxWidth), to.top + boxHeight / 2];
    const bend = isFurther ? (x2 - x1) / 2 : minBend + (x1 - x2) / 4;
    // A line to a box that is not further right goes around on the right.
    return `M${x1} ${y1}C${x1 + bend} ${y1} ${isFurther ? x2 - bend : x1 + bend} ${y2} ${x2} ${y2}`;
  };
  const tree: string[] = [];
  const near: string[] = [];
  const also: string[] = [];
  for (const node of nodes) {
    const parent = node.parent === null ? undefined : byKey.get(node.parent);
    if (parent !== undefined)
      (node.key === active || parent.key === active ? near : tree).push(curve(parent, node));
    for (const { entity } of node.alsoLinked) {
      const other = byKey.get(keyOfEntity(entity));
      if (other !== undefined) also.push(curve(node, other));
    }
  }
  return (
    <g role="presentation" className={styles.lines}>
      <path d={tree.join('')} />
      <path d={also.join('')} className={styles.alsoLine} />
      <path d={near.join('')} className={styles.nearLine} />
    </g>
  );
}

interface DrawnProps {
  drawn: Neighbourhood;
  active: string;
  isBusy: boolean;
  act: BoxActions;
  onKeyDown: (event: KeyboardEvent) => void;
}

function Drawn({ drawn, active, isBusy, act, onKeyDown }: DrawnProps) {
  const id = useId();
  const ref = useRef<HTMLDivElement>(null);
  const at = drawn.nodes.findIndex(({ key }) => key === active);
  const cursor = drawn.nodes[at];
  useEffect(() => {
    const frame = ref.current;
    if (frame === null || cursor === undefined) return;
    const { left, top } = cursor;
    const [right, bottom] = [left + boxWidth, top + boxHeight];
    const around = 14;
    if (left - around < frame.scrollLeft) frame.scrollLeft = left - around;
    else if (right + around > frame.scrollLeft + frame.clientWidth)
      frame.scrollLeft = right + around - frame.clientWidth;
    if (top - around < frame.scrollTop) frame.scrollTop = top - around;
    else if (bottom + around > frame.scrollTop + frame.clientHeight)
      frame.scrollTop = bottom + around - frame.clientHeight;
  }, [cursor]);
  return (
    <div
      ref={ref}
      role="tree"
      tabIndex={0}
      aria-label="Neighbourhood"
      aria-busy={isBusy}
      {...(at < 0 ? {} : { 'aria-activedescendant': `${id}-${at}` })}
      className={styles.graph}
      onKeyDown={onKeyDown}
    >
      <svg role="presentation" width={drawn.width} height={drawn.height} className={styles.canvas}>
        <Lines nodes={drawn.nodes} active={active} />
        {drawn.nodes.map((node, index) => (
          <Box key={node.key} node={node} id={`${id}-${index}`} isActive={index === at} act={act} />
        ))}
      </svg>
    </div>
  );
}

/** The box under the cursor, for the pointer: what it is, and its page. */
function ActiveBar({ node, act }: { node: GraphNode | undefined; act: BoxActions }) {
  if (node === undefined || node.kind === 'more' || node.parent === null)
    return (
      <p className={`dim no-margin ${styles.activeBar}`}>
        Choose a neighbour; + or the right arrow unfolds it, Enter opens its page.
      </p>
    );
  return (
    <div className={`flex-row gap-8 ${styles.activeBar}`}>
      <span className="truncate rest-width">
        <EntityLink constant={node.entity} /> <span className="dim">by {viaInWords(node.via)}</span>
      </span>
      <Button size="compact-xs" variant="default" onClick={() => act.toggle(node)}>
        {node.isUnfolded ? 'Fold' : 'Unfold'}
      </Button>
      <Button
        size="compact-xs"
        variant="default"
        rightSection={<IconArrowRight size={13} aria-hidden />}
        onClick={() => act.open(node)}
      >
        Open
      </Button>
    </div>
  );
}

/** Shows what is around an entity; its boxes unfold by pointer and keys. */
export function NeighbourhoodGraph({ entity, infer }: { entity: string; infer: boolean }) {
  const [limits, setLimits] = useState<ReadonlyMap<string, number>>(() => new Map([[entity, step]]));
  const [active, setActive] = useState(keyOfEntity(entity));
  const { known, error, isFetching, again } = useNeighbours(limits, infer);
  const openEntity = useOpenEntity();
  const unfolded = useMemo(() => new Set(limits.keys()), [limits]);
  const drawn = useMemo(() => neighbourhoodOf(entity, unfolded, known), [entity, unfolded, known]);
  const cursor = drawn.nodes.find(({ key }) => key === active);

  function unfold(node: GraphNode): void {
    const before = limits.get(node.entity) ?? 0;
    setLimits(new Map([...limits, [node.entity, before + step]]));
    if (node.kind === 'more') setActive(keyOfEntity(node.entity));
  }
  function fold(node: GraphNode): void {
    setLimits(new Map([...limits].filter(([each]) => each !== node.entity)));
    setActive(node.key);
  }
  const act: BoxActions = {
    select: (node) => {
      setActive(node.key);
      if (node.kind === 'more') unfold(node);
    },
    open: (node) => {
      if (node.kind === 'entity' && node.parent !== null) openEntity(node.entity);
    },
    toggle: (node) => (node.isUnfolded ? fold(node) : unfold(node)),
  };

  function onKeyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = afterGraphKey(event.key, drawn.nodes, cursor?.key ?? keyOfEntity(entity));
    if (next === null) return;
    event.preventDefault();
    if (next.kind === 'move') setActive(next.to);
    else if (next.kind === 'unfold') unfold(next.node);
    else if (next.kind === 'fold') fold(next.node);
    else act.open(next.node);
  }

  return (
    <PaneFrame
      title="Neighbourhood"
      label="Neighbourhood"
      scroll="own"
      actions={isFetching ? <Loader size={14} aria-label="Loading" /> : undefined}
    >
      {error !== null && known.size === 0 ? (
        <PaneProblem failure={apiFailureOf(error)} onRetry={again} />
      ) : (
        <div className="flex-column full-height">
          <Drawn
            drawn={drawn}
            active={cursor?.key ?? keyOfEntity(entity)}
            isBusy={isFetching}
            act={act}
            onKeyDown={onKeyDown}
          />
          <ActiveBar node={cursor} act={act} />
        </div>
      )}
    </PaneFrame>
  );
}
