import { describe, expect, test } from 'vitest';
import { openedExtensions } from '../../../desktop-contract/files.ts';
import type { ImportDone } from '../../../engine/contract/transfer.ts';
import type { StoredFact } from '../../../engine/contract/facts.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { keepingSink } from '../../api/save-answer.ts';
import { formatOf, importFormats, rightsOf } from './formats.ts';
import { importUrl, importOutcomeOf, type ImportState, importsAmong, AnswerLines } from './import-run.ts';
import { failuresText, outcomeParts, outcomeTitle, partialImportWords } from './import-result.tsx';
import {
  beginningOf,
  plainPreview,
  previewRows,
  recordsOfBeginning,
  tablePreview,
} from './preview-table.tsx';
import { isAllSent, progressOf, writtenLeft } from './import-progress.tsx';
import { exportFileName, type ExportPlan, exportUrl } from './export-dialog.tsx';

const encode = (text: string) => new TextEncoder().encode(text);
const endpoint = { origin: 'http://service', database: 'default', tenant: 'default', key: null };

describe('the format of a file', () => {
  test('follows from its name', () => {
    const names = ['a.CSV', 'a.tsv', 'a.ndjson', 'a.jsonl', 'a.dl', 'a.pl', 'a.ttl', 'a.nt'];
    expect(names.map((name) => formatOf(name, ''))).toEqual([
      'csv',
      'tsv',
      'ndjson',
      'ndjson',
      'statements',
      'statements',
      'turtle',
      'ntriples',
    ]);
  });

  test('is known for every file that the desktop application opens', () => {
    for (const extension of openedExtensions) {
      const owners = Object.values(importFormats).filter(({ extensions }) => extensions.includes(extension));
      expect(owners, extension).toHaveLength(1);
    }
  });

  test('follows from its beginning if the name does not tell', () => {
    const texts = [
      '\n{"predicate":"p","args":[]}',
      '# a comment\n@prefix ex: <http://ex/> .',
      '<http://a> <http://b> "c" .',
      'a\tb',
      'p(a, b).\n',
      'h(?x) :- b(?x).',
      'name,year\n',
      'a;b',
      'hello',
    ];
    expect(texts.map((text) => formatOf('a.txt', text))).toEqual([
      'ndjson',
      'turtle',
      'ntriples',
      'tsv',
      'statements',
      'statements',
      'csv',
      'csv',
      'statements',
    ]);
    expect(formatOf('README', 'p(a).')).toBe('statements');
  });
});

describe('the preview', () => {
  test('has whole lines, and reports no row that the slice truncates', () => {
    const beginning = beginningOf(encode('a,b\n1,"x\ny"\n2,"open\nand'), false);
    expect(beginning.problem).toBeNull();
    expect(recordsOfBeginning(beginning, ',').map(({ fields }) => fields)).toEqual([
      ['a', 'b'],
      ['1', 'x\ny'],
    ]);
    expect(beginningOf(encode('ä').slice(0, 1), false).text).toBe('');
  });

  test('reports a file of another encoding as unusable', () => {
    expect(beginningOf(new Uint8Array([0xff, 0xfe, 0x61, 0]), true).problem).toMatch(/UTF-8/);
    expect(beginningOf(new Uint8Array(50).fill(0xe4), true).problem).toMatch(/UTF-8/);
    expect(beginningOf(new Uint8Array([0x61, 0, 0x62]), true).problem).toMatch(/UTF-8/);
    // The service reports a single bad line.
    expect(beginningOf(new Uint8Array([0x61, 0xe4]), true).problem).toBeNull();
  });

  test('shows what the rows of a table become, and which fail', () => {
    const beginning = beginningOf(encode('x,y\na,b\n?v,c\nd'), true);
    const preview = tablePreview(recordsOfBeginning(beginning, ','), {
      separator: ',',
      hasHeader: true,
      predicate: { kind: 'name', name: 'p' },
      columns: [1, 0],
    });
    expect(preview.header).toEqual(['x', 'y']);
    expect(preview.rows.map(({ line, becomes, problem }) => [line, becomes ?? problem])).toEqual([
      [2, 'p(b, a)'],
      [3, 'a constant does not start with ?: ?v'],
      [4, 'the row has 1 column, the header 2'],
    ]);
  });

  test('shows facts, rules and errors of NDJSON and statements, by line', () => {
    const lines = [
      '{"predicate":"p","args":["a",1],"truthVal":false}',
      '{"rule":"q(?x) :- p(?x)"}',
      '{"predicate":"p","args":["?x"]}',
      '{"predicate":"p","arg":[]}',
      '[]',
      'no',
    ].join('\n');
    const rows = plainPreview(beginningOf(encode(lines), true), 'ndjson');
    expect(rows.slice(0, 2).map(({ becomes }) => becomes)).toEqual(['-p(a, 1)', 'q(?x) :- p(?x)']);
    expect(rows.slice(2).every(({ problem }) => problem !== null)).toBe(true);
    expect(rows).toHaveLength(6);

    const statements = plainPreview(
      beginningOf(encode('p(a).\n% note\np(a\nq(?x) :- p(?x).'), true),
      'statements',
    );
    expect(statements[0]).toEqual({ line: 1, becomes: 'p(a)', problem: null });
    expect(statements.some(({ problem }) => problem !== null)).toBe(true);
  });

  test('shows declarations, constraints and aliases as what they are', () => {
    const declared = ':declare p(a: integer, b)';
    const lines = [
      '{"declare":{"name":"p","arity":2,"arguments":[{"name":"a","type":"integer"},{"name":"b"}]}}',
      '{"constraint":"!- p(?x, ?x)","name":"n","mode":"warn"}',
      '{"alias":"al","entity":"alice"}',
      '{"declare":{"name":"p","arity":1,"key":["a"]}}',
    ].join('\n');
    expect(plainPreview(beginningOf(encode(lines), true), 'ndjson')).toMatchObject([
      { becomes: declared },
      { becomes: '!- p(?x, ?x)' },
      { becomes: '% al is an alias of alice' },
      { becomes: null, problem: 'declare.key.0: no argument has the name a' },
    ]);
    const text = `${declared}\np(1, c).\n!- p(?x, ?x).\n`;
    expect(plainPreview(beginningOf(encode(text), true), 'statements')).toEqual([
      { line: 1, becomes: declared, problem: null },
      { line: 2, becomes: 'p(1, c)', problem: null },
      { line: 3, becomes: '!- p(?x, ?x)', problem: null },
    ]);
  });

  test('shows a hundred rows at most', () => {
    const many = encode('p(a).\n'.repeat(500));
    expect(plainPreview(beginningOf(many, true), 'statements')).toHaveLength(previewRows);
    expect(plainPreview(beginningOf(many, true), 'turtle')).toHaveLength(previewRows);
  });
});

describe('the answer of an import', () => {
  test('is read line by line as it grows', () => {
    const lines = new AnswerLines();
    const first = '{"processed":1,"asserted":1,"failed":0}\n';
    expect(lines.take(first.slice(0, 10), false)).toEqual([]);
    expect(lines.take(first, false)).toEqual([{ processed: 1, asserted: 1, failed: 0 }]);
    expect(lines.take(first, false)).toEqual([]);
    expect(lines.take(`${first}{"error":{"code":"Internal","detail":"x"}}`, true)).toEqual([
      { error: { code: 'Internal', detail: 'x' } },
    ]);
  });

  const done: ImportDone = {
    done: true,
    id: 'i',
    asserted: 2,
    updated: 0,
    unchanged: 1,
    rules: 0,
    failed: 1,
    errors: [{ line: 7, message: 'bad' }],
    generation: 4,
  };

  test('includes unmappable rows among the failed ones, by line', () => {
    const outcome = importOutcomeOf(done, { rows: 5, failed: 1, failures: [{ line: 3, message: 'short' }] });
    expect(outcome.failed).toBe(2);
    expect(failuresText(outcome)).toBe('3\tshort\n7\tbad');
    expect(outcomeParts(outcome)).toEqual(['2 facts asserted', '1 fact known already', '2 rows failed']);
    expect(importOutcomeOf(done, null).failed).toBe(1);
  });

  test('that was refused does not look as if its facts were stored', () => {
    const outcome = importOutcomeOf(
      { ...done, refused: 'ConstraintViolated', violations: [], violationCount: 3, constraints: 1 },
      null,
    );
    expect(outcomeParts(outcome).slice(0, 2)).toEqual([
      'refused: it violates constraints',
      '2 facts retracted again',
    ]);
    expect(outcomeParts(outcome)).toContain('1 constraint added');
    expect(outcomeTitle({ kind: 'done', outcome }, 'a.csv')).toBe('a.csv was refused');
  });

  test('that never arrived reports what was stored, as far as known', () => {
    const known = (facts: number, isAtLeast = false) =>
      partialImportWords({ kind: 'known', stored: { id: 'i', facts, isAtLeast } });
    expect(known(1)).toBe('1 fact had been asserted by then, and stays stored until you undo it.');
    expect(known(20_000, true)).toMatch(/^More than 20,000 facts/);
    expect(known(0)).toBe('It had asserted nothing new.');
    const trace = { requestId: 'r', startedAt: 0 };
    expect(partialImportWords({ kind: 'unknown', trace, failure: apiFailureOf('x') })).toMatch(
      /could not be found out/,
    );
  });

  test('is searched for by an import of each kind among the newest facts', () => {
    const fact = (id: string | null, importId: string | null) => ({ id, importId }) as StoredFact;
    const found = importsAmong([
      fact('1', null),
      fact('2', 'a'),
      fact('3', 'b'),
      fact('4', 'a'),
      fact(null, 'c'),
    ]);
    expect([...found]).toEqual([
      ['a', '2'],
      ['b', '3'],
    ]);
  });
});

test('requests an import with its scope, its predicate and whether it is a dry run', () => {
  const plan = {
    file: new File([], 'a.csv'),
    format: 'csv' as const,
    mapping: {
      separator: ',' as const,
      hasHeader: false,
      predicate: { kind: 'name' as const, name: 'p&q' },
      columns: [0],
    },
    width: 1,
    scope: 'a b',
    endpoint,
    declaration: null,
    readsShapes: false,
    isDryRun: true,
  };
  expect(importUrl(plan)).toBe('http://service/import?scope=a+b&predicate=p%26q&dryRun=true');
  expect(importUrl({ ...plan, mapping: null, scope: null, readsShapes: true })).toBe(
    'http://service/import?shapes=true&dryRun=true',
  );
  expect(importUrl({ ...plan, mapping: null, scope: null, isDryRun: false })).toBe('http://service/import');
});

describe('progress', () => {
  const sending: ImportState = { kind: 'sending', since: 0, bytes: 250, total: 1000, progress: null };

  test('is by bytes, with the remaining time once the rate is known', () => {
    expect(progressOf(sending, 1000, 500)).toEqual({ share: 0.25, bytesPerSecond: null, leftMs: null });
    expect(progressOf(sending, 1000, 2_000)).toEqual({ share: 0.25, bytesPerSecond: 125, leftMs: 6_000 });
    expect(isAllSent(sending)).toBe(false);
  });

  test('has no remaining time when all is sent, or nothing yet', () => {
    expect(progressOf({ ...sending, bytes: 1000 }, 1000, 2_000).leftMs).toBeNull();
    expect(progressOf({ ...sending, bytes: 0 }, 1000, 2_000).leftMs).toBeNull();
    expect(progressOf({ ...sending, bytes: 0, total: 0 }, 0, 2_000).share).toBe(1);
    expect(progressOf({ kind: 'preparing', bytes: 5 }, 10, 0).share).toBe(0.5);
  });

  test('is written in seconds, minutes and hours', () => {
    expect([400, 59_000, 120_000, 5_400_000].map(writtenLeft)).toEqual([
      'about 1 s left',
      'about 59 s left',
      'about 2 min left',
      'about 1.5 h left',
    ]);
  });
});

describe('an export', () => {
  const plan: ExportPlan = {
    endpoint: { ...endpoint, database: 'shop', tenant: 'acme' },
    format: 'ndjson',
    scope: { kind: 'all' },
    predicate: null,
    rules: true,
    isForSpreadsheets: false,
  };

  test('is requested with the chosen options, without rules for a format that has none', () => {
    expect(exportUrl(plan)).toBe('http://service/export?format=ndjson&rules=true');
    expect(
      exportUrl({
        ...plan,
        format: 'csv',
        scope: { kind: 'named', name: 's' },
        predicate: 'p',
        rules: false,
      }),
    ).toBe('http://service/export?format=csv&scope=s&predicate=p');
    expect(exportUrl({ ...plan, scope: { kind: 'unscoped' }, rules: false })).toBe(
      'http://service/export?format=ndjson&unscoped=true&rules=false',
    );
    expect(exportUrl({ ...plan, format: 'csv', isForSpreadsheets: true })).toBe(
      'http://service/export?format=csv&escape=spreadsheet',
    );
    expect(exportUrl({ ...plan, isForSpreadsheets: true })).not.toContain('escape');
  });

  test('has a file name that says what it contains', () => {
    expect(exportFileName(plan)).toBe('shop-acme.ndjson');
    expect(
      exportFileName({ ...plan, format: 'datalog', scope: { kind: 'named', name: 'a/b' }, predicate: 'p' }),
    ).toBe('shop-acme-a_b-p.dl');
    expect(exportFileName({ ...plan, endpoint })).toBe('default.ndjson');
  });

  test('is buffered if it cannot be streamed to a file, and refused beyond the limit', async () => {
    let kept: Blob | null = null;
    const sink = keepingSink((file) => (kept = file), 10);
    await sink.write(encode('12345'));
    await sink.write(encode('67890'));
    await sink.close();
    expect(await (kept as Blob | null)?.text()).toBe('1234567890');
    await expect(sink.write(encode('1'))).rejects.toThrow(RangeError);
  });
});

test('warns beforehand that a reader cannot import, and that rules fail for a tenant-restricted key', () => {
  const who = {
    mode: 'rbac' as const,
    id: 'k',
    role: 'reader' as const,
    databases: [],
    tenants: [],
    prefix: null,
    description: null,
    createdAt: null,
    expiresAt: null,
  };
  expect(rightsOf(who).cannotImport).toMatch(/role reader/);
  expect(rightsOf({ ...who, role: 'writer' })).toEqual({
    cannotImport: null,
    cannotCheck: false,
    rulesAreRefused: false,
  });
  expect(rightsOf({ ...who, role: 'admin', tenants: ['t'] }).rulesAreRefused).toBe(true);
});
