/** Import, undo of an import, and export. */
import { idParams, type OperationSpec } from '../operation-spec.ts';
import {
  exportQuerySchema,
  importLineSchema,
  importQuerySchema,
  importTypes,
  importUndoneSchema,
} from '../transfer.ts';
import { z } from 'zod';

const read = { tag: 'transfer', tenant: true, database: true, role: 'reader', kind: 'read' } as const;
const write = { tag: 'transfer', tenant: true, database: true, role: 'writer', kind: 'write' } as const;

export const transferOperations = {
  importKnowledge: {
    ...write,
    method: 'POST',
    path: '/import',
    summary: 'Import facts and rules from a stream; bad lines are reported and skipped',
    description:
      'The media type names the format: JSON lines of facts and rules; CSV or TSV (the predicate, then ' +
      'its arguments; with `predicate`, arguments only); statements; Turtle or N-Triples. The answer is ' +
      'a stream of progress lines that ends with `done`, or with `error` and a problem if the import ' +
      'failed. What a progress line counts is durable. Bad lines are counted and skipped. A declaration applies to the lines ' +
      'after it; `reject` constraints are judged after the last line.',
    takes: importTypes,
    dryRun: 'query',
    query: importQuerySchema,
    output: importLineSchema,
    stream: 'lines',
    problems: ['StorageUnavailable'],
    example: {
      query: { scope: 'plan', dryRun: 'false' },
      body: {
        'application/x-ndjson':
          '{"predicate": "parent", "args": ["alice", "bob"]}\n{"rule": "ancestor(?x, ?y) :- parent(?x, ?y)."}\n',
        'text/csv': 'parent,alice,bob\nparent,bob,carol\n',
        'text/tab-separated-values': 'parent\talice\tbob\nparent\tbob\tcarol\n',
        'text/x-datalog': 'parent(alice, bob).\nancestor(?x, ?y) :- parent(?x, ?y).\n',
        'text/turtle':
          '@prefix family: <http://example.org/family#> .\nfamily:alice family:parent family:bob .\n',
        'application/n-triples':
          '<http://example.org/family#alice> <http://example.org/family#parent> <http://example.org/family#bob> .\n',
      },
      answer: [
        { processed: 2, asserted: 1, failed: 0 },
        {
          done: true,
          id: 'cfff6f3d-2424-4b86-b183-793f2c57d1f6',
          asserted: 1,
          updated: 0,
          unchanged: 0,
          rules: 1,
          failed: 0,
          errors: [],
          generation: 21,
        },
      ],
    },
  },
  undoImport: {
    ...write,
    isJudged: true,
    method: 'POST',
    path: '/import/:id/undo',
    summary: 'Retract what an import asserted, except facts that have changed since',
    description: 'Facts that have changed since remain and are listed in `kept`. Rules remain.',
    params: idParams,
    output: importUndoneSchema,
    problems: ['NotFound', 'StorageUnavailable'],
    example: {
      params: { id: 'cfff6f3d-2424-4b86-b183-793f2c57d1f6' },
      answer: { retracted: 2, kept: [], generation: 23 },
    },
  },
  exportKnowledge: {
    ...read,
    method: 'GET',
    path: '/export',
    summary: 'Export facts and rules as a stream',
    description:
      'NDJSON imports back to the same knowledge; datalog has facts and rules as statements; CSV and ' +
      'N-Triples have the predicate and arguments of true facts. The trailer `X-Omitted` counts what the ' +
      'format cannot express. In CSV, `escape=spreadsheet` puts an apostrophe before a value that begins with ' +
      '`=`, `+`, `-`, `@`, a tab or a carriage return and is no number, so that no spreadsheet runs it as a formula; ' +
      'an import keeps these apostrophes. If an export fails midway, the connection is closed.',
    query: exportQuerySchema,
    output: z.string(),
    stream: 'file',
    gives: ['application/x-ndjson', 'text/x-datalog', 'text/csv', 'application/n-triples'],
    problems: ['HistoryGone'],
    example: {
      query: { format: 'ndjson', predicate: 'parent' },
      answer: {
        'application/x-ndjson':
          '{"predicate":"parent","args":["alice","bob"],"metadata":{"source":"the register"}}\n{"predicate":"parent","args":["bob","carol"]}\n',
        'text/x-datalog': 'parent(alice, bob).\nparent(bob, carol).\n',
        'text/csv': 'parent,alice,bob\r\nparent,bob,carol\r\n',
        'application/n-triples':
          '<urn:corollary:alice> <urn:corollary:parent> "bob" .\n<urn:corollary:bob> <urn:corollary:parent> "carol" .\n',
      },
    },
  },
} as const satisfies Record<string, OperationSpec>;
