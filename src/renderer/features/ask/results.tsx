/** The answers: as a table with a column a variable, as text, as JSON; from every row to its proof, from none to why not. */
import { ActionIcon, Button, SegmentedControl, Tooltip } from '@mantine/core';
import { IconCircleCheck, IconCircleOff, IconFlask, IconHelpCircle } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { CodeText } from '../../editor/code-text.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { type Column, DataGrid } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount, formatDuration } from '../../ui/format.ts';
import { EmptyState } from '../../ui/notices.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import styles from './ask.module.css';
import { goalsOf } from './question.ts';
import type { ShownAnswer } from './use-answer.ts';

type Form = 'table' | 'text' | 'json';

interface Row {
  readonly result: string;
  readonly bindings: Readonly<Record<string, string>>;
}

/** Tab-separated values with a header, as spreadsheets paste them. */
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

function columnsOf(answer: ShownAnswer, onWhy: (result: string) => void): Column<Row>[] {
  const why: Column<Row> = {
    id: 'why',
    title: 'Proof',
    width: 74,
    cell: (row) => (
      <Button
        size="compact-xs"
        variant="subtle"
        tabIndex={-1}
        aria-label={`Why ${row.result}`}
        onClick={() => onWhy(row.result)}
      >
        Why
      </Button>
    ),
  };
  const { variables } = answer.question;
  const values: Column<Row>[] =
    variables.length === 0
      ? [
          {
            id: 'answer',
            title: 'Answer',
            width: 240,
            grow: 1,
            cell: (row) => <CodeText isLine text={row.result} />,
          },
        ]
      : variables.map((name) => ({
          id: name,
          title: `?${name}`,
          width: 140,
          grow: 1,
          cell: (row) => (
            <span className="mono" title={row.bindings[name]}>
              {row.bindings[name]}
            </span>
          ),
        }));
  return [...values, why];
}

/** To the changes that would make a difference to the question. */
function WhatIfButton({ answer }: { answer: ShownAnswer }) {
  const goals = goalsOf(answer.question).join('\n');
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
        : 'Nothing that is known, and nothing that follows from it, matches. Check the spelling, the number of arguments and the scope.'}
    </EmptyState>
  );
}

function Summary({ answer, isNarrow }: { answer: ShownAnswer; isNarrow: boolean }) {
  const { results, truncated, elapsedMs, generation, isStoredOnly } = answer;
  const isYes = answer.question.variables.length === 0 && results.length > 0;
  return (
    <span className={styles.summary} role="status">
      {isYes && <IconCircleCheck size={16} className={styles.yes} aria-hidden />}
      <strong>{isYes ? 'Yes, it holds' : formatAmount(results.length, 'answer')}</strong>
      {truncated && <span>, and there are more</span>}
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
  form: Form;
  onForm: (form: Form) => void;
  onMore: () => void;
  onWhyNot: (question: string) => void;
}

function Forms({ answer, form, onForm, onMore, onWhyNot }: FormsProps) {
  return (
    <>
      {answer.results.length > 0 && answer.question.variables.length > 0 && (
        <Tooltip label="Why not: an answer that you expected and that is not there">
          <ActionIcon size="sm" aria-label="Why not" onClick={() => onWhyNot(answer.question.text)}>
            <IconHelpCircle size={15} aria-hidden />
          </ActionIcon>
        </Tooltip>
      )}
      {answer.truncated && (
        <Button variant="default" onClick={onMore}>
          Show more
        </Button>
      )}
      <CopyButton
        label={form === 'table' ? 'Copy as a table' : form === 'json' ? 'Copy as JSON' : 'Copy as text'}
        text={() => (form === 'table' ? asTable(answer) : asText(answer, form))}
      />
      <SegmentedControl
        aria-label="Show the answers as"
        value={form}
        onChange={(value) => onForm(value === 'json' ? 'json' : value === 'text' ? 'text' : 'table')}
        data={[
          { value: 'table', label: 'Table' },
          { value: 'text', label: 'Text' },
          { value: 'json', label: 'JSON' },
        ]}
      />
    </>
  );
}

function Table({ answer, onWhy }: { answer: ShownAnswer; onWhy: (result: string) => void }) {
  const [selected, setSelected] = useState<number | null>(null);
  const { results, bindings } = answer;
  const columns = useMemo(() => columnsOf(answer, onWhy), [answer, onWhy]);

  function rowAt(index: number): Row | undefined {
    const result = results[index];
    return result === undefined ? undefined : { result, bindings: bindings[index] ?? {} };
  }

  return (
    <DataGrid
      label="Answers"
      columns={columns}
      count={results.length}
      rowAt={rowAt}
      selected={selected}
      onSelect={setSelected}
      onOpen={(index) => {
        const result = results[index];
        if (result !== undefined) onWhy(result);
      }}
    />
  );
}

interface ResultsProps {
  answer: ShownAnswer;
  /** True where something stands beside the answers. */
  isNarrow: boolean;
  onWhy: (result: string) => void;
  onWhyNot: (question: string) => void;
  onMore: () => void;
}

export function Results({ answer, isNarrow, onWhy, onWhyNot, onMore }: ResultsProps) {
  const [form, setForm] = useState<Form>('table');
  return (
    <PaneFrame
      scroll="own"
      label="Answers"
      title={<Summary answer={answer} isNarrow={isNarrow} />}
      actions={<Forms answer={answer} form={form} onForm={setForm} onMore={onMore} onWhyNot={onWhyNot} />}
    >
      {answer.results.length === 0 && form !== 'json' ? (
        <NoAnswer answer={answer} onWhyNot={onWhyNot} />
      ) : form === 'table' ? (
        <Table answer={answer} onWhy={onWhy} />
      ) : (
        <pre
          className={styles.raw}
          tabIndex={0}
          aria-label={form === 'json' ? 'Answers as JSON' : 'Answers as text'}
        >
          {asText(answer, form)}
        </pre>
      )}
    </PaneFrame>
  );
}
