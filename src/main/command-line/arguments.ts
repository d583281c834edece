/**
 * Parses the command line: the command and its arguments.
 *
 * Statements and questions may start with `-` (explicit negation): an argument that starts with one `-` and contains a
 * parenthesis is text, never an option.
 */
import { parseArgs } from 'node:util';

export const commandNames = [
  'serve',
  'ask',
  'tell',
  'teach',
  'import',
  'export',
  'status',
  'sample',
] as const;
export type CommandName = (typeof commandNames)[number];

export interface ParsedCommand {
  readonly name: CommandName | (typeof optionCommands)[number];
  /** The arguments after the command, joined by spaces if they are text; for help, the command it is about, if any. */
  readonly words: readonly string[];
  /** Address of the service; null: the endpoint file names it. */
  readonly url: string | null;
  readonly database: string;
  readonly tenant: string;
  readonly scope: string | null;
  readonly json: boolean;
  readonly proof: boolean;
  /** For import and export: the name of the format; null: by the name of the file. */
  readonly format: string | null;
  readonly predicate: string | null;
  readonly dryRun: boolean;
  /** For export: the file to write; null: standard output. */
  readonly output: string | null;
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
  for (const [each, commands] of Object.entries(optionsOf))
    if (values[each as keyof typeof optionsOf] !== undefined && !commands.includes(name))
      throw new UsageError(`--${each} is for ${commands.join(' and ')}`);
  return {
    name,
    words: wordsOf(name, values.restore, positionals),
    url: values.url ?? null,
    database: values.database,
    tenant: values.tenant,
    scope: values.scope ?? null,
    json: values.json,
    proof: values.proof,
    format: values.format ?? null,
    predicate: values.predicate ?? null,
    dryRun: values['dry-run'] ?? false,
    output: values.output ?? null,
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
        database: { type: 'string', default: 'default' },
        tenant: { type: 'string', default: 'default' },
        scope: { type: 'string' },
        json: { type: 'boolean', default: false },
        proof: { type: 'boolean', default: false },
        format: { type: 'string' },
        predicate: { type: 'string' },
        'dry-run': { type: 'boolean' },
        output: { type: 'string', short: 'o' },
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
export const folderCommands = [
  'reset-admin',
  'verify',
  'repair',
  'restore',
  'encrypt',
  'decrypt',
  'rekey',
] as const;
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
  throw new UsageError(`--${given[0] ?? ''} stands alone: it does one thing to the folder and ends`);
}

/** Options that other commands refuse: if they ignored them, the command would do something else than intended. */
const optionsOf: Readonly<Record<'format' | 'predicate' | 'dry-run' | 'output', readonly string[]>> = {
  format: ['import', 'export'],
  predicate: ['import', 'export'],
  'dry-run': ['import'],
  output: ['export'],
};

/** Whether the name is one of a command. */
export function isCommandName(name: string): name is CommandName {
  return commandNames.some((command) => command === name);
}
