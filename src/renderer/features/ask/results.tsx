/** The answers as a table, text, JSON, graph, chart or pivot table; each row links to its proof, an empty result to why not. */
import { ActionIcon, Button, Loader, SegmentedControl } from '@mantine/core';
import {
  IconCircleCheck,
  IconCircleDot,
  IconCircleOff,
  IconCopy,
  IconFileExport,
  IconFlask,
  IconHelpCircle,
  IconListSearch,
  IconRoute,
} from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import { create } from 'zustand';
import { usePredicates } from '../../api/queries.ts';
import { declaredVariables, isNumeric, type ShownArgument } from '../../api/declared.ts';
import { draggedName, dragOutOf } from '../../api/drag-out.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { LazyTextViewer } from '../../editor/lazy-editors.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { copyText } from '../../ui/notify.tsx';
import { type Column, DataGrid } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount, formatDuration } from '../../ui/format.ts';
import { HintLines } from '../../ui/blocks.tsx';
import { useOpenEntity } from '../../ui/knowledge-links.tsx';
import { EmptyState } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { PaneFrame, Split } from '../../ui/pane.tsx';
import type { RowMenuGroups } from '../../ui/row-menu.tsx';
import { ChooseColumns } from '../../ui/choose-columns.tsx';
import { shownColumns, useColumnChoice } from '../../ui/column-choice.ts';
import { useWideDetail } from '../../ui/use-wide-detail.ts';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';
import { type AnswerSort, goalsOfQuestion, nextSort, type ShownAnswer, sortedAnswers } from './answer.ts';
import { AnswerDetail } from './answer-detail.tsx';
import { columnKinds, fittingForms } from './answer-forms.ts';
import { type AnswerForm, answerFormOf } from './ask-search.ts';
import styles from './ask.module.css';
import { ExportAnswer } from './export-answer.tsx';
import type { FormProps } from './form-settings.tsx';
import { PivotView } from './pivot-view.tsx';
import { RunActions } from './run-actions.tsx';
import type { TabRuns } from './runs-store.ts';
import { Tooltip } from '../../ui/tooltip.tsx';

/** The forms that are a habit of the user; the others belong to a question. */
const plainForms = ['table', 'text', 'json'] as const;
type PlainForm = (typeof plainForms)[number];

const isPlain = (form: AnswerForm): form is PlainForm => plainForms.some((plain) => plain === form);

const formKey = 'corollary.answers-as';
/** Shared by all tabs that have no form of their own. */
const useHabit = create<{ readonly form: PlainForm }>()(() => ({
  form: readStoredState<PlainForm>(
    formKey,
    (value) => plainForms.find((form) => form === value) ?? null,
    'table',
  ),
}));

function setHabit(form: PlainForm): void {
  writeStored(formKey, form);
  useHabit.setState({ form });
}

interface Row {
  readonly result: string;
  readonly bindings: Readonly<Record<string, string>>;
}

/** Of a file that an answer is dragged out as. */
const extensions = { table: 'tsv', text: 'txt', json: 'json' } as const;

const formWords: Readonly<Record<AnswerForm, string>> = {
  table: 'Table',
  text: 'Text',
  json: 'JSON',
  graph: 'Graph',
  chart: 'Chart',
  pivot: 'Pivot',
};

/** Tab-separated values with a header, for spreadsheets. */
function asTable(answer: ShownAnswer): string {
  const { variables } = answer.question;
  if (variables.length === 0) return answer.results.join('\n');
  const cell = (text: string) => text.replace(/[\t\r\n]+/g, ' ');
  const rows = answer.bindings.map((row) => variables.map((name) => cell(row[name] ?? '')).join('\t'));
  return [variables.join('\t'), ...rows].join('\n');
}

function asText(answer: ShownAnswer, form: 'text' | 'json'): string {
  const { results, bindings, truncated, generation } = answer;
  if (form === 'text') return results.join('\n');
  return JSON.stringify(
    { question: answer.question.text, results, bindings, truncated, generation },
    null,
    2,
  );
}

type OnSort = (sort: AnswerSort | null) => void;

/** The sort state of a column; `column` as in `AnswerSort`. */
function sortBy(
  column: string | null,
  sort: AnswerSort | null,
  onSort: OnSort,
): NonNullable<Column<Row>['sort']> {
  return {
    direction: sort !== null && sort.column === column ? sort.direction : null,
    toggle: () => onSort(nextSort(sort, column)),
  };
}

/** The title of a variable, with the name of the argument that it stands for; numbers are right-aligned. */
function declaredColumn(
  name: string,
  argument: ShownArgument | undefined,
): Pick<Column<Row>, 'title' | 'align' | 'grow'> {
  if (argument === undefined) return { title: `?${name}`, grow: 1 };
  return {
    title: argument.name === name ? `?${name}` : `?${name} · ${argument.name}`,
    ...(isNumeric(argument.type) ? { align: 'end' } : { grow: 1 }),
  };
}

/** `shown`: the variables with a column; a question without variables has the whole answer in one. */
function columnsOf(
  variables: readonly string[],
  shown: readonly string[],
  sort: AnswerSort | null,
  onSort: OnSort,
  onWhy: (result: string) => void,
  declared: ReadonlyMap<string, ShownArgument>,
): Column<Row>[] {
  const why: Column<Row> = {
    id: 'why',
    title: 'Proof',
    width: 74,
    holds: 'controls',
    cell: (row) => (
      <Button
        size="compact-xs"
        variant="subtle"
        className={styles.why ?? ''}
        tabIndex={-1}
        aria-label={`Why ${row.result}`}
        onClick={() => onWhy(row.result)}
      >
        Why
      </Button>
    ),
  };
  const values: Column<Row>[] =
    variables.length === 0
      ? [
          {
            id: 'answer',
            title: 'Answer',
            width: 240,
            most: 720,
            sort: sortBy(null, sort, onSort),
            cell: (row) => <CodeText isLine text={row.result} />,
          },
        ]
      : shown.map((name) => ({
          id: name,
          ...declaredColumn(name, declared.get(name)),
          width: 140,
          most: 320,
          sort: sortBy(name, sort, onSort),
          cell: (row) => (
            <span className="mono" title={row.bindings[name]}>
              {row.bindings[name]}
            </span>
          ),
        }));
  return [...values, why];
}

/** A link to the changes that would affect the question. */
function WhatIfButton({ answer }: { answer: ShownAnswer }) {
  const goals = goalsOfQuestion(answer.question).join('\n');
  return (
    <Button
      variant="default"
      leftSection={<IconFlask size={14} aria-hidden />}
      renderRoot={(props) => <Link to="/what-if" search={goals === '' ? {} : { goals }} {...props} />}
    >
      What if
    </Button>
  );
}

interface NoAnswerProps {
  answer: ShownAnswer;
  onWhyNot: (question: string) => void;
}

function NoAnswer({ answer, onWhyNot }: NoAnswerProps) {
  const isGround = answer.question.variables.length === 0;
  return (
    <EmptyState
      icon={<IconCircleOff size={30} stroke={1.3} aria-hidden />}
      title={isGround ? 'It does not follow' : 'No answer'}
      actions={
        <>
          <Button
            leftSection={<IconHelpCircle size={14} aria-hidden />}
            onClick={() => onWhyNot(answer.question.text)}
          >
            Why not
          </Button>
          <WhatIfButton answer={answer} />
        </>
      }
    >
      {answer.isStoredOnly
        ? 'No stored fact matches. With inference, conclusions of rules count too.'
        : 'No known fact and no conclusion matches. Check the spelling, the number of arguments and the scope.'}
      <HintLines hints={answer.hints} />
    </EmptyState>
  );
}

function Summary({ answer, isNarrow }: { answer: ShownAnswer; isNarrow: boolean }) {
  const { results, truncated, total, elapsedMs, generation, isStoredOnly } = answer;
  const shown =
    truncated && total !== null
      ? `${formatCount(results.length)} of ${formatAmount(total, 'answer')}`
      : formatAmount(results.length, 'answer');
  const isYes = answer.question.variables.length === 0 && results.length > 0;
  return (
    <span className={`flex-row gap-4 ${styles.summary}`} role="status">
      {isYes && <IconCircleCheck size={16} className="fixed-size text-good" aria-hidden />}
      <strong>{isYes ? 'Yes, it is true' : shown}</strong>
      {truncated && total === null && <span>, and there are more</span>}
      <span className="dim number"> · {formatDuration(elapsedMs)}</span>
      {generation !== null && !isNarrow && (
        <span className="dim number"> · generation {formatCount(generation)}</span>
      )}
      {isStoredOnly && <span className="dim"> · stored only</span>}
    </span>
  );
}

interface FormsProps {
  answer: ShownAnswer;
  runs: TabRuns;
  onCompare: (run: string) => void;
  form: AnswerForm;
  onForm: (form: AnswerForm) => void;
  onMore: (() => void) | null;
  onWhyNot: (question: string) => void;
}

/** The choice of columns, where there are several to choose from. */
function AnswerColumns({ answer }: { answer: ShownAnswer }) {
  const { variables } = answer.question;
  const shown = useShownVariables(variables);
  if (variables.length < 2) return null;
  return (
    <ChooseColumns
      table={answerTable(variables)}
      columns={Object.fromEntries(variables.map((name) => [name, `?${name}`]))}
      shown={shown}
      norm="All variables"
    />
  );
}

function Forms({ answer, runs, onCompare, form, onForm, onMore, onWhyNot }: FormsProps) {
  const [isExporting, setExporting] = useState(false);
  // What a picture is made of is copied as a table.
  const copied: PlainForm = isPlain(form) ? form : 'table';
  const written = () => (copied === 'table' ? asTable(answer) : asText(answer, copied));
  return (
    <>
      {isExporting && (
        <ExportAnswer answer={answer} allowance={runs.allowance} onClose={() => setExporting(false)} />
      )}
      {answer.results.length > 0 && answer.question.variables.length > 0 && (
        <Tooltip label="Why not: explain an expected answer that is missing">
          <ActionIcon size="sm" aria-label="Why not" onClick={() => onWhyNot(answer.question.text)}>
            <IconHelpCircle size={15} aria-hidden />
          </ActionIcon>
        </Tooltip>
      )}
      {answer.truncated && onMore !== null && (
        <Button variant="default" onClick={onMore}>
          Show more
        </Button>
      )}
      {form === 'table' && answer.results.length > 0 && <AnswerColumns answer={answer} />}
      <RunActions answer={answer} runs={runs} onCompare={onCompare} />
      <span {...dragOutOf(() => draggedName(answer.question.text, extensions[copied]), written)}>
        <CopyButton
          label={copied === 'table' ? 'Copy as a table' : copied === 'json' ? 'Copy as JSON' : 'Copy as text'}
          text={written}
        />
      </span>
      {answer.results.length > 0 && (
        <Tooltip label="Export all answers to a file">
          <ActionIcon size="sm" aria-label="Export all answers" onClick={() => setExporting(true)}>
            <IconFileExport size={15} aria-hidden />
          </ActionIcon>
        </Tooltip>
      )}
      <SegmentedControl
        aria-label="Show the answers as"
        value={form}
        onChange={(value) => onForm(answerFormOf(value) ?? 'table')}
        data={fittingForms(answer.question.variables.length).map((value) => ({
          value,
          label: formWords[value],
        }))}
      />
    </>
  );
}

interface TableProps {
  answer: ShownAnswer;
  sort: AnswerSort | null;
  onSort: OnSort;
  onWhy: (result: string) => void;
  /** True if a pane is open beside the answers. */
  isNarrow: boolean;
}

/** Under this name the choice of columns is kept; no predicate has a colon. */
function answerTable(variables: readonly string[]): string {
  return `answers:${variables.join(' ')}`;
}

/** The variables whose columns are shown. */
function useShownVariables(variables: readonly string[]): readonly string[] {
  const choice = useColumnChoice(answerTable(variables));
  return useMemo(() => shownColumns(variables, choice, new Set(variables), null), [variables, choice]);
}

function Table({ answer, sort, onSort, onWhy, isNarrow }: TableProps) {
  const navigate = useNavigate();
  const [selected, setSelected] = useState<string | null>(null);
  const { results, bindings } = answer;
  const onAsk = (question: string) => void navigate({ to: '/ask', search: { question } });
  const onEntity = useOpenEntity();
  const { atoms, variables } = answer.question;
  const shown = useShownVariables(variables);
  const predicates = usePredicates().data;
  const declared = useMemo(() => declaredVariables(atoms, predicates), [atoms, predicates]);
  const columns = useMemo(
    () => columnsOf(variables, shown, sort, onSort, onWhy, declared),
    [variables, shown, sort, onSort, onWhy, declared],
  );
  // By content: sorting moves the row.
  const position = useMemo(() => (selected === null ? -1 : results.indexOf(selected)), [results, selected]);

  function rowAt(index: number): Row | undefined {
    const result = results[index];
    return result === undefined ? undefined : { result, bindings: bindings[index] ?? {} };
  }

  const wide = useWideDetail('ask', selected !== null);
  const grid = (
    <DataGrid
      label="Answers"
      columns={columns}
      count={results.length}
      rowAt={rowAt}
      selected={position < 0 ? null : position}
      onSelect={(index) => setSelected(results[index] ?? null)}
      onOpen={(index) => {
        const result = results[index];
        if (result !== undefined) onWhy(result);
      }}
      menu={(index, column) => answerMenu(answer, index, column, { onWhy, onAsk, onEntity })}
    />
  );
  if (!wide.isOpen || isNarrow) return grid;
  const onClose = () => {
    setSelected(null);
    wide.close();
  };
  const detail = (
    <AnswerDetail
      answer={answer}
      row={position < 0 ? null : (rowAt(position) ?? null)}
      declared={declared}
      onWhy={onWhy}
      onAsk={onAsk}
      onClose={onClose}
    />
  );
  return (
    <Split
      id="ask-detail"
      orientation="horizontal"
      label="Resize"
      panes={[
        { id: 'answers', least: '320px', content: grid },
        { id: 'answer', size: '330px', least: '220px', content: detail },
      ]}
    />
  );
}

function Raw({ answer, form }: { answer: ShownAnswer; form: 'text' | 'json' }) {
  const text = useMemo(() => asText(answer, form), [answer, form]);
  return (
    <LazyTextViewer
      text={text}
      language={form === 'json' ? 'json' : 'statements'}
      label={form === 'json' ? 'Answers as JSON' : 'Answers as text'}
    />
  );
}

// Drawing code is loaded where something is drawn.
const LazyChart = lazy(() => import('./chart-view.tsx').then(({ ChartView }) => ({ default: ChartView })));
const LazyGraph = lazy(() => import('./graph-view.tsx').then(({ GraphView }) => ({ default: GraphView })));

interface PicturedProps extends Omit<FormProps, 'kinds'> {
  form: Exclude<AnswerForm, PlainForm>;
}

/** The answers as a graph, a chart or a pivot table. */
function Pictured({ form, answer, ...props }: PicturedProps) {
  const kinds = useMemo(() => columnKinds(answer), [answer]);
  const View = { graph: LazyGraph, chart: LazyChart, pivot: PivotView }[form];
  return (
    <Suspense fallback={<Loader size={18} aria-label="Loading" className={styles.loading ?? ''} />}>
      <View answer={answer} kinds={kinds} {...props} />
    </Suspense>
  );
}

interface ResultsProps {
  answer: ShownAnswer;
  sort: AnswerSort | null;
  onSort: OnSort;
  /** The form that the tab chose; null: the user's habit. */
  form: AnswerForm | null;
  /** The settings of that form, as the address has them. */
  axes: string | undefined;
  onForm: (form: AnswerForm, axes?: string) => void;
  runs: TabRuns;
  /** Compares the answers with another run, given by id. */
  onCompare: (run: string) => void;
  /** True if a pane is open beside the answers. */
  isNarrow: boolean;
  onWhy: (result: string) => void;
  onWhyNot: (question: string) => void;
  /** null if the service's limit is reached. */
  onMore: (() => void) | null;
}

/** Shows the answers in the chosen form. */
export function Results(props: ResultsProps) {
  const { answer: asked, sort, onSort, runs, onCompare, isNarrow, onWhy, onWhyNot, onMore } = props;
  const habit = useHabit((state) => state.form);
  const wanted = props.form ?? habit;
  const form = fittingForms(asked.question.variables.length).includes(wanted) ? wanted : habit;
  const answer = useMemo(() => sortedAnswers(asked, sort), [asked, sort]);
  return (
    <PaneFrame
      scroll="own"
      label="Answers"
      title={<Summary answer={answer} isNarrow={isNarrow} />}
      actions={
        <Forms
          answer={answer}
          runs={runs}
          onCompare={onCompare}
          form={form}
          onForm={(chosen) => {
            if (isPlain(chosen)) setHabit(chosen);
            props.onForm(chosen);
          }}
          onMore={onMore}
          onWhyNot={onWhyNot}
        />
      }
    >
      {answer.results.length === 0 && form !== 'json' ? (
        <NoAnswer answer={answer} onWhyNot={onWhyNot} />
      ) : form === 'table' ? (
        <Table answer={answer} sort={sort} onSort={onSort} onWhy={onWhy} isNarrow={isNarrow} />
      ) : !isPlain(form) ? (
        <Pictured
          // Not the sorted answers: their order means nothing here.
          answer={asked}
          form={form}
          axes={props.axes}
          onAxes={(axes) => props.onForm(form, axes)}
          onMore={onMore}
        />
      ) : (
        <Raw answer={answer} form={form} />
      )}
    </PaneFrame>
  );
}

const icon = { size: 15, stroke: 1.6, 'aria-hidden': true } as const;

interface MenuActions {
  readonly onWhy: (result: string) => void;
  readonly onAsk: (question: string) => void;
  readonly onEntity: (constant: string) => void;
}

async function copy(text: string, what: string): Promise<void> {
  if (await copyText(text)) notifyDone(`Copied ${what}`);
}

/** The menu of an answer's row; `column`: the variable of the clicked cell, or another column's id. */
function answerMenu(
  { question, results, bindings }: ShownAnswer,
  index: number,
  column: string,
  { onWhy, onAsk, onEntity }: MenuActions,
): RowMenuGroups {
  const result = results[index];
  const row = bindings[index] ?? {};
  if (result === undefined) return [];
  const value = row[column];
  const fields = question.variables.map((name) => (row[name] ?? '').replace(/[\t\r\n]+/g, ' '));
  const constants = new Set(value === undefined ? Object.values(row) : [value]);
  const entities = [...constants].map((constant) => ({
    label: `Open ${constant.length > 30 ? `${constant.slice(0, 29)}…` : constant}`,
    icon: <IconCircleDot {...icon} />,
    onClick: () => onEntity(constant),
  }));
  return [
    [{ label: 'Why', icon: <IconRoute {...icon} />, keys: 'Enter', onClick: () => onWhy(result) }],
    entities,
    [
      ...(value === undefined
        ? []
        : [
            {
              label: 'Copy the value',
              icon: <IconCopy {...icon} />,
              onClick: () => void copy(value, 'the value'),
            },
          ]),
      {
        label: 'Copy as TSV',
        icon: <IconCopy {...icon} />,
        onClick: () => void copy(fields.length === 0 ? result : fields.join('\t'), 'as TSV'),
      },
      {
        label: 'Copy as JSON',
        icon: <IconCopy {...icon} />,
        onClick: () => void copy(JSON.stringify(fields.length === 0 ? result : row), 'as JSON'),
      },
      {
        label: 'Copy as a statement',
        icon: <IconCopy {...icon} />,
        onClick: () => void copy(`${result}.`, 'as a statement'),
      },
    ],
    [{ label: 'Ask whether this is true', icon: <IconListSearch {...icon} />, onClick: () => onAsk(result) }],
  ];
}
