/** Rows of the grid as text, for the clipboard and for files; `pasted-rows.ts` reads it. Pure. */
import { writtenField } from '../../api/delimited-writing.ts';
import { renderFact } from './render-fact.ts';
import type { FactContent } from './staged-edits.ts';

interface RowsFormatSpec {
  readonly label: string;
  /** File extension. */
  readonly extension: string;
  readonly type: string;
}

/** The formats of rows, with their labels and file types. */
export const rowsFormats = {
  tsv: { label: 'TSV', extension: 'tsv', type: 'text/tab-separated-values' },
  json: { label: 'JSON', extension: 'json', type: 'application/json' },
  ndjson: { label: 'NDJSON', extension: 'ndjson', type: 'application/x-ndjson' },
  statements: { label: 'statements', extension: 'dl', type: 'text/x-datalog' },
} as const satisfies Record<string, RowsFormatSpec>;

/** A format of rows. */
export type RowsFormat = keyof typeof rowsFormats;

/** A fact as the service's input, without default values. */
function factObject(fact: FactContent): Record<string, unknown> {
  const { predicate, args, truthVal, scope, validFrom, validUntil, metadata } = fact;
  return {
    predicate,
    args,
    ...(truthVal ? {} : { truthVal }),
    ...(scope === null ? {} : { scope }),
    ...(validFrom === null ? {} : { validFrom }),
    ...(validUntil === null ? {} : { validUntil }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
}

/**
 * The facts in a format: JSON as one array, all others a line per fact. A TSV line is the predicate and the
 * arguments, as the import reads it; a leading minus, which no name can have, marks a fact as explicitly
 * false.
 */
export function textOfRows(facts: readonly FactContent[], format: RowsFormat): string {
  if (format === 'json') return JSON.stringify(facts.map(factObject), null, 2);
  return facts.map((fact) => `${lineOf(fact, format)}\n`).join('');
}

function lineOf(fact: FactContent, format: 'tsv' | 'ndjson' | 'statements'): string {
  if (format === 'statements') return `${renderFact(fact)}.`;
  if (format === 'ndjson') return JSON.stringify(factObject(fact));
  const name = `${fact.truthVal ? '' : '-'}${fact.predicate}`;
  return [name, ...fact.args].map((field) => writtenField(field, '\t')).join('\t');
}
