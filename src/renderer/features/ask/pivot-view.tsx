/** The answers as a pivot table. */
import { useMemo } from 'react';
import { type Column, DataGrid } from '../../ui/data-grid.tsx';
import { locale } from '../../ui/texts.ts';
import { type Measure, measures, type PivotAxes, pivotAxesOf, pivotAxesText } from './answer-forms.ts';
import { Choice, ColumnChoice, FormFrame, type FormProps, numberColumns } from './form-settings.tsx';
import { MAX_PIVOT_COLUMNS, type PivotRow, pivotTable } from './pivot.ts';

const numberFormat = new Intl.NumberFormat(locale, { maximumFractionDigits: 6 });

/** Returns a measured value as text; empty for none. */
export function measureInWords(value: number | null): string {
  return value === null ? '' : numberFormat.format(value);
}

/** The names of the measures. */
export const measureWords: Readonly<Record<Measure, string>> = {
  count: 'Count',
  sum: 'Sum',
  mean: 'Mean',
  min: 'Least',
  max: 'Greatest',
};

interface SettingsProps extends Pick<FormProps, 'kinds' | 'onAxes'> {
  axes: PivotAxes;
}

function Settings({ kinds, axes, onAxes }: SettingsProps) {
  const change = (part: Partial<PivotAxes>) => onAxes(pivotAxesText({ ...axes, ...part }));
  const columns = [...kinds.keys()];
  const numbers = numberColumns(kinds);
  const offered = measures.filter((measure) => measure === 'count' || numbers.length > 0);
  return (
    <>
      <ColumnChoice
        label="Rows"
        value={axes.rows}
        columns={columns}
        onChoose={(rows) => rows !== null && change({ rows })}
      />
      <ColumnChoice
        label="Columns"
        value={axes.columns}
        columns={columns.filter((name) => name !== axes.rows)}
        none="None"
        onChoose={(chosen) => change({ columns: chosen })}
      />
      <Choice
        label="Show"
        value={axes.measure}
        options={offered.map((measure) => ({ value: measure, label: measureWords[measure] }))}
        onChoose={(value) => {
          const measure = measures.find((known) => known === value) ?? 'count';
          change({ measure, value: measure === 'count' ? null : (axes.value ?? numbers[0] ?? null) });
        }}
      />
      {axes.measure !== 'count' && (
        <ColumnChoice
          label="Of"
          value={axes.value}
          columns={numbers}
          onChoose={(value) => change({ value })}
        />
      )}
    </>
  );
}

function columnsOf(axes: PivotAxes, keys: readonly string[]): Column<PivotRow>[] {
  const number = (id: string, title: string, of: (row: PivotRow) => number | null): Column<PivotRow> => ({
    id,
    title,
    width: 96,
    align: 'end',
    cell: (row) => <span className="number">{measureInWords(of(row))}</span>,
  });
  return [
    {
      id: 'rows',
      title: `?${axes.rows}`,
      width: 160,
      most: 320,
      cell: (row) => <span className="mono">{row.key}</span>,
    },
    ...keys.map((key, index) => number(`of ${key}`, key, (row) => row.cells[index] ?? null)),
    number('total', 'All', ({ total }) => total),
  ];
}

/** Shows a measure of the answers for each value of one or two columns, with totals in the last row and column. */
export function PivotView({ answer, kinds, axes: said, onAxes, onMore }: FormProps) {
  const axes = useMemo(() => pivotAxesOf(said, kinds), [said, kinds]);
  const table = useMemo(() => (axes === null ? null : pivotTable(answer.bindings, axes)), [answer, axes]);
  const columns = useMemo(
    () => (axes === null || table === null ? [] : columnsOf(axes, table.columns)),
    [axes, table],
  );
  if (axes === null || table === null) return null;
  const { rows, totals, columnsLeftOut } = table;
  return (
    <FormFrame
      answer={answer}
      settings={<Settings kinds={kinds} axes={axes} onAxes={onAxes} />}
      notDrawn={
        columnsLeftOut === 0
          ? null
          : `The ${MAX_PIVOT_COLUMNS} most frequent values of ?${axes.columns} have columns; ${columnsLeftOut.toLocaleString()} more count in All only.`
      }
      onMore={onMore}
    >
      <DataGrid
        label="Pivot table"
        columns={columns}
        count={rows.length + 1}
        rowAt={(index) => (index === rows.length ? totals : rows[index])}
        selected={null}
        onSelect={() => undefined}
      />
    </FormFrame>
  );
}
