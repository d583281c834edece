import { Autocomplete, Button, Modal, Radio, Select, Switch } from '@mantine/core';
import { IconFileExport, IconPlayerStop } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { predicateProblem } from '../../../engine/contract/language.ts';
import { type ExportFormat, exportFormats } from '../../../engine/contract/transfer.ts';
import { addressOf, type ApiEndpoint } from '../../api/client.ts';
import { type ApiFailure, apiFailureOf, isCancelled } from '../../api/problem.ts';
import { usePredicates, useScopes } from '../../api/queries.ts';
import {
  chooseSink,
  saveAnswer,
  type SavingFailures,
  type Sink,
  writesAsItComes,
} from '../../api/save-answer.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf, scopeKey, type ScopeSelection } from '../../api/space.ts';
import { formatBytes } from '../../ui/format.ts';
import { Elapsed, ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { exportFormatSpecs } from './formats.ts';
import { ProgressBar } from './import-progress.tsx';
import styles from './transfer.module.css';

/** An export. */
export interface ExportPlan {
  readonly endpoint: ApiEndpoint;
  readonly format: ExportFormat;
  readonly scope: ScopeSelection;
  /** null: all predicates. */
  readonly predicate: string | null;
  readonly rules: boolean;
  /** CSV: values that a spreadsheet would run as formulas become text. */
  readonly isForSpreadsheets: boolean;
}

/** Returns the URL of the file. */
export function exportUrl(plan: ExportPlan): string {
  const { endpoint, format, scope, predicate, rules, isForSpreadsheets } = plan;
  const { scope: name, unscoped } = scopeFieldsOf(scope);
  return addressOf(endpoint, 'exportKnowledge', {
    query: {
      format,
      scope: name,
      unscoped: unscoped === true ? 'true' : undefined,
      predicate,
      rules: exportFormatSpecs[format].holdsRules ? (rules ? 'true' : 'false') : undefined,
      escape: isForSpreadsheets && format === 'csv' ? 'spreadsheet' : undefined,
    },
  });
}

/** Returns a file name that describes the content. */
export function exportFileName({ endpoint, format, scope, predicate }: ExportPlan): string {
  const parts = [
    endpoint.tenant === 'default' ? endpoint.database : `${endpoint.database}-${endpoint.tenant}`,
    ...(scope.kind === 'named' ? [scope.name] : []),
    ...(predicate === null ? [] : [predicate]),
  ];
  const base = parts
    .join('-')
    .replace(/[^\p{L}\p{N}._-]+/gu, '_')
    .slice(0, 100);
  return `${base}.${exportFormatSpecs[format].extension}`;
}

const failures: SavingFailures = {
  brokenOff: 'The export broke off',
  tooLarge: 'Export one predicate or scope at a time, or use Chrome or Edge.',
};

/** Saves an export to a file. Resolves with its size in bytes. Errors: ApiError; AbortError if `signal` aborted. */
function runExport(
  plan: ExportPlan,
  sink: Sink,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<number> {
  const call = { url: exportUrl(plan), method: 'GET' } as const;
  return saveAnswer(plan.endpoint, call, failures, sink, signal, onBytes);
}

/** The filter of the Facts view, as far as an export supports it. */
interface ExportStart {
  readonly predicate: string | undefined;
  /** True if the view also filters by text or truth, so that it shows less than the export contains. */
  readonly isFiltered: boolean;
}

interface Under {
  readonly since: number;
  readonly bytes: number;
  readonly stop: AbortController;
}

interface Exporting {
  readonly under: Under | null;
  readonly failure: ApiFailure | null;
  readonly start: (plan: ExportPlan) => Promise<void>;
}

function useExporting(onDone: () => void): Exporting {
  const [under, setUnder] = useState<Under | null>(null);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);

  async function start(plan: ExportPlan): Promise<void> {
    setFailure(null);
    try {
      const { sink, name } = await chooseSink(exportFileName(plan), exportFormatSpecs[plan.format]);
      const controller = new AbortController();
      stop.current = controller;
      const begun = { since: performance.now(), stop: controller };
      setUnder({ ...begun, bytes: 0 });
      const size = await runExport(plan, sink, controller.signal, (bytes) => setUnder({ ...begun, bytes }));
      notifyDone(`${name}: ${formatBytes(size)} exported`);
      onDone();
    } catch (error) {
      if (!isCancelled(error)) setFailure(apiFailureOf(error));
    } finally {
      setUnder(null);
    }
  }

  return { under, failure, start };
}

const noScope: ScopeSelection = { kind: 'unscoped' };
const everyScope: ScopeSelection = { kind: 'all' };

function ScopeSelect({
  scope,
  onScope,
}: {
  scope: ScopeSelection;
  onScope: (scope: ScopeSelection) => void;
}) {
  const names = [...new Set([...useScopes(), ...(scope.kind === 'named' ? [scope.name] : [])])];
  const choices = [
    { choice: everyScope, label: 'All scopes' },
    { choice: noScope, label: 'No scope' },
    ...names.map((name) => ({ choice: { kind: 'named', name } as ScopeSelection, label: name })),
  ];
  return (
    <Select
      label="Of the scope"
      className={styles.wide}
      allowDeselect={false}
      searchable={names.length > 8}
      value={scopeKey(scope)}
      data={choices.map(({ choice, label }) => ({ value: scopeKey(choice), label }))}
      onChange={(value) => {
        const found = choices.find(({ choice }) => scopeKey(choice) === value);
        if (found !== undefined) onScope(found.choice);
      }}
    />
  );
}

function Progressing({ under }: { under: Under }) {
  return (
    <div className={styles.outcome}>
      <div className="flex-row spread gap-8">
        <h3 role="status">Exporting…</h3>
        <Button
          color="red"
          variant="light"
          leftSection={<IconPlayerStop size={14} aria-hidden />}
          onClick={() => under.stop.abort()}
        >
          Cancel
        </Button>
      </div>
      <ProgressBar label="Exporting" share={null} />
      <div className={`number small-print flex-wrap spread flex ${styles.figures}`}>
        <span>{formatBytes(under.bytes)}</span>
        <Elapsed since={under.since} />
      </div>
    </div>
  );
}

function FormatChoice({
  format,
  onFormat,
}: {
  format: ExportFormat;
  onFormat: (format: ExportFormat) => void;
}) {
  return (
    <Radio.Group
      label="Format"
      value={format}
      onChange={(value) => {
        const chosen = exportFormats.find((known) => known === value);
        if (chosen !== undefined) onFormat(chosen);
      }}
    >
      <div className={`flex-column gap-8 ${styles.formats}`}>
        {exportFormats.map((name) => (
          <Radio
            key={name}
            size="xs"
            value={name}
            label={exportFormatSpecs[name].label}
            description={exportFormatSpecs[name].leavesOut}
          />
        ))}
      </div>
    </Radio.Group>
  );
}

interface ChoicesProps {
  plan: ExportPlan;
  onPlan: (part: Partial<ExportPlan>) => void;
  problem: string | null;
}

function Choices({ plan, onPlan, problem }: ChoicesProps) {
  const predicates = usePredicates().data ?? [];
  const { format, scope, predicate, rules, isForSpreadsheets } = plan;
  const { holdsRules } = exportFormatSpecs[format];
  return (
    <>
      <div className={`flex-wrap align-start flex ${styles.fields}`}>
        <Autocomplete
          label="Facts of the predicate"
          placeholder="All predicates"
          className={styles.wide}
          data={[...new Set(predicates.map(({ name }) => name))]}
          limit={50}
          value={predicate ?? ''}
          error={problem}
          onChange={(name) => onPlan({ predicate: name === '' ? null : name })}
        />
        <ScopeSelect scope={scope} onScope={(chosen) => onPlan({ scope: chosen })} />
        <Switch
          className={styles.switch}
          label="Rules too"
          disabled={!holdsRules}
          checked={rules && holdsRules}
          onChange={(event) => onPlan({ rules: event.currentTarget.checked })}
        />
      </div>
      <FormatChoice format={format} onFormat={(chosen) => onPlan({ format: chosen })} />
      {format === 'csv' && (
        <Switch
          label="For spreadsheets"
          description="Puts an apostrophe before each value that a spreadsheet would run as a formula. An import keeps it."
          checked={isForSpreadsheets}
          onChange={(event) => onPlan({ isForSpreadsheets: event.currentTarget.checked })}
        />
      )}
    </>
  );
}

/** Exports knowledge to a file: selection, format, and what the format omits. */
export function ExportDialog({ start, onClose }: { start: ExportStart; onClose: () => void }) {
  const { endpoint, space } = useSession();
  const [plan, setPlan] = useState<ExportPlan>({
    endpoint,
    format: 'ndjson',
    scope: space.scope,
    predicate: start.predicate ?? null,
    rules: true,
    isForSpreadsheets: false,
  });
  const exporting = useExporting(onClose);
  const { under, failure } = exporting;
  const problem = plan.predicate === null ? null : predicateProblem(plan.predicate);
  const isBusy = under !== null;

  return (
    <Modal
      opened
      onClose={onClose}
      title={`Export from ${space.database} / ${space.tenant}`}
      size="lg"
      closeOnEscape={!isBusy}
      closeOnClickOutside={!isBusy}
    >
      <div className={`flex-column gap-12 ${styles.body}`}>
        <Choices plan={plan} problem={problem} onPlan={(part) => setPlan({ ...plan, ...part })} />
        {start.isFiltered && (
          <p className={styles.small}>
            The filters by text and truth are no part of an export: it holds all facts of the predicate and
            scope.
          </p>
        )}
        {!writesAsItComes() && (
          <p className={styles.small}>
            This browser keeps the file until it is whole, up to 1 GiB, and saves it then.
          </p>
        )}
        {failure !== null && <ProblemNotice failure={failure} />}
        {under !== null && <Progressing under={under} />}
        <div className={styles.actions}>
          <Button variant="default" disabled={isBusy} onClick={onClose}>
            Close
          </Button>
          <Button
            leftSection={<IconFileExport size={14} aria-hidden />}
            loading={isBusy}
            disabled={problem !== null}
            // The key may have changed.
            onClick={() => void exporting.start({ ...plan, endpoint })}
          >
            Export
          </Button>
        </div>
      </div>
    </Modal>
  );
}
