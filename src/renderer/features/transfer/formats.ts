/** Import formats, their detection by name or content, and what exports contain; what may be transferred. */
import type { WhoAmI } from '../../../engine/contract/authentication.ts';
import type { ExportFormat, ImportType } from '../../../engine/contract/transfer.ts';
import { reasonInPast } from '../../api/moment.ts';
import { useWhoAmI } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';

/** An import format. */
export type ImportFormat = 'ndjson' | 'csv' | 'tsv' | 'statements' | 'turtle' | 'ntriples';

interface ImportFormatSpec {
  readonly label: string;
  readonly type: ImportType;
  readonly extensions: readonly string[];
  /** What a fact is in this format. */
  readonly hint: string;
}

/** The import formats. */
export const importFormats: Readonly<Record<ImportFormat, ImportFormatSpec>> = {
  csv: {
    label: 'CSV',
    type: 'text/csv',
    extensions: ['csv'],
    hint: 'Each row becomes a fact; you choose which columns are its arguments.',
  },
  tsv: {
    label: 'TSV',
    type: 'text/tab-separated-values',
    extensions: ['tsv', 'tab'],
    hint: 'Each row becomes a fact; you choose which columns are its arguments.',
  },
  ndjson: {
    label: 'NDJSON',
    type: 'application/x-ndjson',
    extensions: ['ndjson', 'jsonl'],
    hint: 'Each line is a fact, or a rule, declaration, constraint or alias under the name "rule", "declare", "constraint" or "alias".',
  },
  statements: {
    label: 'Statements',
    type: 'text/x-datalog',
    extensions: ['dl', 'pl', 'datalog', 'txt'],
    hint: 'Facts, rules and constraints as in the editor, each ending with a full stop.',
  },
  turtle: {
    label: 'Turtle',
    type: 'text/turtle',
    extensions: ['ttl', 'turtle'],
    hint: 'Each triple becomes a fact of two arguments; the IRI of its predicate is the predicate.',
  },
  ntriples: {
    label: 'N-Triples',
    type: 'application/n-triples',
    extensions: ['nt'],
    hint: 'Each triple becomes a fact of two arguments; the IRI of its predicate is the predicate.',
  },
};

const formatNames = Object.keys(importFormats) as ImportFormat[];

/** The `accept` attribute of the file chooser. */
export const acceptedFiles = formatNames
  .flatMap((name) => importFormats[name].extensions.map((extension) => `.${extension}`))
  .join(',');

/** Returns true for tables. */
export function isTabular(format: ImportFormat): format is 'csv' | 'tsv' {
  return format === 'csv' || format === 'tsv';
}

function formatOfName(name: string): ImportFormat | null {
  const extension = /\.([^./\\]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return formatNames.find((format) => importFormats[format].extensions.includes(extension)) ?? null;
}

/** The format that the text looks like; by default statements, whose errors are most helpful. */
function formatOfText(text: string): ImportFormat {
  const line =
    text
      .split('\n')
      .map((candidate) => candidate.trim())
      .find((candidate) => candidate !== '' && !candidate.startsWith('#') && !candidate.startsWith('%')) ??
    '';
  if (line.startsWith('{')) return 'ndjson';
  if (/^(?:@prefix|@base|prefix|base)\s/i.test(line)) return 'turtle';
  if (/^(?:<[^>]*>|_:\S+)\s+<[^>]*>\s.*\.$/.test(line)) return 'ntriples';
  if (line.includes('\t')) return 'tsv';
  if (/^[^"(]*\(.*\)\s*(?:\.|:-)/.test(line)) return 'statements';
  return line.includes(',') || line.includes(';') ? 'csv' : 'statements';
}

/** Returns the format of a file by name, else by content. A `.txt` file may be anything, so its content decides. */
export function formatOf(name: string, beginning: string): ImportFormat {
  const named = /\.txt$/i.test(name) ? null : formatOfName(name);
  return named ?? formatOfText(beginning);
}

interface ExportFormatSpec {
  readonly label: string;
  readonly extension: string;
  readonly type: string;
  readonly holdsRules: boolean;
  /** What the format omits. The browser does not learn how much that is. */
  readonly leavesOut: string;
}

/** The export formats. */
export const exportFormatSpecs: Readonly<Record<ExportFormat, ExportFormatSpec>> = {
  ndjson: {
    label: 'NDJSON',
    extension: 'ndjson',
    type: 'application/x-ndjson',
    holdsRules: true,
    leavesOut: 'Nothing is left out: an import of the file gives the same knowledge again.',
  },
  datalog: {
    label: 'Statements',
    extension: 'dl',
    type: 'text/x-datalog',
    holdsRules: true,
    leavesOut: 'Left out: scope, validity and metadata of facts; scope, name and description of rules.',
  },
  csv: {
    label: 'CSV',
    extension: 'csv',
    type: 'text/csv',
    holdsRules: false,
    leavesOut:
      'Left out: rules, facts that are explicitly false, and the scope, validity and metadata of the others.',
  },
  ntriples: {
    label: 'N-Triples',
    extension: 'nt',
    type: 'application/n-triples',
    holdsRules: false,
    leavesOut:
      'Left out: rules, facts that are explicitly false or do not have two arguments, and the scope, validity and metadata of the others.',
  },
};

interface TransferRights {
  /** Why nothing can be imported; null if it can. */
  readonly cannotImport: string | null;
  /** True if a file cannot be checked either. */
  readonly cannotCheck: boolean;
  /** True if the service will refuse every rule of a file. */
  readonly rulesAreRefused: boolean;
}

/** Returns what a caller may import. */
export function rightsOf(who: WhoAmI): TransferRights {
  const mayWrite = who.role === 'writer' || who.role === 'admin';
  return {
    cannotImport: mayWrite
      ? null
      : `The key in use has the role ${who.role}: it may preview and check a file; importing needs the role writer or admin.`,
    cannotCheck: false,
    rulesAreRefused: mayWrite && who.tenants.length > 0,
  };
}

const unknown: TransferRights = { cannotImport: null, cannotCheck: false, rulesAreRefused: false };

/** Returns what the current user may import; everything while unknown, since the service decides. */
export function useRights(): TransferRights {
  const { data } = useWhoAmI();
  const { moment } = useSession();
  const inPast = reasonInPast(moment, 'importKnowledge');
  const rights = data === undefined ? unknown : rightsOf(data);
  return inPast === null ? rights : { ...rights, cannotImport: inPast, cannotCheck: true };
}
