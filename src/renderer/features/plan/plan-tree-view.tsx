import {
  IconArrowDown,
  IconArrowUp,
  IconChevronDown,
  IconChevronRight,
  IconCornerLeftUp,
} from '@tabler/icons-react';
import { type KeyboardEvent, useMemo, useState } from 'react';
import type { PlanStep } from '../../../engine/contract/plan.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { formatCount, formatDuration } from '../../ui/format.ts';
import { Tag } from '../../ui/tags.tsx';
import { FoldMark, type LinePlace, TreeLine, VirtualTree } from '../../ui/virtual-tree.tsx';
import {
  misjudged,
  movedInPlan,
  type PlanCursor,
  planMarks,
  type PlanMarks,
  type PlanRow,
  planRows,
  withFolded,
} from './plan-rows.ts';
import styles from './plan.module.css';

/** Steps whose text is in the language. */
const inLanguage = new Set([
  'question',
  'table',
  'rule',
  'demand',
  'atom',
  'not',
  'aggregate',
  'comparison',
  'arithmetic',
  'assignment',
  'group',
]);
const indent = 14;
/** Deeper levels are not indented further. */
const maxIndent = 20;

function accessWords({ access, columns }: PlanStep): string {
  if (access === 'none' || access === 'delta') return '';
  if (access === 'reference') return 'shown elsewhere';
  const by = columns === undefined ? '' : ` by argument ${columns.map((column) => column + 1).join(', ')}`;
  return `${access}${by}`;
}

/** What was estimated beside what was counted, and the time with its share of the whole. */
function Numbers({ step, marks }: { step: PlanStep; marks: PlanMarks }) {
  const { estimatedRows, rows, elapsedMs } = step;
  const wrong = misjudged(step);
  const share = elapsedMs === undefined || marks.totalMs === 0 ? 0 : elapsedMs / marks.totalMs;
  return (
    <>
      <span className={`number dim ${styles.count}`}>{formatCount(estimatedRows)}</span>
      <span className={`number ${styles.count}`}>
        {wrong !== null && (
          <span
            className={styles.wrong}
            title={`${wrong} than estimated`}
            aria-label={`${wrong} than estimated`}
            role="img"
          >
            {wrong === 'more' ? (
              <IconArrowUp size={13} aria-hidden />
            ) : (
              <IconArrowDown size={13} aria-hidden />
            )}
          </span>
        )}
        {rows === undefined ? '' : formatCount(rows)}
      </span>
      <span className={`number ${styles.count}`}>
        {elapsedMs === undefined ? '' : formatDuration(elapsedMs)}
        <span className={styles.share} aria-hidden>
          <span className={styles.shareFill} style={{ width: `${Math.round(share * 100)}%` }} />
        </span>
      </span>
    </>
  );
}

interface LineProps {
  row: PlanRow;
  place: LinePlace;
  marks: PlanMarks;
  isFolded: boolean;
  onSelect: () => void;
  onToggle: () => void;
}

function Line({ row, place, marks, isFolded, onSelect, onToggle }: LineProps) {
  const { step, level } = row;
  const isFoldable = step.children.length > 0;
  const why = [step.strategy, step.reason].filter((each) => each !== undefined).join(': ');
  return (
    <TreeLine
      row={row}
      place={place}
      isUnfolded={isFoldable ? !isFolded : null}
      className={marks.slowest === step ? styles.slowest : ''}
      title={why === '' ? step.detail : `${step.detail}\n${why}`}
      onClick={onSelect}
      onDoubleClick={onToggle}
    >
      <div className={styles.columns}>
        <span className={styles.step}>
          <span style={{ flex: 'none', width: Math.min(level - 1, maxIndent) * indent }} aria-hidden />
          <FoldMark onToggle={isFoldable ? onToggle : null}>
            {step.access === 'reference' && <IconCornerLeftUp size={13} />}
            {isFoldable && (isFolded ? <IconChevronRight size={14} /> : <IconChevronDown size={14} />)}
          </FoldMark>
          <Tag tone={step.step === 'table' ? 'derived' : 'plain'}>{step.step}</Tag>
          {marks.slowest === step && <Tag tone="warn">slowest</Tag>}
          <span className={styles.detail}>
            {inLanguage.has(step.step) ? <CodeText isLine text={step.detail} /> : step.detail}
          </span>
          <span className={`dim ${styles.access}`}>{accessWords(step)}</span>
          {why !== '' && <span className={`dim ${styles.why}`}>{why}</span>}
        </span>
        <Numbers step={step} marks={marks} />
      </div>
    </TreeLine>
  );
}

/** Shows a plan as a tree. */
export function PlanTreeView({ plan }: { plan: PlanStep }) {
  const [cursor, setCursor] = useState<PlanCursor>({ active: '0', folded: new Set() });
  const rows = useMemo(() => planRows(plan, cursor.folded), [plan, cursor.folded]);
  const marks = useMemo(() => planMarks(plan), [plan]);

  function onKeyDown(event: KeyboardEvent, page: number): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = movedInPlan(event.key, cursor, rows, page);
    if (next === null) return;
    event.preventDefault();
    setCursor(next);
  }

  return (
    <div className="flex-column full-height">
      <div className={`dim ${styles.head}`} aria-hidden>
        <span>Step</span>
        <span className={styles.count}>Estimated</span>
        <span className={styles.count}>Rows</span>
        <span className={styles.count}>Time</span>
      </div>
      <div className="rest-height">
        <VirtualTree
          label="Plan"
          rows={rows}
          active={cursor.active}
          onKeyDown={onKeyDown}
          renderLine={(row, place) => (
            <Line
              key={row.key}
              row={row}
              place={place}
              marks={marks}
              isFolded={cursor.folded.has(row.key)}
              onSelect={() => setCursor({ ...cursor, active: row.key })}
              onToggle={() => setCursor(withFolded(row, cursor))}
            />
          )}
        />
      </div>
    </div>
  );
}
