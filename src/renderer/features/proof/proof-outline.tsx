/**
 * The outline of a proof: a tree by the ARIA pattern, of which only the visible lines exist.
 *
 * One stop in the tab order; the cursor is moved by keys (outline-keys.ts) and the pointer. What is unfolded and
 * where the cursor stands belong to the owner, so that they survive.
 */
import { IconChevronDown, IconChevronRight, IconCornerLeftUp } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useId, useMemo, useRef } from 'react';
import { CodeText } from '../../editor/code-text.tsx';
import { formatAmount } from '../../ui/format.ts';
import { Tag } from '../../ui/tags.tsx';
import { useRowHeight } from '../../ui/use-row-height.ts';
import { useVirtualRows } from '../../ui/use-virtual-rows.ts';
import { afterKey, type OutlineState } from './outline-keys.ts';
import styles from './proof.module.css';
import {
  isFoldable,
  keyOfStep,
  type OutlineRow,
  type ProofTree,
  stepsAbove,
  visibleRows,
} from './proof-tree.ts';
import { wordOf } from './step-words.ts';

interface ProofOutlineProps {
  tree: ProofTree;
  state: OutlineState;
  onState: (state: OutlineState) => void;
  /** Enter or double click on a step that is shown whole. */
  onOpen: (row: OutlineRow) => void;
}

/** Deeper levels are not indented further, so that a long chain stays on the screen; they say their number. */
const greatestIndent = 16;

function Line({
  row,
  tree,
  isUnfolded,
  onToggle,
}: {
  row: OutlineRow;
  tree: ProofTree;
  isUnfolded: boolean;
  onToggle: () => void;
}) {
  const { step } = row;
  const { word, tone } = wordOf(step);
  const below = (tree.sizeOf.get(step.id) ?? 1) - 1;
  return (
    <>
      <span style={{ flex: 'none', width: Math.min(row.level - 1, greatestIndent) * 16 }} aria-hidden />
      {row.level > greatestIndent + 1 && (
        <span className={`dim number ${styles.depth}`}>{row.level - 1}</span>
      )}
      {isFoldable(row) ? (
        <span className={styles.fold} onClick={onToggle} aria-hidden>
          {isUnfolded ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
        </span>
      ) : (
        <span className={styles.fold} aria-hidden>
          {row.isReference && step.premises.length > 0 && <IconCornerLeftUp size={13} />}
        </span>
      )}
      <CodeText isLine text={step.atom} />
      <Tag tone={tone}>{word}</Tag>
      {row.isReference && step.premises.length > 0 ? (
        <span className="dim">shown above</span>
      ) : (
        <>
          {step.scope !== null && <span className="dim">in {step.scope}</span>}
          {step.rule !== null && <span className={`dim ${styles.byRule}`}>by {step.rule}</span>}
          {isFoldable(row) && !isUnfolded && (
            <span className="dim number">{formatAmount(below, 'step')}</span>
          )}
        </>
      )}
    </>
  );
}

export function ProofOutline({ tree, state, onState, onOpen }: ProofOutlineProps) {
  const { active, unfolded } = state;
  const rows = useMemo(() => visibleRows(tree, unfolded), [tree, unfolded]);
  const rowHeight = useRowHeight();
  const scrollRef = useRef<HTMLDivElement>(null);
  const id = useId();
  const virtual = useVirtualRows({ count: rows.length, rowHeight, scrollRef });
  const activeIndex = rows.findIndex((row) => row.key === active);
  const { scrollToRow } = virtual;
  const scroll = useRef(scrollToRow);
  useEffect(() => {
    scroll.current = scrollToRow;
  });
  useEffect(() => {
    if (activeIndex >= 0) scroll.current(activeIndex);
  }, [activeIndex]);

  function toggle(row: OutlineRow): void {
    const next = new Set(unfolded);
    if (!next.delete(row.step.id)) next.add(row.step.id);
    onState({ active: row.key, unfolded: next });
  }

  /** To where a step is shown whole, unfolding what hides it. */
  function follow(row: OutlineRow): void {
    onState({
      active: keyOfStep(row.step.id),
      unfolded: new Set([...unfolded, ...stepsAbove(tree, row.step.id)]),
    });
  }

  function open(row: OutlineRow): void {
    if (row.isReference) follow(row);
    else onOpen(row);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[Math.max(0, activeIndex)];
    if (event.key === 'Enter' && row !== undefined) {
      event.preventDefault();
      open(row);
      return;
    }
    const next = afterKey(event.key, tree, rows, state, virtual.pageSize);
    if (next === null) return;
    event.preventDefault();
    onState(next);
  }

  const isRendered = virtual.rows.some((row) => row.index === activeIndex);
  return (
    <div
      ref={scrollRef}
      role="tree"
      tabIndex={0}
      aria-label="Proof"
      {...(isRendered ? { 'aria-activedescendant': `${id}-${activeIndex}` } : {})}
      className={styles.outline}
      onKeyDown={onKeyDown}
    >
      <div role="presentation" className={styles.outlineBody} style={{ height: virtual.height }}>
        {virtual.rows.map(({ index, top }) => {
          const row = rows[index];
          if (row === undefined) return null;
          const isUnfolded = unfolded.has(row.step.id);
          return (
            <div
              key={row.key}
              id={`${id}-${index}`}
              role="treeitem"
              aria-level={row.level}
              aria-posinset={row.position}
              aria-setsize={row.siblings}
              aria-selected={index === activeIndex}
              {...(isFoldable(row) ? { 'aria-expanded': isUnfolded } : {})}
              className={styles.line}
              style={{ transform: `translateY(${top}px)` }}
              onClick={() => onState({ ...state, active: row.key })}
              onDoubleClick={() => open(row)}
            >
              <Line row={row} tree={tree} isUnfolded={isUnfolded} onToggle={() => toggle(row)} />
            </div>
          );
        })}
      </div>
    </div>
  );
}
