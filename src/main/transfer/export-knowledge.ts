/**
 * Exports knowledge as text in one of the formats, generated while it is sent.
 *
 * NDJSON contains everything, Datalog declarations, facts, rules and constraints, CSV and N-Triples predicate and arguments of
 * true facts; what a
 * format cannot represent is counted. N-Triples allows only IRIs, so any other name becomes `urn:corollary:` and the
 * text, percent-encoded.
 */
import type { Declaration } from '../../engine/contract/declarations.ts';
import type { ExportFormat, ExportQuery } from '../../engine/contract/transfer.ts';
import {
  type Caller,
  type Engine,
  type ExportedAlias,
  type ExportedConstraint,
  type ExportedFact,
  type ExportedRule,
  renderAtom,
  renderDeclaration,
} from '../../engine/index.ts';
import type { Download } from '../base/streams.ts';

/** Writes one fact, alias, rule or constraint with its line break; null: the format cannot represent it. */
interface Format {
  readonly type: string;
  readonly extension: string;
  fact(fact: ExportedFact): string | null;
  /** Absent: it cannot represent aliases. */
  alias?(alias: ExportedAlias): string;
  rule(rule: ExportedRule): string | null;
  constraint(constraint: ExportedConstraint): string | null;
  /** null: the format cannot represent it, which is not counted: it keeps no shape. */
  declaration?(declaration: Declaration): string;
}

/** Characters of text sent together. */
const charactersInPart = 64 * 1024;

/** Creates the download of an export. */
export function exportDownload(engine: Engine, caller: Caller, query: ExportQuery): Download {
  const format = query.escape === 'spreadsheet' ? spreadsheetCsv : formats[query.format];
  const holdsRules = query.format === 'ndjson' || query.format === 'datalog';
  const { scope, unscoped, predicate } = query;
  const ended = query.ended === true;
  const choice = { scope, unscoped, predicate, ended, rules: query.rules ?? holdsRules };
  return {
    type: format.type,
    fileName: `corollary.${format.extension}`,
    bytes: null,
    async run(send) {
      let omitted = 0;
      let part = '';
      const write = async <Item>(items: readonly Item[], textOf: (item: Item) => string | null) => {
        for (const item of items) {
          const text = textOf(item);
          if (text === null) omitted++;
          else part += text;
          if (part.length < charactersInPart) continue;
          await send(part);
          part = '';
        }
      };
      const { declaration } = format;
      await engine.export(caller, choice, {
        declarations: async (declarations) => {
          if (declaration !== undefined) await write(declarations, declaration);
        },
        facts: (facts) => write(facts, format.fact),
        aliases: (aliases) => write(aliases, (alias) => format.alias?.(alias) ?? null),
        rules: (rules) => write(rules, format.rule),
        constraints: (constraints) => write(constraints, format.constraint),
      });
      if (part !== '') await send(part);
      return { omitted };
    },
  };
}

/** CSV with what a spreadsheet would run as a formula made text. */
const spreadsheetCsv = csvWith((text) => csvField(isFormula(text) ? `'${text}` : text));

const formats: Readonly<Record<ExportFormat, Format>> = {
  ndjson: {
    type: 'application/x-ndjson; charset=utf-8',
    extension: 'ndjson',
    fact: ({ predicate, args, truthVal, scope, validFrom, validUntil, metadata }) => {
      const given = {
        predicate,
        args,
        ...(truthVal ? {} : { truthVal }),
        ...(scope === null ? {} : { scope }),
        ...(validFrom === null ? {} : { validFrom }),
        ...(validUntil === null ? {} : { validUntil }),
        ...(metadata === null ? {} : { metadata }),
      };
      return `${JSON.stringify(given)}\n`;
    },
    alias: ({ alias, entity }) => `${JSON.stringify({ alias, entity })}\n`,
    declaration: (declare) => `${JSON.stringify({ declare })}\n`,
    rule: ({ text, scope, name, description, enabled }) => {
      const given = {
        rule: text,
        ...(scope === null ? {} : { scope }),
        ...(name === null ? {} : { name }),
        ...(description === null ? {} : { description }),
        ...(enabled ? {} : { enabled }),
      };
      return `${JSON.stringify(given)}\n`;
    },
    constraint: ({ text, name, description, mode, scope }) => {
      const given = {
        constraint: text,
        name,
        ...(description === null ? {} : { description }),
        mode,
        ...(scope === null ? {} : { scope }),
      };
      return `${JSON.stringify(given)}\n`;
    },
  },
  datalog: {
    type: 'text/x-datalog; charset=utf-8',
    extension: 'dl',
    fact: ({ predicate, args, truthVal }) =>
      `${renderAtom({ predicate, args: [...args], negated: !truthVal })}.\n`,
    rule: ({ text }) => `${text}.\n`,
    constraint: ({ text, description }) =>
      `${text}${isReason(description) ? ` ${JSON.stringify(description)}` : ''}.\n`,
    declaration: (declared) => `${renderDeclaration(declared)}\n`,
  },
  csv: csvWith(csvField),
  ntriples: {
    type: 'application/n-triples',
    extension: 'nt',
    fact: ({ predicate, args, truthVal }) => {
      const [subject, object] = args;
      if (!truthVal || args.length !== 2 || subject === undefined || object === undefined) return null;
      return `${nodeOf(subject) ?? mintedIri(subject)} ${iriOf(predicate) ?? mintedIri(predicate)} ${nodeOf(object) ?? literalOf(object)} .\n`;
    },
    rule: () => null,
    constraint: () => null,
  },
};

function csvWith(field: (text: string) => string): Format {
  return {
    type: 'text/csv; charset=utf-8; header=absent',
    extension: 'csv',
    fact: ({ predicate, args, truthVal }) =>
      truthVal ? `${[predicate, ...args].map(field).join(',')}\r\n` : null,
    rule: () => null,
    constraint: () => null,
  };
}

/** True if the description can be written as the text in quotation marks after a body. */
function isReason(description: string | null): description is string {
  return description !== null && !description.startsWith('?');
}

/** Whether a spreadsheet takes the text for a formula: by its first character, except for numbers such as -5. */
function isFormula(text: string): boolean {
  return /^[=+\-@\t\r]/.test(text) && !/^-\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text);
}

function csvField(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** An absolute IRI, made of legal characters. */
// eslint-disable-next-line no-control-regex
const absoluteIri = /^[A-Za-z][A-Za-z0-9+.-]*:[^\u0000-\u0020<>"{}|^`\\]*$/;
const blankLabel = /^_:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?$/;

/** The text if it is an IRI, else null. */
function iriOf(text: string): string | null {
  return absoluteIri.test(text) ? `<${text}>` : null;
}

/** The text as an IRI or blank node, else null. */
function nodeOf(text: string): string | null {
  return blankLabel.test(text) ? text : iriOf(text);
}

function mintedIri(text: string): string {
  return `<urn:corollary:${encodeURIComponent(text)}>`;
}

const escapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

function literalOf(text: string): string {
  // eslint-disable-next-line no-control-regex
  const escaped = text.replace(/["\\\u0000-\u001f\u007f]/g, (character) => {
    const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return escapes[character] ?? `\\u${code}`;
  });
  return `"${escaped}"`;
}

/** A backup as a download. Its name is the position of its last record, so the backups of one service sort by age. */
export async function backupDownload(engine: Engine): Promise<Download> {
  const backup = await engine.backup();
  return {
    type: 'application/octet-stream',
    fileName: `corollary-${String(backup.position).padStart(10, '0')}.backup`,
    bytes: backup.bytes,
    run: async (send) => {
      let isWhole = false;
      try {
        for await (const piece of backup.pieces()) await send(piece);
        isWhole = true;
      } finally {
        await backup.close(isWhole);
      }
      return { omitted: null };
    },
  };
}
