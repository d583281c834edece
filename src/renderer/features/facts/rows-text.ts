/** Rows of the grid as text, for the clipboard and for files. Pure. */
import { writtenField } from '../../api/delimited.ts';
import { renderFact } from './render-fact.ts';
import type { FactContent } from './staged-edits.ts';

interface RowsFormatSpec {
  readonly label: string;
  /** The end of a file's name. */
  readonly extension: string;
  readonly type: string;
}

export const rowsFormats = {
  tsv: { label: 'TSV', extension: 'tsv', type: 'text/tab-separated-values' },
  json: { label: 'JSON', extension: 'json', type: 'application/json' },
  ndjson: { label: 'NDJSON', extension: 'ndjson', type: 'application/x-ndjson' },
  statements: { label: 'statements', extension: 'dl', type: 'text/x-datalog' },
} as const satisfies Record<string, RowsFormatSpec>;

export type RowsFormat = keyof typeof rowsFormats;

/** A fact as the service takes it; what is as it always is, is left out. */
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
 * The facts in a format, a line each but in JSON. A line of TSV is the predicate and the arguments, as files that are
 * imported have it; the predicate of a fact that is explicitly false has a minus before it, which no name begins with.
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
