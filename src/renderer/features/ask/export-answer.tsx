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
  type AnswerFileFormat,
  answerFileFormats,
  answerFileSpecs,
  exportAllowance,
  fileColumns,
  fileWriter,
  pagesOf,
  writeAnswers,
} from './answer-file.ts';
import type { Allowance, ShownAnswer } from './answer.ts';
import styles from './ask.module.css';

interface Running {
  readonly since: number;
  readonly written: number;
  readonly of: number | null;
}

function fileNameOf(question: string, extension: string): string {
  const plain = question
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60);
  return `${plain === '' ? 'answers' : plain}.${extension}`;
}

function Progress({ running, onCancel }: { running: Running; onCancel: () => void }) {
  const { since, written, of } = running;
  const words = `${formatCount(written)}${of === null ? '' : ` of ${formatAmount(of, 'answer')}`}`;
  return (
    <div className="flex-row gap-8">
      <progress
        className={styles.progress}
        aria-label="Exporting"
        {...(of === null || of === 0 ? {} : { value: written, max: of })}
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

/** The dialog that exports all answers, not only those shown. */
export function ExportAnswer({ answer, allowance, onClose }: ExportAnswerProps) {
  const session = useSession();
  const [format, setFormat] = useState<AnswerFileFormat>('csv');
  const [isForSpreadsheets, setForSpreadsheets] = useState(false);
  const [running, setRunning] = useState<Running | null>(null);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [isCancelledNow, setCancelled] = useState(false);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const { question, isStoredOnly } = answer;
  const isDelimited = format === 'csv' || format === 'tsv';

  async function start(): Promise<void> {
    setFailure(null);
    setCancelled(false);
    const spec = answerFileSpecs[format];
    try {
      const { sink, name } = await chooseSink(fileNameOf(question.text, spec.extension), spec);
      const controller = new AbortController();
      stop.current = controller;
      const since = performance.now();
      setRunning({ since, written: 0, of: null });
      const written = await writeAnswers(
        pagesOf(session, question, isStoredOnly, exportAllowance(allowance)),
        fileWriter(format, fileColumns(question), isDelimited && isForSpreadsheets),
        sink,
        controller.signal,
        (count, of) => setRunning({ since, written: count, of }),
      );
      notifyDone(`${name}: ${formatAmount(written, 'answer')} exported`);
      onClose();
    } catch (error) {
      if (isCancelled(error)) setCancelled(stop.current?.signal.aborted === true);
      else setFailure(apiFailureOf(error));
    } finally {
      setRunning(null);
    }
  }

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
        <p className="no-margin mono wraps">{question.text}</p>
        <Radio.Group
          label="Format"
          value={format}
          onChange={(value) => setFormat(answerFileFormats.find((known) => known === value) ?? 'csv')}
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
        {isDelimited && (
          <Switch
            label="For spreadsheets"
            description="Puts an apostrophe before each value that a spreadsheet would run as a formula."
            checked={isForSpreadsheets}
            onChange={(event) => setForSpreadsheets(event.currentTarget.checked)}
          />
        )}
        {failure !== null && <ProblemNotice failure={failure} />}
        {isCancelledNow && (
          <p className="no-margin dim" role="status">
            Cancelled. Nothing was saved.
          </p>
        )}
        {running !== null && <Progress running={running} onCancel={() => stop.current?.abort()} />}
        <div className="flex-row gap-8 to-end">
          <Button variant="default" disabled={running !== null} onClick={onClose}>
            Close
          </Button>
          <Button
            leftSection={<IconFileExport size={14} aria-hidden />}
            loading={running !== null}
            onClick={() => void start()}
          >
            Export
          </Button>
        </div>
      </div>
    </Modal>
  );
}
