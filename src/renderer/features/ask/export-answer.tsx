/** Exports the whole result of a question to a file, with progress and cancel. */
import { Button, Modal, Radio, Switch } from '@mantine/core';
import { IconFileExport, IconPlayerStop } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { type ApiFailure, apiFailureOf, isCancelled } from '../../api/problem.ts';
import { chooseSink } from '../../api/save-answer.ts';
import { useSession } from '../../api/session.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { Elapsed, ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import {
  allAnswers,
  type AnswerFileFormat,
  answerFileFormats,
  answerFileSpecs,
  exportAllowance,
  fileColumns,
  fileWriter,
  writeAnswers,
} from './answer-file.ts';
import type { Allowance, ShownAnswer } from './answer.ts';
import styles from './ask.module.css';

interface Running {
  readonly since: number;
  readonly written: number;
}

function fileNameOf(question: string, extension: string): string {
  const plain = question
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60);
  return `${plain === '' ? 'answers' : plain}.${extension}`;
}

interface ProgressProps {
  running: Running;
  /** How many answers there were when they were shown; null: not known. */
  expected: number | null;
  onCancel: () => void;
}

function Progress({ running, expected, onCancel }: ProgressProps) {
  const { since, written } = running;
  // More may have become known since.
  const of = expected === null ? null : Math.max(expected, written);
  const count = `${formatCount(written)}${of === null ? '' : ` of ${formatAmount(of, 'answer')}`}`;
  const words = written === 0 ? 'Waiting for the answers' : count;
  return (
    <div className="flex-row gap-8">
      <progress
        className={styles.progress}
        aria-label="Exporting"
        {...(of === null || written === 0 ? {} : { value: written, max: of })}
      />
      <span className="number" role="status">
        {words}
      </span>
      <Elapsed since={since} />
      <Button
        color="red"
        variant="light"
        leftSection={<IconPlayerStop size={14} aria-hidden />}
        onClick={onCancel}
      >
        Cancel
      </Button>
    </div>
  );
}

interface ExportAnswerProps {
  answer: ShownAnswer;
  allowance: Allowance;
  onClose: () => void;
}

interface FileChoice {
  readonly format: AnswerFileFormat;
  /** CSV and TSV: values that a spreadsheet would run as formulas become text. */
  readonly isForSpreadsheets: boolean;
}

const isDelimited = (format: AnswerFileFormat) => format === 'csv' || format === 'tsv';

/** Exports; `onDone` is called when the file is whole. */
function useExporting(answer: ShownAnswer, allowance: Allowance, onDone: () => void) {
  const session = useSession();
  const [running, setRunning] = useState<Running | null>(null);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [wasCancelled, setCancelled] = useState(false);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const { question, isStoredOnly, total } = answer;

  async function start({ format, isForSpreadsheets }: FileChoice): Promise<void> {
    setFailure(null);
    setCancelled(false);
    const spec = answerFileSpecs[format];
    try {
      const { sink, name } = await chooseSink(fileNameOf(question.text, spec.extension), spec);
      const controller = new AbortController();
      stop.current = controller;
      const since = performance.now();
      setRunning({ since, written: 0 });
      const { signal } = controller;
      const written = await writeAnswers(
        allAnswers(session, question, isStoredOnly, exportAllowance(allowance), signal),
        fileWriter(format, fileColumns(question), isDelimited(format) && isForSpreadsheets),
        sink,
        signal,
        (count) => setRunning({ since, written: count }),
      );
      notifyDone(`${name}: ${formatAmount(written, 'answer')} exported`);
      onDone();
    } catch (error) {
      if (isCancelled(error)) setCancelled(stop.current?.signal.aborted === true);
      else setFailure(apiFailureOf(error));
    } finally {
      setRunning(null);
    }
  }
  return { running, expected: total, failure, wasCancelled, start, cancel: () => stop.current?.abort() };
}

function Choices({ choice, onChoice }: { choice: FileChoice; onChoice: (choice: FileChoice) => void }) {
  return (
    <>
      <Radio.Group
        label="Format"
        value={choice.format}
        onChange={(value) =>
          onChoice({ ...choice, format: answerFileFormats.find((known) => known === value) ?? 'csv' })
        }
      >
        <div className="flex-column gap-6">
          {answerFileFormats.map((name) => (
            <Radio
              key={name}
              size="xs"
              value={name}
              label={answerFileSpecs[name].label}
              description={answerFileSpecs[name].hint}
            />
          ))}
        </div>
      </Radio.Group>
      {isDelimited(choice.format) && (
        <Switch
          label="For spreadsheets"
          description="Puts an apostrophe before each value that a spreadsheet would run as a formula."
          checked={choice.isForSpreadsheets}
          onChange={(event) => onChoice({ ...choice, isForSpreadsheets: event.currentTarget.checked })}
        />
      )}
    </>
  );
}

/** The dialog that exports all answers, not only those shown. */
export function ExportAnswer({ answer, allowance, onClose }: ExportAnswerProps) {
  const [choice, setChoice] = useState<FileChoice>({ format: 'csv', isForSpreadsheets: false });
  const { running, expected, failure, wasCancelled, start, cancel } = useExporting(
    answer,
    allowance,
    onClose,
  );
  return (
    <Modal
      opened
      onClose={onClose}
      title="Export all answers"
      size="md"
      closeOnEscape={running === null}
      closeOnClickOutside={running === null}
    >
      <div className="flex-column gap-12">
        <p className="no-margin mono wraps">{answer.question.text}</p>
        <Choices choice={choice} onChoice={setChoice} />
        {failure !== null && <ProblemNotice failure={failure} />}
        {wasCancelled && (
          <p className="no-margin dim" role="status">
            Cancelled. Nothing was saved.
          </p>
        )}
        {running !== null && <Progress running={running} expected={expected} onCancel={cancel} />}
        <div className="flex-row gap-8 to-end">
          <Button variant="default" disabled={running !== null} onClick={onClose}>
            Close
          </Button>
          <Button
            leftSection={<IconFileExport size={14} aria-hidden />}
            loading={running !== null}
            onClick={() => void start(choice)}
          >
            Export
          </Button>
        </div>
      </div>
    </Modal>
  );
}
