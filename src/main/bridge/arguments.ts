/**
 * Parses the command line and the environment of `corollary-mcp`.
 *
 * A program that configures a client may fill in every option, so a blank text counts as not given, and so does a
 * placeholder of the bundle that was left as it is. A key comes from the environment only: a command line is visible to
 * every user of the machine.
 */
import { parseArgs } from 'node:util';
import { databaseNameSchema, tenantNameSchema } from '../../engine/contract/fields.ts';
import type { Environment } from '../base/config.ts';

export interface BridgeArguments {
  readonly action: 'run' | 'help' | 'version';
  readonly database: string;
  readonly tenant: string;
  /** Address of the service; null: the endpoint file names it. */
  readonly url: URL | null;
  /** The credential; null: none. */
  readonly key: string | null;
  /** Whether the bridge may start a service if none is running. */
  readonly mayStart: boolean;
  /** How long a call waits for a service that is away, in milliseconds. */
  readonly waitMs: number;
}

/** Wrong use; the message says what is wrong. */
export class WrongUse extends Error {}

const defaultWaitSeconds = 30;
const maxWaitSeconds = 3600;

/** Reads the arguments after the program's name. Throws a WrongUse. */
export function readBridgeArguments(argv: readonly string[], environment: Environment): BridgeArguments {
  const values = parse(argv);
  return {
    action: values.help ? 'help' : values.version ? 'version' : 'run',
    database: nameOf('--database', values.database, databaseNameSchema),
    tenant: nameOf('--tenant', values.tenant, tenantNameSchema),
    url: addressOf(values.url),
    key: keyOf(environment),
    mayStart: !values['no-start'],
    waitMs: waitOf(values.wait),
  };
}

function parse(argv: readonly string[]) {
  if (argv.some((argument) => /^--(api-?)?key(=|$)/i.test(argument)))
    throw new WrongUse('set a key as COROLLARY_API_KEY in the environment: others can see a command line');
  try {
    return parseArgs({
      args: [...argv],
      options: {
        database: { type: 'string' },
        tenant: { type: 'string' },
        url: { type: 'string' },
        wait: { type: 'string' },
        'no-start': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        version: { type: 'boolean', short: 'v', default: false },
      },
    }).values;
  } catch (error) {
    throw new WrongUse(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** The text, or null if nothing was given. */
function given(text: string | undefined): string | null {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' || trimmed.startsWith('${') ? null : trimmed;
}

function nameOf(option: string, text: string | undefined, schema: typeof databaseNameSchema): string {
  const name = given(text);
  if (name === null) return 'default';
  const { data, error } = schema.safeParse(name);
  if (data === undefined) throw new WrongUse(`${option}: ${error?.issues[0]?.message ?? 'no such name'}`);
  return data;
}

function addressOf(text: string | undefined): URL | null {
  const address = given(text);
  if (address === null) return null;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new WrongUse(`--url: ${JSON.stringify(address)} is not an http:// or https:// address`);
  if (url.username !== '' || url.password !== '')
    throw new WrongUse('--url: set a key as COROLLARY_API_KEY in the environment, not in the address');
  return url;
}

function keyOf(environment: Environment): string | null {
  for (const name of ['COROLLARY_API_KEY', 'API_KEY']) {
    const key = given(environment[name]);
    if (key === null) continue;
    if (!/^[\x21-\x7e]{1,4096}$/.test(key))
      throw new WrongUse(`${name}: got ${key.length} characters, takes visible ASCII characters`);
    return key;
  }
  return null;
}

function waitOf(text: string | undefined): number {
  const seconds = given(text);
  if (seconds === null) return defaultWaitSeconds * 1000;
  const number = /^\d{1,6}(\.\d{1,3})?$/.test(seconds) ? Number(seconds) : Number.NaN;
  if (!(number <= maxWaitSeconds))
    throw new WrongUse(`--wait: got ${JSON.stringify(seconds)}, takes seconds from 0 to ${maxWaitSeconds}`);
  return number * 1000;
}

export const bridgeHelpText = `corollary-mcp: Corollary for clients of MCP that start a program

It speaks MCP on its standard input and output with the client that starts it, and passes everything on to
the running Corollary service. It waits for a service that is away, and starts one where none runs.

  --database NAME   where to work; default
  --tenant NAME     for whom; default
  --url URL         the service's address; else that of the running service, by the endpoint file
  --no-start        do not start a service
  --wait SECONDS    how long a call waits for a service that is away; ${defaultWaitSeconds}
  --help, --version

Environment:
  COROLLARY_API_KEY (also API_KEY)   the credential, where the service wants one
  COROLLARY_ENDPOINT_FILE            the endpoint file, where it is not in the per-user state folder
`;
