import { expect, it } from 'vitest';
import { parseArguments, UsageError } from './arguments.ts';

it('serves if no command is given', () => {
  expect(parseArguments([]).name).toBe('serve');
});

it('parses a command with its words and options, in any order', () => {
  expect(parseArguments(['--tenant', 't', 'ask', 'p(?x)', '--proof', '--scope=s'])).toEqual({
    name: 'ask',
    words: ['p(?x)'],
    url: null,
    database: null,
    tenant: 't',
    scope: 's',
    json: false,
    proof: true,
    plan: false,
    format: null,
    predicate: null,
    dryRun: false,
    exitCode: false,
    entity: null,
    actor: null,
    as: null,
    at: null,
    limit: null,
    rules: false,
    escape: null,
    mode: null,
    confirm: null,
    infer: false,
    output: null,
    from: null,
    to: null,
    watch: false,
    coverage: false,
    junit: null,
    check: false,
  });
});

it('accepts the options of import and export, and rejects them elsewhere', () => {
  expect(parseArguments(['import', 'a.csv', '--predicate', 'p', '--dry-run', '--format=tsv'])).toMatchObject({
    name: 'import',
    words: ['a.csv'],
    predicate: 'p',
    dryRun: true,
    format: 'tsv',
  });
  expect(parseArguments(['import', '-', '--format', 'csv']).words).toEqual(['-']);
  expect(parseArguments(['export', '-o', 'x.dl'])).toMatchObject({ output: 'x.dl', dryRun: false });
  expect(() => parseArguments(['tell', 'p(a)', '--dry-run'])).toThrow('--dry-run is for import');
  expect(() => parseArguments(['import', 'a.csv', '--output', 'b'])).toThrow('--output is for export');
});

it('accepts the options of history, and rejects them elsewhere', () => {
  expect(parseArguments(['history', 'revert', '3', '5', '--rules', '--dry-run'])).toMatchObject({
    name: 'history',
    words: ['revert', '3', '5'],
    rules: true,
    dryRun: true,
  });
  expect(
    parseArguments(['history', 'log', '--entity', 'ann', '--actor=local', '--limit', '5']),
  ).toMatchObject({
    words: ['log'],
    entity: 'ann',
    actor: 'local',
    limit: '5',
  });
  for (const option of ['--entity=x', '--actor=x', '--limit=5', '--rules'])
    expect(() => parseArguments(['ask', 'p(?x)', option])).toThrow('is for history');
});

it('accepts a text that starts with a minus', () => {
  expect(parseArguments(['ask', '-flies(?x)', '--json']).words).toEqual(['-flies(?x)']);
  expect(parseArguments(['tell', '--', '-rain']).words).toEqual(['-rain']);
});

it('gives help and version precedence over everything', () => {
  expect(parseArguments(['ask', '--help']).name).toBe('help');
  expect(parseArguments(['ask', 'p(?x)', '--help']).words).toEqual(['ask']);
  expect(parseArguments(['help', 'ask'])).toMatchObject({ name: 'help', words: ['ask'] });
  expect(parseArguments(['--help']).words).toEqual([]);
  expect(parseArguments(['-v']).name).toBe('version');
  expect(parseArguments(['--reset-admin', '--help']).name).toBe('help');
});

it('accepts --reset-admin only on its own', () => {
  expect(parseArguments(['--reset-admin']).name).toBe('reset-admin');
  expect(() => parseArguments(['serve', '--reset-admin'])).toThrow('cannot be combined');
  expect(() => parseArguments(['reset-admin'])).toThrow('no command');
});

it.each([[['frobnicate']], [['ask', '--nope']], [['ask', '-x']], [['serve', 'x']], [['ask', '--url']]])(
  'rejects %j with an explanation',
  (argv) => {
    expect(() => parseArguments(argv)).toThrow(UsageError);
  },
);
