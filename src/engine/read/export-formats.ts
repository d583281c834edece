/**
 * The formats of an export, item by item.
 *
 * NDJSON contains everything, Datalog declarations, facts, rules, constraints and tests, CSV and N-Triples predicate and
 * arguments of true facts. N-Triples allows only IRIs, so any other name becomes `urn:corollary:` and the text, percent-encoded.
 */
import type { Declaration } from '../contract/declarations.ts';
import type { ExportFormat } from '../contract/transfer.ts';
import { renderDeclaration } from '../language/declaration-text.ts';
import { renderAtom } from '../language/print.ts';
import type {
  ExportedAlias,
  ExportedConstraint,
  ExportedFact,
  ExportedRule,
  ExportedTest,
} from './export-knowledge.ts';

/** A format by name; `spreadsheet`: CSV with what a spreadsheet would run as a formula made text. */
export type TextFormatName = ExportFormat | 'spreadsheet';

/** Writes one fact, alias, rule, constraint or test with its line break; null: the format cannot represent it. */
export interface TextFormat {
  /** The media type, and the extension of a file's name. */
  readonly type: string;
  readonly extension: string;
  fact(fact: ExportedFact): string | null;
  /** Absent: it cannot represent aliases. */
  alias?(alias: ExportedAlias): string;
  rule(rule: ExportedRule): string | null;
  constraint(constraint: ExportedConstraint): string | null;
  /** Absent: it cannot represent tests. */
  test?(test: ExportedTest): string;
  /** Absent: it cannot represent declarations, which is not counted: it keeps no shape. */
  declaration?(declaration: Declaration): string;
}

/** The format of this name. */
export function textFormat(name: TextFormatName): TextFormat {
  return formats[name];
}

const formats: Readonly<Record<TextFormatName, TextFormat>> = {
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
    test: ({ text, scope }) => `${JSON.stringify({ test: text, ...(scope === null ? {} : { scope }) })}\n`,
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
    test: ({ text }) => `${text}\n`,
    declaration: (declared) => `${renderDeclaration(declared)}\n`,
  },
  csv: csvWith(csvField),
  spreadsheet: csvWith((text) => csvField(isFormula(text) ? `'${text}` : text)),
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

function csvWith(field: (text: string) => string): TextFormat {
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
