/** What the form of an import says: the file's beginning, its format, its columns. All but the file can be changed. */
import { useEffect, useMemo, useState } from 'react';
import { type DelimitedRecord, type Separator, separatorOf } from '../../api/delimited.ts';
import { formatOf, type ImportFormat, isTabular } from './formats.ts';
import { type Mapping, predicateOfFileName, proposedMapping } from './mapping.ts';
import {
  type Beginning,
  type PreviewRow,
  plainPreview,
  readBeginning,
  recordsOfBeginning,
  type TablePreview,
  tablePreview,
  widthOf,
} from './preview.ts';
import { dropCheck } from './transfer-store.ts';

/** How a file is to be read. */
export interface FormChoices {
  readonly format: ImportFormat;
  /** Kept while another format is looked at; null before a table was. */
  readonly mapping: Mapping | null;
}

interface Opened {
  readonly file: File;
  readonly beginning: Beginning;
  readonly choices: FormChoices;
}

export interface ImportForm {
  readonly beginning: Beginning;
  readonly format: ImportFormat;
  /** null: the format is no table. */
  readonly table: { readonly mapping: Mapping; readonly preview: TablePreview } | null;
  readonly rows: readonly PreviewRow[];
  readonly setFormat: (format: ImportFormat) => void;
  readonly setMapping: (mapping: Mapping) => void;
}

function usualSeparator(format: 'csv' | 'tsv'): ',' | '\t' {
  return format === 'csv' ? ',' : '\t';
}

/** The first records decide: further down there is little to learn, and much to read at every keystroke. */
const mostRecords = 101;

function headOf(beginning: Beginning, separator: Separator): DelimitedRecord[] {
  return recordsOfBeginning(beginning, separator).slice(0, mostRecords);
}

function proposed(file: File, beginning: Beginning, format: ImportFormat): Mapping | null {
  if (!isTabular(format)) return null;
  const separator = separatorOf(beginning.text, usualSeparator(format));
  const records = headOf(beginning, separator);
  return proposedMapping(records, separator, widthOf(records), predicateOfFileName(file.name));
}

/** null: still reading. `failure`: the browser cannot read it. */
export function useImportForm(file: File): { form: ImportForm | null; failure: string | null } {
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

/** Another separator makes other columns: all of them are taken. */
function widened(beginning: Beginning, before: Mapping | null, next: Mapping): Mapping {
  if (before?.separator === next.separator) return next;
  const width = widthOf(headOf(beginning, next.separator));
  const name = next.predicate.kind === 'name' ? next.predicate.name : '';
  return { ...proposedMapping([], next.separator, width, name), hasHeader: next.hasHeader };
}
