/**
 * The command line: the command and its arguments parsed, and the text of `--help`. One table has the commands with their
 * options; the overview and the help of one command are loops over it.
 *
 * Statements and questions may start with `-` (explicit negation): an argument that starts with one `-` and contains a
 * parenthesis is text, never an option.
 */
import { parseArgs } from 'node:util';

export const commandNames = [
  'serve',
  'ask',
  'search',
  'tell',
  'teach',
  'import',
  'export',
  'history',
  'constraints',
  'entity',
  'forget',
  'status',
  'sample',
  'store',
  'test',
  'check',
  'format',
  'diff',
  'apply',
  'pull',
  'lsp',
] as const;
export type CommandName = (typeof commandNames)[number];
/** A command on the files of a package, which needs no service. */
export type PackageCommand = 'test' | 'check' | 'format';
/** A command on the files of a package and a service. */
export type PackageServiceCommand = 'diff' | 'apply' | 'pull';
/** A command that talks to a running service; `store` does for some of its words. */
export type ServiceCommand = Exclude<CommandName, 'serve' | 'lsp' | PackageCommand | PackageServiceCommand>;

export interface ParsedCommand {
  readonly name: CommandName | (typeof optionCommands)[number];
  /** The arguments after the command, joined by spaces if they are text; for help, the command it is about, if any. */
  readonly words: readonly string[];
  /** Address of the service; null: the endpoint file names it. */
  readonly url: string | null;
  /** null: `default`, or that of a package. */
  readonly database: string | null;
  readonly tenant: string | null;
  readonly scope: string | null;
  readonly json: boolean;
  readonly proof: boolean;
  readonly plan: boolean;
  /** For import and export: the name of the format; null: by the name of the file. */
  readonly format: string | null;
  readonly predicate: string | null;
  readonly dryRun: boolean;
  /** For diff: exit code 1 if something differs. */
  readonly exitCode: boolean;
  /** For history: filters of the log; null: any. */
  readonly entity: string | null;
  readonly actor: string | null;
  readonly limit: string | null;
  /** For history revert: takes back changes of rules and declarations too. */
  readonly rules: boolean;
  /** For constraints add: `warn` or `reject`; null: warn. */
  readonly mode: string | null;
  /** For forget: the name of the entity once more; null: only a preview. */
  readonly confirm: string | null;
  /** For entity show: derives every conclusion. */
  readonly infer: boolean;
  /** For export: what csv is made safe for; null: nothing. */
  readonly escape: string | null;
  /** For export: the file to write; null: standard output. */
  readonly output: string | null;
  /** For store import and export: the folder; `to` for store move: the node; null: not named. */
  readonly from: string | null;
  readonly to: string | null;
  /** For store restore: the generation, and the name of the new database; null: not named. */
  readonly at: string | null;
  readonly as: string | null;
  /** For test: runs again after each change, says what no test exercised, writes this file. */
  readonly watch: boolean;
  readonly coverage: boolean;
  readonly junit: string | null;
  /** For format: changes nothing. */
  readonly check: boolean;
}

/** Wrong use of the command line; the message says what is wrong. */
export class UsageError extends Error {}

/** Parses the arguments after the program's name. Throws a UsageError. */
export function parseArguments(argv: readonly string[]): ParsedCommand {
  const { values, positionals } = parse(argv);
  const [first] = positionals;
  const option = optionCommands.find((each) => values[each]);
  if (option !== undefined && isFolderCommand(option)) requireAlone(values, positionals);
  const name = option ?? first ?? 'serve';
  if (name !== option && !isCommandName(name) && name !== 'help' && name !== 'version')
    throw new UsageError(`there is no command "${name}"; there are ${commandNames.join(', ')}`);
  if (name === 'serve' && positionals.length > 1)
    throw new UsageError('serve takes no arguments: it is configured by environment variables (see --help)');
  if (name === 'lsp' && positionals.length > 1)
    throw new UsageError('lsp takes no arguments: the editor tells it which folders are open');
  for (const [each, commands] of Object.entries(optionsOf))
    if (values[each as keyof typeof optionsOf] !== undefined && !commands.includes(name))
      throw new UsageError(`--${each} is for ${commands.join(' and ')}`);
  return {
    name,
    words: wordsOf(name, values.restore, positionals),
    url: values.url ?? null,
    database: values.database ?? null,
    tenant: values.tenant ?? null,
    scope: values.scope ?? null,
    json: values.json,
    proof: values.proof,
    plan: values.plan,
    format: values.format ?? null,
    predicate: values.predicate ?? null,
    dryRun: values['dry-run'] ?? false,
    exitCode: values['exit-code'] ?? false,
    entity: values.entity ?? null,
    actor: values.actor ?? null,
    limit: values.limit ?? null,
    rules: values.rules ?? false,
    mode: values.mode ?? null,
    confirm: values.confirm ?? null,
    infer: values.infer ?? false,
    escape: values.escape ?? null,
    output: values.output ?? null,
    from: values.from ?? null,
    to: values.to ?? null,
    at: values.at ?? null,
    as: values.as ?? null,
    watch: values.watch ?? false,
    coverage: values.coverage ?? false,
    junit: values.junit ?? null,
    check: values.check ?? false,
  };
}

function wordsOf(
  name: ParsedCommand['name'],
  restored: string | undefined,
  positionals: readonly string[],
): readonly string[] {
  if (name === 'restore') return restored === undefined ? [] : [restored];
  // `ask --help` and `help ask` are equivalent.
  if (name === 'help') return positionals.filter(isCommandName).slice(0, 1);
  return positionals.slice(1);
}

function parse(argv: readonly string[]) {
  const isText = (argument: string): boolean => /^-[^-].*\(/s.test(argument);
  const ended = argv.indexOf('--');
  const options = ended === -1 ? argv : argv.slice(0, ended);
  const rest = ended === -1 ? [] : argv.slice(ended + 1);
  const args = [...options.filter((argument) => !isText(argument)), '--', ...options.filter(isText), ...rest];
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        url: { type: 'string' },
        database: { type: 'string' },
        tenant: { type: 'string' },
        scope: { type: 'string' },
        json: { type: 'boolean', default: false },
        proof: { type: 'boolean', default: false },
        plan: { type: 'boolean', default: false },
        format: { type: 'string' },
        predicate: { type: 'string' },
        'dry-run': { type: 'boolean' },
        'exit-code': { type: 'boolean' },
        entity: { type: 'string' },
        actor: { type: 'string' },
        limit: { type: 'string' },
        rules: { type: 'boolean' },
        mode: { type: 'string' },
        confirm: { type: 'string' },
        infer: { type: 'boolean' },
        escape: { type: 'string' },
        output: { type: 'string', short: 'o' },
        from: { type: 'string' },
        at: { type: 'string' },
        as: { type: 'string' },
        to: { type: 'string' },
        watch: { type: 'boolean' },
        coverage: { type: 'boolean' },
        junit: { type: 'string' },
        check: { type: 'boolean' },
        stdio: { type: 'boolean' },
        'reset-admin': { type: 'boolean', default: false },
        verify: { type: 'boolean', default: false },
        repair: { type: 'boolean', default: false },
        restore: { type: 'string' },
        encrypt: { type: 'boolean', default: false },
        decrypt: { type: 'boolean', default: false },
        rekey: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        version: { type: 'boolean', short: 'v', default: false },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** Commands on the folder while no service runs on it; each does one thing and ends. */
const folderCommands = ['reset-admin', 'verify', 'repair', 'restore', 'encrypt', 'decrypt', 'rekey'] as const;
export type FolderCommand = (typeof folderCommands)[number];

/** Options that replace a command; an earlier one takes precedence. */
const optionCommands = ['help', 'version', ...folderCommands] as const;

/** Whether the name is one of a folder command. */
export function isFolderCommand(name: string): name is FolderCommand {
  return folderCommands.some((each) => each === name);
}

function requireAlone(values: Readonly<Record<string, unknown>>, positionals: readonly string[]): void {
  const given = folderCommands.filter((each) => values[each] !== undefined && values[each] !== false);
  if (given.length === 1 && positionals.length === 0) return;
  throw new UsageError(
    `--${given[0] ?? ''} cannot be combined with another option: it does one thing to the folder and ends`,
  );
}

/** Options that other commands refuse: if they ignored them, the command would do something else than intended. */
const optionsOf: Readonly<
  Record<
    | 'format'
    | 'predicate'
    | 'dry-run'
    | 'exit-code'
    | 'entity'
    | 'actor'
    | 'limit'
    | 'rules'
    | 'mode'
    | 'confirm'
    | 'infer'
    | 'escape'
    | 'output'
    | 'from'
    | 'to'
    | 'at'
    | 'as'
    | 'stdio'
    | 'watch'
    | 'coverage'
    | 'junit'
    | 'check',
    readonly string[]
  >
> = {
  format: ['import', 'export'],
  predicate: ['import', 'export', 'history'],
  'dry-run': ['import', 'history', 'constraints', 'entity', 'apply', 'pull'],
  'exit-code': ['diff'],
  entity: ['history'],
  actor: ['history'],
  limit: ['history', 'constraints', 'entity'],
  rules: ['history'],
  mode: ['constraints'],
  confirm: ['forget'],
  infer: ['entity'],
  escape: ['export'],
  output: ['export'],
  from: ['store'],
  to: ['store'],
  at: ['store'],
  as: ['store'],
  watch: ['test'],
  coverage: ['test'],
  junit: ['test'],
  check: ['format'],
  stdio: ['lsp'],
};

/** Whether the name is one of a command. */
export function isCommandName(name: string): name is CommandName {
  return commandNames.some((command) => command === name);
}

/** Whether the name is one of a command on the files of a package. */
export function isPackageCommand(name: string): name is PackageCommand {
  return name === 'test' || name === 'check' || name === 'format';
}

interface OptionHelp {
  readonly usage: string;
  readonly about: readonly string[];
}

interface CommandHelp {
  /** The arguments after the name. */
  readonly takes: string;
  readonly about: string;
  /** Options besides those of every command. */
  readonly options: readonly (keyof typeof options)[];
  readonly more: readonly string[];
  readonly example: string;
}

const options = {
  scope: { usage: '--scope NAME', about: ['within this scope'] },
  proof: {
    usage: '--proof',
    about: [
      'prints the proof of each answer or violation; history diff: of each',
      'conclusion. Long chains of one rule are one line; --json has every step',
    ],
  },
  plan: { usage: '--plan', about: ['prints the plan of the question instead, with rows and times'] },
  format: {
    usage: '--format NAME',
    about: [
      'import: ndjson, csv, tsv, datalog, turtle, ntriples; export: ndjson,',
      "datalog, csv, ntriples; default: by the file's name, export: ndjson",
    ],
  },
  predicate: {
    usage: '--predicate NAME',
    about: [
      'import of csv and tsv: the predicate of every line, whose columns',
      'are all arguments; export, history log and diff: only this predicate',
    ],
  },
  dryRun: {
    usage: '--dry-run',
    about: [
      'import, history revert, constraints add, entity merge, apply, pull:',
      'shows what it would do, without doing it',
    ],
  },
  exitCode: { usage: '--exit-code', about: ['diff: exit code 1 if something differs'] },
  entity: { usage: '--entity NAME', about: ['history log: only facts about it'] },
  actor: { usage: '--actor NAME', about: ['history log: id or name of a key, or local'] },
  limit: {
    usage: '--limit N',
    about: [
      'history log, constraints check, entity show: at most so many of each,',
      'history diff: lines of a kind; default: 100',
    ],
  },
  rules: { usage: '--rules', about: ['history revert: rules, declarations and constraints too'] },
  mode: {
    usage: '--mode MODE',
    about: ['constraints add: warn (default) or reject, which refuses violations'],
  },
  confirm: {
    usage: '--confirm NAME',
    about: ['forget: does it; NAME is the name of the entity once more'],
  },
  infer: { usage: '--infer', about: ['entity show: derives every conclusion about it'] },
  escape: {
    usage: '--escape FOR',
    about: [
      'export of csv: spreadsheet puts an apostrophe before each value',
      'that a spreadsheet would run as a formula',
    ],
  },
  output: { usage: '-o, --output FILE', about: ['export: writes this file'] },
  from: { usage: '--from FOLDER', about: ['store import: the folder to move into the store'] },
  to: { usage: '--to FOLDER|NODE', about: ['store export: an empty folder; store move: the node'] },
  at: { usage: '--at GENERATION', about: ['store restore: what the database was then'] },
  as: { usage: '--as NAME', about: ['store restore: the new database'] },
  watch: { usage: '--watch', about: ['test: runs again after each change of a file, until Ctrl+C'] },
  coverage: { usage: '--coverage', about: ['test: lists rules and literals that no test exercised'] },
  junit: { usage: '--junit FILE', about: ['test: writes the outcome as JUnit XML too'] },
  check: { usage: '--check', about: ['format: changes nothing; exit code 1 if it would'] },
} as const satisfies Record<string, OptionHelp>;

/** Options of every command that talks to a running service. */
const common: readonly OptionHelp[] = [
  { usage: '--url URL', about: ['address of the service; default: from its endpoint file'] },
  { usage: '--database NAME', about: ['default: default'] },
  { usage: '--tenant NAME', about: ['default: default'] },
  { usage: '--json', about: ["prints the service's answer as JSON"] },
];

/** Options of every command on the files of a package. */
const ofPackages: readonly OptionHelp[] = [{ usage: '--json', about: ['prints the outcome as JSON'] }];

const commands: Readonly<Record<CommandName, CommandHelp>> = {
  serve: {
    takes: '',
    about: 'runs the service in the foreground (the default)',
    options: [],
    more: [
      'Configured by environment variables: corollary --help lists them. SIGTERM and Ctrl+C stop it cleanly.',
    ],
    example: 'PORT=9301 STORAGE_DIR=~/knowledge corollary serve',
  },
  tell: {
    takes: "'p(a, b).'",
    about: 'stores facts; - reads them from standard input',
    options: ['scope'],
    more: [],
    example: "corollary tell 'mother(alma, pia). mother(pia, eve).'",
  },
  teach: {
    takes: "'h(?x) :- b.'",
    about: 'stores rules; - reads them from standard input',
    options: ['scope'],
    more: [],
    example: "corollary teach 'grandmother(?x, ?z) :- mother(?x, ?y), mother(?y, ?z)'",
  },
  ask: {
    takes: "'p(?x, b)'",
    about: 'asks, and prints the answers',
    options: ['scope', 'proof', 'plan'],
    more: [
      'The text is an atom or a rule body; ?names are variables. - reads it from standard input.',
      'Exit code 1 if there is no answer.',
    ],
    example: "corollary ask --proof 'grandmother(alma, ?who)'",
  },
  search: {
    takes: "'WORDS'",
    about: 'finds facts, conclusions, rules and names by plain words',
    options: ['scope'],
    more: ['- reads the words from standard input. Exit code 1 if nothing matches.'],
    example: "corollary search 'where does alma live'",
  },
  import: {
    takes: 'FILE',
    about: 'stores the contents of a file; - reads standard input',
    options: ['scope', 'format', 'predicate', 'dryRun'],
    more: ['Prints each line that fails with its reason; exit code 1 if there are any.'],
    example: 'corollary import prices.csv --predicate price --dry-run',
  },
  export: {
    takes: '',
    about: 'writes the stored knowledge to standard output or --output',
    options: ['scope', 'format', 'predicate', 'escape', 'output'],
    more: [],
    example: 'corollary export --output knowledge.ndjson',
  },
  history: {
    takes: 'log|diff|revert|blame',
    about: 'shows who changed what, and takes it back',
    options: ['predicate', 'entity', 'actor', 'limit', 'scope', 'proof', 'rules', 'dryRun'],
    more: [
      'log lists generations, newest first. diff shows facts, rules and conclusions that differ between FROM and TO,',
      "of all predicates or of goals such as 'p(?x, b)'; exit code 1 if nothing does. revert takes back a GENERATION, or",
      'what came after FROM up to TO; FROM and TO are generations or ISO 8601 instants.',
      "blame shows who wrote a fact, by its id or as an atom such as 'p(a, b)'. Exit code 1 if there is nothing.",
    ],
    example: 'corollary history revert 24 --dry-run',
  },
  constraints: {
    takes: 'list|add|remove|check',
    about: 'says what must not be true, and what of it is',
    options: ['mode', 'scope', 'proof', 'limit', 'dryRun'],
    more: [
      'add takes a NAME and the text; - reads the text from standard input. remove takes an ID, as list shows it.',
      'check lists what is violated, of all constraints or of one ID. Exit code 1 if anything is.',
    ],
    example: "corollary constraints add 'of age' '!- adult(?x), age(?x, ?a), ?a < 18' --mode reject",
  },
  entity: {
    takes: 'show|alias|unalias|merge',
    about: 'shows what is known about a name, gives it others, and makes two one',
    options: ['scope', 'infer', 'limit', 'dryRun'],
    more: [
      'show takes a NAME or an alias. Exit code 1 if nothing is known. alias and unalias take a NAME and an ALIAS.',
      'merge FROM INTO rewrites the facts of FROM and keeps it as an alias; history revert takes it back.',
    ],
    example: 'corollary entity merge a.smith ann_smith --dry-run',
  },
  forget: {
    takes: 'NAME',
    about: 'erases all facts about an entity of a tenant, present and past',
    options: ['confirm'],
    more: [
      'Without --confirm it shows what would go. With it, the facts go from the history on disk too, for good.',
      'Rules, texts in metadata and earlier backups are not changed. It needs the role admin.',
    ],
    example: 'corollary forget ann --tenant acme --confirm ann',
  },
  sample: {
    takes: '[NAME]',
    about: 'loads a sample knowledge base; without a name, lists them',
    options: ['scope'],
    more: [],
    example: 'corollary sample family',
  },
  store: {
    takes: 'nodes|move|import|export|restore|sql',
    about:
      'shows the nodes of a store and moves databases; moves everything between a folder and the store of STORE_URL',
    options: ['from', 'to', 'at', 'as'],
    more: [
      'nodes lists the nodes of the service, and which of them have each database. move [DATABASE] --to NODE lets another',
      'node store the writes, which makes a copy first if it has none; NODE is an address or an id, of which the beginning',
      'is enough. Both take --url, --json and API_KEY like other commands. The rest needs STORE_URL and no service:',
      'both sides keep ids, generations, times and keys, and are compared before the copy counts; what was moved stays',
      'where it was. import needs an empty store and a folder on which no service runs; export needs an empty folder and',
      'that no node runs. ENCRYPTION_KEY is the key of both. restore NAME makes a new database of what another one was at a',
      'generation, while the nodes run; the store has the generations since its second newest snapshot. sql prints the',
      'statements that create the tables, for a role that may not.',
    ],
    example: 'STORE_URL=postgres://… corollary store import --from ~/knowledge',
  },
  lsp: {
    takes: '',
    about: 'serves editors: the Language Server Protocol for .kb and .test.kb files',
    options: [],
    more: [
      'An editor starts it and talks to it on standard input and output. It needs no service, and opens no connection.',
      '--stdio, which some editors add, changes nothing. Exit code 1 if the editor went away without saying so.',
    ],
    example: 'corollary lsp',
  },
  test: {
    takes: '[FOLDER]',
    about: 'runs the tests of a package of knowledge',
    options: ['watch', 'coverage', 'junit'],
    more: [
      'FOLDER has .kb files with facts, rules, constraints and declarations, .test.kb files with tests, and perhaps a',
      'corollary.toml; default: the present one. It needs no service and stores nothing. A failure shows the proof of what',
      'was not expected, or why what is missing is not true. Exit code 1 if a test fails or a file has an error, 2 if the',
      'package cannot be read.',
    ],
    example: 'corollary test family --coverage',
  },
  check: {
    takes: '[FOLDER]',
    about: 'lists what is wrong in the files of a package, and what is probably a slip',
    options: [],
    more: [
      'Each line has FILE:LINE:COLUMN. Exit code 1 if there is an error, 2 if the package cannot be read.',
    ],
    example: 'corollary check family',
  },
  format: {
    takes: '[FOLDER]',
    about: 'lays out the files of a package',
    options: ['check'],
    more: ['Comments stay, and so does what cannot be parsed. Exit code 2 if the package cannot be read.'],
    example: 'corollary format family --check',
  },
  diff: {
    takes: '[FOLDER]',
    about: 'shows what applying a package would change in a service',
    options: ['scope', 'exitCode'],
    more: [
      'Lines with + come, those with - go, those with ~ change, and what stays though no file states it is named with the',
      'reason. Name, scope and service are those of corollary.toml; --scope, --url, --database and --tenant win. Exit code 1',
      'if a file has an error or the service refuses, 2 if the package cannot be read or no service is reached.',
    ],
    example: 'corollary diff family --exit-code',
  },
  apply: {
    takes: '[FOLDER]',
    about: 'makes the knowledge of a service what a package states, in one transaction',
    options: ['scope', 'dryRun'],
    more: [
      'It takes away only what an earlier apply of this name brought and nobody changed since. Tests are left out. Exit',
      'codes as of diff.',
    ],
    example: 'corollary apply family --dry-run',
  },
  pull: {
    takes: '[FOLDER]',
    about: 'writes what a service holds of a package into its files',
    options: ['scope', 'dryRun'],
    more: [
      'Statements that the service holds otherwise change where they stand, those that it does not hold go, and what no file',
      'states comes to pulled.kb: what the package brought and, if it has a scope, all of that. Comments and the order stay.',
      'Exit codes as of diff.',
    ],
    example: 'corollary pull family --dry-run',
  },
  status: {
    takes: '',
    about: 'shows where the service runs and what it has stored',
    options: [],
    more: ['Exit code 1 if it is not ready.'],
    example: 'corollary status',
  },
};

function aligned(usage: string, about: readonly string[]): string[] {
  // A longer usage has a line of its own.
  const [first = '', ...rest] = usage.length < 22 ? about : ['', ...about];
  return [`  ${usage.padEnd(22)}${first}`.trimEnd(), ...rest.map((line) => `${' '.repeat(24)}${line}`)];
}

/** The text of `corollary ask --help`. */
export function commandHelpText(name: CommandName): string {
  const { takes, about, options: own, more, example } = commands[name];
  const hasNone = name === 'serve' || name === 'lsp';
  const shared = hasNone ? [] : isPackageCommand(name) ? ofPackages : common;
  const listed = [...own.map((each) => options[each]), ...shared];
  return [
    `corollary ${name}${takes === '' ? '' : ` ${takes}`}${listed.length === 0 ? '' : ' [options]'}: ${about}.`,
    ...more,
    ...(listed.length === 0
      ? []
      : ['', 'Options:', '', ...listed.flatMap((each) => aligned(each.usage, each.about))]),
    '',
    `Example: ${example}`,
    '',
  ].join('\n');
}

/** The text of `--help`; `variables` describes the environment. */
export function helpText(version: string, variables: string): string {
  const commandLines = Object.entries(commands).flatMap(([name, { takes, about }]) =>
    aligned(`${name}${takes === '' ? '' : ` ${takes}`}`, [about]),
  );
  const optionLines = [...common.slice(0, 3), ...Object.values(options), ...common.slice(3)].flatMap((each) =>
    aligned(each.usage, each.about),
  );
  return `Corollary ${version}: knowledge, rules, and answers with their proofs.

Usage: corollary [command] [options]

${commandLines.join('\n')}

corollary COMMAND --help says more of one command. Options of the commands that talk to a running service, and of those on
the files of a package:

${optionLines.join('\n')}
  API_KEY in the environment is shown to the service.

Options that do one thing to the storage folder and end; they read the environment as serve does:

  --verify              reads and verifies everything, and changes nothing
  --repair              keeps what still verifies of a damaged folder, sets the rest aside
  --restore FILE        puts a backup (POST /admin/backup) into an empty STORAGE_DIR
  --encrypt             encrypts with ENCRYPTION_KEY what was written without a key
  --decrypt             writes without a key what was encrypted with ENCRYPTION_KEY
  --rekey               encrypts with NEW_ENCRYPTION_KEY what ENCRYPTION_KEY opens
  --reset-admin         revokes all admin keys, so that the next start has the bootstrap open
  All but --verify are refused while a service runs on the folder.

  --help, --version

Exit codes: 0 done; ask: 1 when nothing holds; search and entity show: 1 when nothing matches; import: 1 when lines failed;
constraints check: 1 when one is violated; test, check and format --check: 1 when something fails; 2 wrong use or configuration;
3 no service reached; 4 the service refused. serve, and what is done to the folder: 1 failed, 2 configuration, 4 port taken,
5 folder in use, 6 storage damaged; --verify: 1 when something does not verify.

Environment (an empty value counts as not set):

${variables}
`;
}
