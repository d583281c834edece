/**
 * What to write into the configuration of each client of MCP, so that it finds the service.
 *
 * Pure: the workbench shows it to be copied, and docs/agents.md has the same text for the usual address. Both are held
 * against this.
 */

export const agentPrograms = [
  'claude-desktop',
  'claude-code',
  'cursor',
  'vs-code',
  'codex',
  'other-http',
  'other-stdio',
] as const;
export type AgentProgram = (typeof agentPrograms)[number];

/** Where an agent is to work, and how it gets there. */
export interface AgentPlace {
  /** `http://127.0.0.1:9300`. */
  readonly address: string;
  readonly database: string;
  readonly tenant: string;
  /** The credential; null: none is wanted. */
  readonly key: string | null;
  /** How the bridge is started; null: it is not built. */
  readonly bridge: { readonly command: string; readonly args: readonly string[] } | null;
}

/** How a client reaches the service: by an address, with these headers, or by a program that it starts. */
export type AgentRoute =
  | { readonly via: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | {
      readonly via: 'bridge';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    };

export interface AgentConfiguration {
  readonly program: AgentProgram;
  /** `Claude Desktop`. */
  readonly title: string;
  /** The file that the text belongs into, as its user knows it, or null where it is a command to run. */
  readonly file: string | null;
  readonly language: 'json' | 'toml' | 'shell';
  readonly text: string;
  /** What else has to be known, in a sentence; null: nothing. */
  readonly note: string | null;
  /** What the text says, for who tries it. */
  readonly route: AgentRoute;
}

/** Where each thing lives, for whoever chooses a place: GET /mcp/setup, the workbench and the pages say it so. */
export const placeAdvice =
  'Rules belong to the database, facts to a tenant of it; a scope is a part of a tenant. Take a database for each project.';

/** The name by which clients list the service. */
const serverName = 'corollary';
/** Where the bridge, and clients that read the environment, find the key. */
const keyVariable = 'COROLLARY_API_KEY';

/** The configuration of a program; null where it needs the bridge and there is none. */
export function configurationOf(program: AgentProgram, place: AgentPlace): AgentConfiguration | null {
  switch (program) {
    case 'claude-desktop':
    case 'other-stdio':
      return place.bridge === null ? null : bridged(program, place, place.bridge);
    case 'claude-code':
      return claudeCode(place);
    case 'cursor':
      return cursor(place);
    case 'vs-code':
      return vsCode(place);
    case 'codex':
      return codex(place);
    case 'other-http':
      return otherHttp(place);
  }
}

function bridged(
  program: 'claude-desktop' | 'other-stdio',
  { database, tenant, key }: AgentPlace,
  bridge: NonNullable<AgentPlace['bridge']>,
): AgentConfiguration {
  const args = [
    ...bridge.args,
    ...(database === 'default' ? [] : option('--database', database)),
    ...(tenant === 'default' ? [] : option('--tenant', tenant)),
  ];
  const env: Record<string, string> = key === null ? {} : { [keyVariable]: key };
  const server = { command: bridge.command, args, ...(key === null ? {} : { env }) };
  const isDesktop = program === 'claude-desktop';
  return {
    program,
    title: isDesktop ? 'Claude Desktop' : 'Any other client, by a program that it starts',
    file: isDesktop ? 'claude_desktop_config.json' : 'mcp.json, or what the client calls it',
    language: 'json',
    text: json({ mcpServers: { [serverName]: server } }),
    note: sentences(
      isDesktop &&
        'The bundle corollary.mcpb does the same in one step: open it with Claude Desktop. The file is opened by Settings, Developer, Edit Config; restart Claude Desktop afterwards.',
      isDesktop &&
        key !== null &&
        'The key stands in the file as it is; the bundle leaves it to the system’s key store.',
      // Which clients read variables in what they start is not known: each that does, does so by this sign.
      [database, tenant, ...args].some(hasReference) && referenceWarning,
    ),
    route: { via: 'bridge', command: bridge.command, args, env },
  };
}

/** A name that begins with `-` would be taken for another option. */
function option(name: string, value: string): string[] {
  return value.startsWith('-') ? [`${name}=${value}`] : [name, value];
}

function claudeCode(place: AgentPlace): AgentConfiguration {
  const url = urlOf(place);
  const headers = headersOf(place, place.key);
  // --header takes all words that follow it, so it stands last.
  const words = ['claude', 'mcp', 'add', '--transport', 'http', serverName, url];
  for (const [name, value] of Object.entries(headers)) words.push('--header', `${name}: ${value}`);
  return {
    program: 'claude-code',
    title: 'Claude Code',
    file: null,
    language: 'shell',
    text: words.map(shellWord).join(' '),
    note: sentences(
      'Run it in the folder of the project: the server is added for you, in this project alone; put --scope user before the name to have it in all of them.',
      place.key !== null && 'The key goes into ~/.claude.json, and into the history of the shell.',
      hasReference(place.tenant) && referenceWarning,
    ),
    route: { via: 'http', url, headers },
  };
}

function cursor(place: AgentPlace): AgentConfiguration {
  const url = urlOf(place);
  const headers = headersOf(place, place.key === null ? null : `\${env:${keyVariable}}`);
  return {
    program: 'cursor',
    title: 'Cursor',
    file: '~/.cursor/mcp.json',
    language: 'json',
    text: json({ mcpServers: { [serverName]: { url, ...unlessEmpty('headers', headers) } } }),
    note: sentences(
      'For one project alone: .cursor/mcp.json in its folder.',
      place.key !== null && `Cursor reads the key from the environment variable ${keyVariable}.`,
      hasReference(place.tenant) && referenceWarning,
    ),
    route: { via: 'http', url, headers: headersOf(place, place.key) },
  };
}

function vsCode(place: AgentPlace): AgentConfiguration {
  const url = urlOf(place);
  const id = 'corollary_key';
  const headers = headersOf(place, place.key === null ? null : `\${input:${id}}`);
  const input = { type: 'promptString', id, description: 'Key of Corollary', password: true };
  return {
    program: 'vs-code',
    title: 'VS Code',
    file: '.vscode/mcp.json',
    language: 'json',
    text: json({
      ...(place.key === null ? {} : { inputs: [input] }),
      servers: { [serverName]: { type: 'http', url, ...unlessEmpty('headers', headers) } },
    }),
    note: sentences(
      'For all projects: the command MCP: Open User Configuration.',
      place.key !== null && 'VS Code asks for the key at the first start and keeps it in its secret storage.',
      hasReference(place.tenant) && referenceWarning,
    ),
    route: { via: 'http', url, headers: headersOf(place, place.key) },
  };
}

function codex(place: AgentPlace): AgentConfiguration {
  const url = urlOf(place);
  const headers = Object.entries(headersOf(place, null)).map(
    ([name, value]) => `${tomlString(name)} = ${tomlString(value)}`,
  );
  const lines = [`[mcp_servers.${serverName}]`, `url = ${tomlString(url)}`];
  if (headers.length > 0) lines.push(`http_headers = { ${headers.join(', ')} }`);
  if (place.key !== null) lines.push(`bearer_token_env_var = ${tomlString(keyVariable)}`);
  return {
    program: 'codex',
    title: 'Codex',
    file: '~/.codex/config.toml',
    language: 'toml',
    text: lines.join('\n'),
    note: sentences(
      place.key !== null &&
        `Codex reads the key from the environment variable ${keyVariable}, and takes none in the file.`,
    ),
    route: { via: 'http', url, headers: headersOf(place, place.key) },
  };
}

function otherHttp(place: AgentPlace): AgentConfiguration {
  const url = urlOf(place);
  const headers = headersOf(place, place.key);
  return {
    program: 'other-http',
    title: 'Any other client, by the address',
    file: 'mcp.json, or what the client calls it',
    language: 'json',
    text: json({ mcpServers: { [serverName]: { url, ...unlessEmpty('headers', headers) } } }),
    note: sentences(
      'The transport is Streamable HTTP; some clients want it said, as "type": "http" beside the url. One that knows only the older SSE transport takes the address with /sse behind it.',
      place.key !== null && 'The key stands in the file as it is: keep the file out of version control.',
      hasReference(place.tenant) && referenceWarning,
    ),
    route: { via: 'http', url, headers },
  };
}

function urlOf({ address }: AgentPlace): string {
  return `${address.replace(/\/+$/, '')}/mcp`;
}

/** What differs from what the service takes for granted. `key`: the credential, or what the client puts it in for. */
function headersOf({ database, tenant }: AgentPlace, key: string | null): Record<string, string> {
  return {
    ...(database === 'default' ? {} : { 'X-Database': database }),
    ...(tenant === 'default' ? {} : { 'X-Tenant-ID': tenant }),
    ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
  };
}

function unlessEmpty(name: string, values: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.keys(values).length === 0 ? {} : { [name]: values };
}

/** Clients replace `${...}` in what they read, and none has a way to write it as it is. */
function hasReference(text: string): boolean {
  return text.includes('${');
}

const referenceWarning =
  'A name here holds ${, which clients take for the name of a variable: choose another.';

function sentences(...said: readonly (string | false)[]): string | null {
  const kept = said.filter((sentence) => sentence !== false);
  return kept.length === 0 ? null : kept.join(' ');
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/**
 * One word of a command. In double quotes where nothing in it means anything there, since those are quotes to every
 * shell, the ones of Windows included; else in single quotes.
 */
function shellWord(text: string): string {
  if (/^[\w./:@+,-]+$/.test(text)) return text;
  if (/^[\w./:@+,= -]+$/.test(text)) return `"${text}"`;
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** A basic string: JSON's escapes are TOML's, but JSON leaves DEL as it is. */
function tomlString(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', String.raw`\u007f`);
}
