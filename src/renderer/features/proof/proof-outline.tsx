import { IconChevronDown, IconChevronRight, IconCornerLeftUp } from '@tabler/icons-react';
import { useEffect, useEffectEvent, useId, useRef } from 'react';
import { isFoldable, isPointer, type OutlineRow } from '../../../proof/proof-tree.ts';
import { elsewhere, stepWords } from '../../../proof/step-words.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { formatAmount } from '../../ui/format.ts';
import { Tag } from '../../ui/tags.tsx';
import { useRowHeight } from '../../ui/preferences.ts';
import { useVirtualRows } from '../../ui/use-virtual-rows.ts';
import styles from './proof.module.css';
import type { StepActions } from './step-actions.ts';
import { waysTo, wayInWords } from './shown-proof.ts';
import type { ProofDisplay } from './use-proof-display.ts';

interface ProofOutlineProps {
  display: ProofDisplay;
  actions: StepActions;
}

/** Deeper levels are not indented further, so that a long chain stays visible; they show their number. */
const maxIndent = 16;

interface LineProps {
  row: OutlineRow;
  display: ProofDisplay;
  isUnfolded: boolean;
  onToggle: () => void;
  onOpen: () => void;
}

function LineContent({ row, display, isUnfolded, onToggle, onOpen }: LineProps) {
  const { tree, chosen, hiddenUnder } = display;
  const { step } = row;
  const hidden = hiddenUnder.get(step.id) ?? 0;
  const { word, tone } = stepWords[step.kind];
  const isElsewhere = isPointer(row);
  return (
    <>
      <span style={{ flex: 'none', width: Math.min(row.level - 1, maxIndent) * 16 }} aria-hidden />
      {row.level > maxIndent + 1 && <span className={`dim number ${styles.depth}`}>{row.level - 1}</span>}
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
          {isElsewhere && <IconCornerLeftUp size={13} />}
        </span>
      )}
      <CodeText isLine text={step.atom} />
      <Tag tone={tone}>{word}</Tag>
      {isElsewhere ? (
        // Enter does the same.
        <span
          role="presentation"
          className={styles.elsewhere}
          onClick={(event) => {
            event.stopPropagation();
            onOpen();
          }}
        >
          {elsewhere(row.isCircle)}
        </span>
      ) : (
        <>
          {waysTo(step) > 1 && <Tag tone="plain">way {wayInWords(chosen, step)}</Tag>}
          {step.scope !== null && <span className="dim">in {step.scope}</span>}
          {step.rule !== null && (
            <span className={`dim ${styles.byRule}`}>
              by <span className={step.rule.includes(':-') ? 'mono' : ''}>{step.rule}</span>
            </span>
          )}
          {hidden > 0 && <span className="dim number">{hidden} known hidden</span>}
          {isFoldable(row) && !isUnfolded && (
            <span className="dim number">{formatAmount(tree.sizeOf(step.id) - 1, 'step')}</span>
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
  /** True for a match of the search. */
  isMatch: boolean;
  onClick: () => void;
}

function Line({ id, top, isActive, isMatch, onClick, ...content }: PlacedLineProps) {
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
      className={`${styles.line} ${isMatch ? styles.match : ''}`}
      style={{ transform: `translateY(${top}px)` }}
      onClick={onClick}
      onDoubleClick={content.onOpen}
    >
      <LineContent {...content} />
    </div>
  );
}

/**
 * Shows the outline of a proof: an ARIA tree that renders only visible lines.
 *
 * One tab stop; keys (folds.ts) and the pointer move the cursor. The owner holds cursor and unfolded steps, so
 * that they persist.
 */
export function ProofOutline({ display, actions }: ProofOutlineProps) {
  const { rows, state, found } = display;
  const { active, unfolded } = state;
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
      onKeyDown={(event) => actions.onKeyDown(event, virtual.pageSize)}
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
              display={display}
              isMatch={found?.matches.has(row.step.id) === true}
              isUnfolded={unfolded.has(row.key)}
              isActive={index === activeIndex}
              onToggle={() => actions.toggle(row)}
              onClick={() => actions.select(row)}
              onOpen={() => actions.open(row)}
            />
          );
        })}
      </div>
    </div>
  );
}
