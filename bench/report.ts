/** The tables of a finished benchmark, as Markdown: times with ratios, loads, peak memory, growth. */
import { median, type Outcome } from './contestants/contestant.ts';
import type { Kind, Size } from './workloads/workload.ts';

/** The outcome of one contestant on one workload: its runs, or why there are none. */
export type Cell = { readonly outcomes: readonly Outcome[] } | { readonly reason: string };

export interface Line {
  readonly workload: string;
  readonly title: string;
  readonly kind: Kind;
  readonly size: Size;
  /** By contestant, in the order of the columns. */
  readonly cells: readonly Cell[];
}

type Pick = (outcome: Outcome) => number | null | undefined;

/** Three significant digits, without an exponent. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '-';
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(digits, 6));
}

function medianOf(cell: Cell, pick: Pick): number | null {
  if (!('outcomes' in cell)) return null;
  const values = cell.outcomes.map(pick).filter((value) => value !== null && value !== undefined);
  return values.length === 0 ? null : median(values);
}

/** The number, followed by its ratio to ours. */
function compared(cell: Cell, own: number | null, pick: Pick): string {
  if ('reason' in cell) return cell.reason;
  const value = medianOf(cell, pick);
  if (value === null) return '-';
  return own === null || own === 0 || !Number.isFinite(value)
    ? figure(value)
    : `${figure(value)} (x${figure(value / own)})`;
}

/** A Markdown table whose first column is text. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    line(header),
    line(header.map((_, index) => (index === 0 ? '---' : '---:'))),
    ...rows.map(line),
  ].join('\n');
}

interface MeasuredRow {
  readonly label: string;
  readonly line: Line;
  readonly pick: Pick;
}

/** A row's first cell is the contestant that its ratios refer to. */
function measureTable(contestants: readonly string[], measured: readonly MeasuredRow[]): string {
  const rows = measured.map(({ label, line, pick }) => {
    const [own, ...others] = line.cells;
    if (own === undefined) return [label];
    const ownValue = medianOf(own, pick);
    return [label, compared(own, null, pick), ...others.map((cell) => compared(cell, ownValue, pick))];
  });
  return table(['', ...contestants], rows);
}

function answersOf(line: Line): string {
  for (const cell of line.cells) {
    const first = 'outcomes' in cell ? cell.outcomes[0] : undefined;
    if (first !== undefined) return first.answers.toLocaleString('en-US');
  }
  return '-';
}

const titled = (line: Line): string => `${line.title} (${answersOf(line)})`;

/** Contestants that disagree on the number of answers: one line each, none if all agree. */
export function disagreements(contestants: readonly string[], lines: readonly Line[]): string[] {
  return lines.flatMap((line) => {
    const found = line.cells.flatMap((cell, index) =>
      'outcomes' in cell
        ? cell.outcomes.map(({ answers }) => [contestants[index] ?? '', answers] as const)
        : [],
    );
    if (new Set(found.map(([, answers]) => answers)).size <= 1) return [];
    return [
      `${line.workload}, ${line.size}: ${found.map(([name, answers]) => `${name} ${answers}`).join(', ')}`,
    ];
  });
}

function solveRows(lines: readonly Line[], kind: Line['kind']): MeasuredRow[] {
  return lines
    .filter((line) => line.kind === kind)
    .map((line) => ({ label: titled(line), line, pick: ({ solve }) => solve }));
}

/** By the clock, of the questions whose contestants tell it. */
function wallRows(lines: readonly Line[]): MeasuredRow[] {
  const hasWall = ({ cells: [own] }: Line): boolean =>
    own !== undefined && 'outcomes' in own && own.outcomes.some(({ wall }) => wall !== undefined);
  return lines
    .filter((line) => line.kind === 'ask' && hasWall(line))
    .map((line) => ({ label: line.title, line, pick: ({ wall }) => wall }));
}

function loadRows(line: Line): MeasuredRow[] {
  return [
    { label: `${titled(line)}: CPU seconds to load`, line, pick: ({ load }) => load },
    { label: 'CPU seconds for the look-ups', line, pick: ({ solve }) => solve },
    { label: 'bytes a fact', line, pick: ({ bytesPerFact }) => bytesPerFact },
  ];
}

function memoryRow(line: Line): MeasuredRow {
  const pick: Pick = ({ peakBytes }) => (peakBytes === null ? null : peakBytes / 1e6);
  return { label: line.title, line, pick };
}

/** Figures of our own engine only; those of microseconds in microseconds. */
function figureRows(lines: readonly Line[]): string[][] {
  return lines.flatMap((line) => {
    const own = line.cells[0];
    const first = own !== undefined && 'outcomes' in own ? own.outcomes[0]?.figures : undefined;
    return Object.keys(first ?? {}).map((name) => {
      const seconds = own === undefined ? null : medianOf(own, ({ figures }) => figures?.[name]);
      return [`${line.title}: ${name}`, figure((seconds ?? Number.NaN) * 1e6)];
    });
  });
}

/** The tables of one size. `contestants[0]` is our own engine. */
export function report(contestants: readonly string[], lines: readonly Line[]): string {
  const sections: [string, MeasuredRow[]][] = [
    ['One cold question, CPU seconds', solveRows(lines, 'ask')],
    ['The same by the clock, seconds', wallRows(lines)],
    ['After one fact was taken away, the question again, CPU seconds', solveRows(lines, 'change')],
    ['After the first question, look-ups in what was derived, CPU seconds', solveRows(lines, 'look-up')],
    ['Questions with a key each, CPU seconds', solveRows(lines, 'reads')],
    ['The same proof again, CPU seconds', solveRows(lines, 'proof')],
    ['Loading', lines.filter(({ kind }) => kind === 'load').flatMap(loadRows)],
    ['Peak memory of the process, MB', lines.map(memoryRow)],
  ];
  const figures = figureRows(lines);
  const tables = sections
    .filter(([, rows]) => rows.length > 0)
    .map(([title, rows]) => [title, measureTable(contestants, rows)] as const);
  const all =
    figures.length === 0
      ? tables
      : [
          ...tables,
          [
            `Of ${contestants[0] ?? ''} alone, CPU microseconds but for "wall"`,
            table(['', ''], figures),
          ] as const,
        ];
  return all.map(([title, text]) => `### ${title}\n\n${text}\n`).join('\n');
}

/**
 * The cost of more answers for our own engine, workload by workload, if several sizes were measured: the question's CPU
 * seconds and peak memory.
 */
export function growth(lines: readonly Line[]): string {
  const sizes = [...new Set(lines.map(({ size }) => size))];
  const rows = [...new Set(lines.map(({ workload }) => workload))].map((workload) => {
    const mine = lines.filter((line) => line.workload === workload);
    const cells = sizes.map((size) => {
      const line = mine.find((each) => each.size === size);
      const own = line?.cells[0];
      if (line === undefined || own === undefined) return '-';
      if ('reason' in own) return own.reason;
      const seconds = medianOf(own, ({ solve }) => solve) ?? Number.NaN;
      const peak = medianOf(own, ({ peakBytes }) => peakBytes) ?? Number.NaN;
      return `${figure(seconds)} s, ${figure(peak / 1e6)} MB (${answersOf(line)})`;
    });
    return [mine[0]?.title ?? workload, ...cells];
  });
  return table(['', ...sizes], rows);
}
