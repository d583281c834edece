/** The lines of a plan's tree, what is marked in it, and the keys that move in it. Pure. */
import type { PlanStep } from '../../../engine/contract/plan.ts';

/** One line of the tree. */
export interface PlanRow {
  /** The way to the step: the numbers of the children, from the root. */
  readonly key: string;
  readonly step: PlanStep;
  /** From 1. */
  readonly level: number;
  readonly position: number;
  readonly siblings: number;
}

/** What is marked in a plan that was measured. */
export interface PlanMarks {
  /** The step that took the most time; null if none was measured. */
  readonly slowest: PlanStep | null;
  /** Milliseconds of all steps together. */
  readonly totalMs: number;
}

/** An estimate is wrong if there are this many times more or fewer rows. */
const wrongBy = 10;
/** With fewer rows an estimate does not matter. */
const fewRows = 10;

/** The visible lines: steps below a folded one are left out. */
export function planRows(plan: PlanStep, folded: ReadonlySet<string>): PlanRow[] {
  const rows: PlanRow[] = [];
  const open: PlanRow[] = [{ key: '0', step: plan, level: 1, position: 1, siblings: 1 }];
  for (let row = open.pop(); row !== undefined; row = open.pop()) {
    rows.push(row);
    if (folded.has(row.key)) continue;
    const { children } = row.step;
    for (let at = children.length - 1; at >= 0; at--)
      open.push({
        key: `${row.key}.${at}`,
        step: children[at] as PlanStep,
        level: row.level + 1,
        position: at + 1,
        siblings: children.length,
      });
  }
  return rows;
}

/** The slowest step and the sum of all times. */
export function planMarks(plan: PlanStep): PlanMarks {
  let slowest: PlanStep | null = null;
  let totalMs = 0;
  for (const { step } of planRows(plan, new Set())) {
    totalMs += step.elapsedMs ?? 0;
    // The question's own time is that of planning and of everything else.
    if (step.step !== 'question' && (step.elapsedMs ?? 0) > (slowest?.elapsedMs ?? 0)) slowest = step;
  }
  return { slowest, totalMs };
}

/** `more` or `fewer` if the rows were far from the estimate; null if they were near, or not counted. */
export function misjudged({ rows, estimatedRows, access }: PlanStep): 'more' | 'fewer' | null {
  if (rows === undefined || access === 'reference' || Math.max(rows, estimatedRows) < fewRows) return null;
  if (rows > estimatedRows * wrongBy) return 'more';
  return rows * wrongBy < estimatedRows ? 'fewer' : null;
}

/** Where the cursor is, and what is folded. */
export interface PlanCursor {
  readonly active: string;
  readonly folded: ReadonlySet<string>;
}

/** The cursor after a key; null if the key means nothing here. */
export function movedInPlan(
  key: string,
  { active, folded }: PlanCursor,
  rows: readonly PlanRow[],
  pageSize: number,
): PlanCursor | null {
  const at = Math.max(
    0,
    rows.findIndex((row) => row.key === active),
  );
  const row = rows[at];
  if (row === undefined) return null;
  const to = (index: number): PlanCursor => ({
    active: (rows[Math.max(0, Math.min(index, rows.length - 1))] as PlanRow).key,
    folded,
  });
  switch (key) {
    case 'ArrowDown':
      return to(at + 1);
    case 'ArrowUp':
      return to(at - 1);
    case 'PageDown':
      return to(at + pageSize);
    case 'PageUp':
      return to(at - pageSize);
    case 'Home':
      return to(0);
    case 'End':
      return to(rows.length - 1);
    case 'ArrowRight':
      return isFolded(row, folded) ? withFolded(row, { active, folded }) : to(at + 1);
    case 'ArrowLeft': {
      const isOpen = row.step.children.length > 0 && !isFolded(row, folded);
      if (isOpen && row.level > 1) return withFolded(row, { active, folded });
      const parent = row.key.slice(0, row.key.lastIndexOf('.'));
      return { active: row.level === 1 ? row.key : parent, folded };
    }
    case 'Enter':
    case ' ':
      return withFolded(row, { active, folded });
    case '*':
      return { active, folded: new Set() };
    default:
      return null;
  }
}

function isFolded(row: PlanRow, folded: ReadonlySet<string>): boolean {
  return folded.has(row.key);
}

/** The cursor at the row, which is folded if it was not, and the other way round. */
export function withFolded(row: PlanRow, { folded }: PlanCursor): PlanCursor {
  const next = new Set(folded);
  if (row.step.children.length > 0 && !next.delete(row.key)) next.add(row.key);
  return { active: row.key, folded: next };
}
