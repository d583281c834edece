/**
 * The outline of a proof: a tree by the ARIA pattern, of which only the visible lines exist.
 *
 * One stop in the tab order; the cursor is moved by keys (outline-keys.ts) and the pointer. What is unfolded and
 * where the cursor stands belong to the owner, so that they survive.
 */
import { IconChevronDown, IconChevronRight, IconCornerLeftUp } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useEffectEvent, useId, useMemo, useRef } from 'react';
import { CodeText } from '../../editor/code-text.tsx';
import { formatAmount } from '../../ui/format.ts';
import { Tag } from '../../ui/tags.tsx';
import { useRowHeight } from '../../ui/use-row-height.ts';
import { useVirtualRows } from '../../ui/use-virtual-rows.ts';
import type { ProofStep } from '../../../engine/contract/inference.ts';
import { type Chosen, waysTo, wayInWords } from './alternatives.ts';
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
  /** The ways that were chosen to steps that have several. */
  chosen: Chosen;
  state: OutlineState;
  onState: (state: OutlineState) => void;
  /** Enter or double click on a step that is shown whole. */
  onOpen: (row: OutlineRow) => void;
  /** Shows another way to a step: the next, or with -1 the one before. */
  onTurn: (step: ProofStep, by: number) => void;
}

/** Deeper levels are not indented further, so that a long chain stays on the screen; they say their number. */
const greatestIndent = 16;

interface LineProps {
  row: OutlineRow;
  tree: ProofTree;
  chosen: Chosen;
  isUnfolded: boolean;
  onToggle: () => void;
}

function LineContent({ row, tree, chosen, isUnfolded, onToggle }: LineProps) {
  const { step } = row;
  const { word, tone } = wordOf(step);
  const below = (tree.sizeOf.get(step.id) ?? 1) - 1;
  const isPointer = row.isReference && step.premises.length > 0;
  return (
    <>
      <span style={{ flex: 'none', width: Math.min(row.level - 1, greatestIndent) * 16 }} aria-hidden />
      {row.level > greatestIndent + 1 && (
        <span className={`dim number ${styles.depth}`}>{row.level - 1}</span>
      )}
      {isFoldable(row) ? (
        <span
          className={styles.fold}
          onClick={(event) => {
            event.stopPropagation();
            onToggle();
          }}
          aria-hidden
        >
          {isUnfolded ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
        </span>
      ) : (
        <span className={styles.fold} aria-hidden>
          {isPointer && <IconCornerLeftUp size={13} />}
        </span>
      )}
      <CodeText isLine text={step.atom} />
      <Tag tone={tone}>{word}</Tag>
      {isPointer ? (
        <span className="dim">{row.isCircle ? 'in a circle: shown above' : 'shown above'}</span>
      ) : (
        <>
          {waysTo(step) > 1 && <Tag tone="plain">way {wayInWords(chosen, step)}</Tag>}
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

interface PlacedLineProps extends LineProps {
  id: string;
  top: number;
  isActive: boolean;
  onClick: () => void;
  onDoubleClick: () => void;
}

function Line({ id, top, isActive, onClick, onDoubleClick, ...content }: PlacedLineProps) {
  const { row, isUnfolded } = content;
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-selected={isActive}
      {...(isFoldable(row) ? { 'aria-expanded': isUnfolded } : {})}
      className={styles.line}
      style={{ transform: `translateY(${top}px)` }}
      onClick={onClick}
      onDoubleClick={onDoubleClick}
    >
      <LineContent {...content} />
    </div>
  );
}

/** What the pointer and the keys do to the outline. */
function useOutlineActions(props: ProofOutlineProps, rows: readonly OutlineRow[]) {
  const { tree, state, onState, onOpen, onTurn } = props;
  const { unfolded } = state;

  function toggle(row: OutlineRow): void {
    const next = new Set(unfolded);
    if (!next.delete(row.step.id)) next.add(row.step.id);
    onState({ active: row.key, unfolded: next });
  }

  /** Opens what a step stands for; a reference leads to where the step is shown, unfolding what hides it. */
  function open(row: OutlineRow): void {
    if (!row.isReference) onOpen(row);
    else
      onState({
        active: keyOfStep(row.step.id),
        unfolded: new Set([...unfolded, ...stepsAbove(tree, row.step.id)]),
      });
  }

  function onKeyDown(event: KeyboardEvent, page: number): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows.find((candidate) => candidate.key === state.active) ?? rows[0];
    if (event.key === 'Enter' && row !== undefined) {
      event.preventDefault();
      open(row);
      return;
    }
    if (event.key.toLowerCase() === 'a' && row !== undefined && waysTo(row.step) > 1) {
      event.preventDefault();
      onTurn(row.step, event.shiftKey ? -1 : 1);
      return;
    }
    const next = afterKey(event.key, tree, rows, state, page);
    if (next === null) return;
    event.preventDefault();
    onState(next);
  }

  return { toggle, open, onKeyDown };
}

export function ProofOutline(props: ProofOutlineProps) {
  const { tree, chosen, state, onState } = props;
  const { active, unfolded } = state;
  const rows = useMemo(() => visibleRows(tree, unfolded), [tree, unfolded]);
  const { toggle, open, onKeyDown } = useOutlineActions(props, rows);
  const rowHeight = useRowHeight();
  const scrollRef = useRef<HTMLDivElement>(null);
  const id = useId();
  const virtual = useVirtualRows({ count: rows.length, rowHeight, scrollRef });
  const activeIndex = rows.findIndex((row) => row.key === active);
  const isRendered = virtual.rows.some((row) => row.index === activeIndex);
  const showActive = useEffectEvent((index: number) => virtual.scrollToRow(index));
  useEffect(() => {
    if (activeIndex >= 0) showActive(activeIndex);
  }, [activeIndex]);

  return (
    <div
      ref={scrollRef}
      role="tree"
      tabIndex={0}
      aria-label="Proof"
      {...(isRendered ? { 'aria-activedescendant': `${id}-${activeIndex}` } : {})}
      className={styles.outline}
      onKeyDown={(event) => onKeyDown(event, virtual.pageSize)}
    >
      <div role="presentation" className={styles.outlineBody} style={{ height: virtual.height }}>
        {virtual.rows.map(({ index, top }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <Line
              key={row.key}
              id={`${id}-${index}`}
              top={top}
              row={row}
              tree={tree}
              chosen={chosen}
              isUnfolded={unfolded.has(row.step.id)}
              isActive={index === activeIndex}
              onToggle={() => toggle(row)}
              onClick={() => onState({ ...state, active: row.key })}
              onDoubleClick={() => open(row)}
            />
          );
        })}
      </div>
    </div>
  );
}
