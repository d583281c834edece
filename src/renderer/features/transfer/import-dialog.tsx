import { Autocomplete, Button, Loader, Modal, Select, Switch } from '@mantine/core';
import { IconFile } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { type ChangeEvent, type ReactNode, useEffect, useMemo, useState } from 'react';
import { type DelimitedRecord, type Separator, separatorOf } from '../../api/delimited.ts';
import type { DeclarationInput } from '../../../engine/contract/declarations.ts';
import { renderDeclaration } from '../../../engine/language/declaration-text.ts';
import { scopeNameProblem } from '../../../engine/contract/names.ts';
import { usePredicates, useScopes } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { formatBytes } from '../../ui/format.ts';
import { Banner } from '../../ui/notices.tsx';
import { ChooseFile } from './choose-file.tsx';
import { formatOf, type ImportFormat, importFormats, isTabular, useRights } from './formats.ts';
import { ImportProgressView } from './import-progress.tsx';
import { ImportResult, RecentImports, UndoButton } from './import-result.tsx';
import { MappingFields } from './mapping-fields.tsx';
import {
  declarationOfColumns,
  type Mapping,
  mappingProblem,
  predicateOfFileName,
  proposedMapping,
} from './mapping.ts';
import {
  type Beginning,
  MappedRows,
  plainPreview,
  PlainRows,
  PreviewNote,
  type PreviewRow,
  previewRows,
  readBeginning,
  recordsOfBeginning,
  type TablePreview,
  tablePreview,
  widthOf,
} from './preview-table.tsx';
import { useTransfers } from './transfer-state.ts';
import { startImport, dismiss, dropCheck, isRunning, takeDropped } from './transfer-store.ts';
import styles from './transfer.module.css';

/** How to parse a file. */
interface FormChoices {
  readonly format: ImportFormat;
  /** Kept while another format is selected; null before a table was. */
  readonly mapping: Mapping | null;
}

interface Opened {
  readonly file: File;
  readonly beginning: Beginning;
  readonly choices: FormChoices;
}

interface ImportForm {
  readonly beginning: Beginning;
  readonly format: ImportFormat;
  /** null: the format is not a table. */
  readonly table: { readonly mapping: Mapping; readonly preview: TablePreview } | null;
  readonly rows: readonly PreviewRow[];
  readonly setFormat: (format: ImportFormat) => void;
  readonly setMapping: (mapping: Mapping) => void;
}

function usualSeparator(format: 'csv' | 'tsv'): ',' | '\t' {
  return format === 'csv' ? ',' : '\t';
}

/** Later records add little, and every keystroke parses them. */
const maxRecords = 101;

function headOf(beginning: Beginning, separator: Separator): DelimitedRecord[] {
  return recordsOfBeginning(beginning, separator).slice(0, maxRecords);
}

function proposed(file: File, beginning: Beginning, format: ImportFormat): Mapping | null {
  if (!isTabular(format)) return null;
  const separator = separatorOf(beginning.text, usualSeparator(format));
  const records = headOf(beginning, separator);
  return proposedMapping(records, separator, widthOf(records), predicateOfFileName(file.name));
}

/**
 * The form of a file: beginning, format and mapping, all but the file editable. null while it is read. `failure`: the
 * browser cannot read it.
 */
function useImportForm(file: File): { form: ImportForm | null; failure: string | null } {
  const [opened, setOpened] = useState<Opened | null>(null);
  const [failure, setFailure] = useState<string | null>(null);

  useEffect(() => {
    let isCurrent = true;
    setOpened(null);
    setFailure(null);
    readBeginning(file).then(
      (beginning) => {
        if (!isCurrent) return;
        const format = formatOf(file.name, beginning.text);
        setOpened({ file, beginning, choices: { format, mapping: proposed(file, beginning, format) } });
      },
      (error: unknown) => {
        if (isCurrent) setFailure(error instanceof Error ? error.message : String(error));
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [file]);

  const beginning = opened?.beginning ?? null;
  const format = opened?.choices.format ?? null;
  const mapping = opened?.choices.mapping ?? null;
  const separator = mapping?.separator ?? null;
  const records = useMemo(
    () => (beginning === null || separator === null ? [] : headOf(beginning, separator)),
    [beginning, separator],
  );
  const table = useMemo(() => {
    if (format === null || !isTabular(format) || mapping === null) return null;
    return { mapping, preview: tablePreview(records, mapping) };
  }, [format, mapping, records]);
  const plainRows = useMemo(
    () => (beginning === null || format === null || isTabular(format) ? [] : plainPreview(beginning, format)),
    [beginning, format],
  );

  function choose(choices: FormChoices): void {
    if (opened === null) return;
    dropCheck();
    setOpened({ ...opened, choices });
  }

  if (opened === null || beginning === null || format === null) return { form: null, failure };
  return {
    failure,
    form: {
      beginning,
      format,
      table,
      rows: table?.preview.rows ?? plainRows,
      setFormat: (next) =>
        choose({ format: next, mapping: isTabular(next) ? proposed(file, beginning, next) : null }),
      setMapping: (next) => choose({ format, mapping: widened(beginning, mapping, next) }),
    },
  };
}

/** Another separator yields other columns: all are selected. */
function widened(beginning: Beginning, before: Mapping | null, next: Mapping): Mapping {
  if (before?.separator === next.separator) return next;
  const width = widthOf(headOf(beginning, next.separator));
  const name = next.predicate.kind === 'name' ? next.predicate.name : '';
  return { ...proposedMapping([], next.separator, width, name), hasHeader: next.hasHeader };
}

const formatChoices = Object.entries(importFormats).map(([value, { label }]) => ({ value, label }));

function isFormat(value: string | null): value is ImportFormat {
  return value !== null && Object.hasOwn(importFormats, value);
}

function FileLine({ file, onOther }: { file: File; onOther: () => void }) {
  return (
    <div className={`flex-row gap-8 ${styles.file}`}>
      <IconFile size={18} stroke={1.5} aria-hidden />
      <span className={`truncate ${styles.fileName}`} title={file.name}>
        {file.name}
      </span>
      <span className="number dim">{formatBytes(file.size)}</span>
      <span className={styles.grow} />
      <Button variant="subtle" onClick={onOther}>
        Another file…
      </Button>
    </div>
  );
}

/** Scope of facts and rules without one; empty: none. */
function ScopeField({
  scope,
  onScope,
  format,
}: {
  scope: string;
  onScope: (scope: string) => void;
  format: ImportFormat;
}) {
  return (
    <Autocomplete
      label={format === 'ndjson' ? 'Scope, where a line names none' : 'Into the scope'}
      placeholder="No scope"
      className={styles.wide}
      data={useScopes()}
      value={scope}
      error={scope === '' ? null : scopeNameProblem(scope)}
      onChange={onScope}
    />
  );
}

const isTriples = (format: ImportFormat): boolean => format === 'turtle' || format === 'ntriples';

/** Namespaces of class models. */
const classModel = /\/(?:rdf-schema|owl|shacl)#/;

/** A choice of the form, and what follows from it. */
interface Shape {
  readonly declaration: DeclarationInput | null;
  readonly readsShapes: boolean;
  readonly field: ReactNode;
}

/** What the file says about the shape of predicates: the columns of a table, or the class model of triples. */
function useShape({ format, table, beginning }: ImportForm, isRefused: boolean): Shape {
  const [chosen, setWanted] = useState<boolean | null>(null);
  const isWanted = chosen ?? (table !== null || classModel.test(beginning.text));
  const declared = usePredicates().data;
  const proposed = useMemo(() => {
    if (table === null) return null;
    const { header, rows } = table.preview;
    const whole = rows.filter(({ problem }) => problem === null);
    return declarationOfColumns(
      header,
      whole.map(({ fields }) => fields),
      table.mapping,
    );
  }, [table]);
  const name = table?.mapping.predicate.kind === 'name' ? table.mapping.predicate.name : '';
  const arity = proposed?.arguments.length;
  const isKnown = declared?.some((row) => row.name === name && row.arity === arity && row.declaration);
  const declaration = isRefused || isKnown === true || name === '' ? null : proposed;
  const offersShapes = isTriples(format) && !isRefused;
  const isChosen = isWanted && (declaration !== null || offersShapes);
  const onChange = (event: ChangeEvent<HTMLInputElement>): void => {
    dropCheck();
    setWanted(event.currentTarget.checked);
  };
  const label =
    declaration === null
      ? 'Read RDFS, OWL and SHACL as declarations and constraints'
      : 'Declare the columns as arguments';
  const description =
    declaration === null
      ? 'Domains, ranges, data types and cardinalities; violations are listed and refuse nothing.'
      : renderDeclaration({ name, arity: declaration.arguments.length, ...declaration });
  const field = (declaration !== null || offersShapes) && (
    <Switch label={label} description={description} checked={isWanted} onChange={onChange} />
  );
  return { declaration: isChosen ? declaration : null, readsShapes: isChosen && offersShapes, field };
}

function Preview({ form }: { form: ImportForm }) {
  const { table, rows, beginning, format } = form;
  return (
    <div>
      {table === null ? (
        <PlainRows rows={rows} isPlain={isTriples(format)} />
      ) : (
        <MappedRows preview={table.preview} mapping={table.mapping} />
      )}
      <PreviewNote
        rows={rows}
        isAll={beginning.isAll && rows.length < previewRows}
        width={table?.preview.width ?? 0}
      />
    </div>
  );
}

function Problem({ text }: { text: string }) {
  return (
    <p className="text-bad" role="status">
      {text}
    </p>
  );
}

/** Why the file cannot be imported as the form says; null if it can. */
function problemOf(file: File, { beginning, table }: ImportForm, scope: string): string | null {
  return (
    beginning.problem ??
    (file.size === 0 ? 'The file is empty.' : null) ??
    (table === null ? null : mappingProblem(table.mapping)) ??
    (scope === '' || scopeNameProblem(scope) === null ? null : 'That is not a valid name for a scope.')
  );
}

function Form({ file, form, onOther }: { file: File; form: ImportForm; onOther: () => void }) {
  const { endpoint, space } = useSession();
  const client = useQueryClient();
  const rights = useRights();
  const [scope, setScope] = useState(space.scope.kind === 'named' ? space.scope.name : '');
  const check = useTransfers((state) => state.check);
  const { format, table } = form;
  const isChecking = check !== null && isRunning(check);
  const problem = problemOf(file, form, scope);
  const cannot = problem !== null || isChecking;
  const shape = useShape(form, rights.rulesAreRefused);

  function onBegin(isDryRun: boolean): void {
    const { mapping = null, preview } = table ?? {};
    const width = preview?.width ?? 0;
    const target = { endpoint, scope: scope === '' ? null : scope };
    const { declaration, readsShapes } = shape;
    startImport(client, { file, format, mapping, width, ...target, declaration, readsShapes, isDryRun });
  }

  return (
    <>
      <FileLine file={file} onOther={onOther} />
      <div className={`flex-wrap align-start flex ${styles.fields}`}>
        <Select
          label="Format"
          className={styles.narrow}
          allowDeselect={false}
          data={formatChoices}
          value={format}
          onChange={(value) => {
            if (isFormat(value)) form.setFormat(value);
          }}
        />
        <ScopeField
          scope={scope}
          format={format}
          onScope={(next) => {
            dropCheck();
            setScope(next);
          }}
        />
        <p className={`${styles.small} ${styles.formatHint}`}>{importFormats[format].hint}</p>
      </div>
      {table !== null && (
        <MappingFields
          mapping={table.mapping}
          onMapping={form.setMapping}
          header={table.preview.header}
          width={table.preview.width}
        />
      )}
      {shape.field}
      <Preview form={form} />
      {rights.rulesAreRefused && (format === 'ndjson' || format === 'statements') && (
        <p className={styles.small}>The key in use is restricted to tenants: rules in the file will fail.</p>
      )}
      {problem !== null && <Problem text={problem} />}
      {check !== null &&
        (isRunning(check) ? <ImportProgressView entry={check} /> : <ImportResult entry={check} />)}
      <div className={`${styles.actions} ${styles.stay}`}>
        <Button variant="default" disabled={cannot || rights.cannotCheck} onClick={() => onBegin(true)}>
          Check
        </Button>
        <Button disabled={cannot || rights.cannotImport !== null} onClick={() => onBegin(false)}>
          Import
        </Button>
      </div>
    </>
  );
}

function ChosenFile({ file, onOther }: { file: File; onOther: () => void }) {
  const { form, failure } = useImportForm(file);
  if (failure !== null)
    return (
      <>
        <FileLine file={file} onOther={onOther} />
        <Problem text={`The browser cannot read the file: ${failure}`} />
      </>
    );
  if (form === null) return <Loader size={16} aria-label="Reading the file" />;
  return <Form file={file} form={form} onOther={onOther} />;
}

/** Shows the newest import until it is dismissed. */
function Shown({ onOther, onClose }: { onOther: () => void; onClose: () => void }) {
  const entry = useTransfers((state) => state.imports[0]);
  if (entry === undefined) return null;
  if (isRunning(entry))
    return (
      <>
        <FileName name={entry.plan.file.name} />
        <ImportProgressView entry={entry} />
        <div className={styles.actions}>
          <span className={`${styles.small} ${styles.grow}`}>It continues when you close this.</span>
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
        </div>
      </>
    );
  return (
    <>
      <ImportResult entry={entry} />
      <div className={styles.actions}>
        <UndoButton entry={entry} />
        <span className={styles.grow} />
        <Button variant="default" onClick={onOther}>
          Import another file
        </Button>
        <Button onClick={onClose} data-autofocus>
          Done
        </Button>
      </div>
    </>
  );
}

function FileName({ name }: { name: string }) {
  return <p className={`truncate ${styles.fileName}`}>{name}</p>;
}

/**
 * Imports a file: choose, preview, map, check, import, undo.
 *
 * A running import continues when the dialog closes; `import-notice.tsx` then shows it.
 */
export function ImportDialog({ onClose }: { onClose: () => void }) {
  const { space } = useSession();
  const rights = useRights();
  const [file, setFile] = useState<File | null>(null);
  const imports = useTransfers((state) => state.imports);
  const dropped = useTransfers((state) => state.dropped);
  const newest = imports[0];
  // An import that was not dismissed is shown on reopening, until another file is requested.
  const [seen, setSeen] = useState(useTransfers.getState().dismissed ?? 0);
  const isShown = newest !== undefined && newest.number > seen;
  const runs = newest !== undefined && isRunning(newest);

  useEffect(() => {
    if (dropped === null || runs) return;
    setSeen(newest?.number ?? 0);
    dropCheck();
    setFile(takeDropped());
  }, [dropped, runs, newest?.number]);
  useEffect(() => dropCheck, []);

  function onOther(): void {
    setSeen(newest?.number ?? 0);
    dropCheck();
    setFile(null);
  }

  function close(): void {
    if (newest !== undefined && !runs) dismiss(newest.number);
    onClose();
  }

  return (
    <Modal
      opened
      onClose={close}
      title={`Import into ${space.database} / ${space.tenant}`}
      size={file === null && !isShown ? 'md' : 'xl'}
    >
      <div className={`flex-column gap-12 ${styles.body}`}>
        {rights.cannotImport !== null && <Banner>{rights.cannotImport}</Banner>}
        {isShown ? (
          <Shown onOther={onOther} onClose={close} />
        ) : file === null ? (
          <ChooseFile onFile={setFile} />
        ) : (
          <ChosenFile file={file} onOther={onOther} />
        )}
        <RecentImports entries={isShown ? imports.slice(1) : imports} />
      </div>
    </Modal>
  );
}
