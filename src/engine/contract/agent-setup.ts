/**
 * The client configurations that connect MCP clients to the service.
 *
 * Pure: the workbench offers them to copy, and docs/agents.md has the same texts for the usual address. Tests compare
 * both with this file.
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

/** The database and tenant for an agent, and how it connects. */
export interface AgentPlace {
  /** `http://127.0.0.1:9300`. */
  readonly address: string;
  readonly database: string;
  readonly tenant: string;
  /** The credential; null: none is required. */
  readonly key: string | null;
  /** Command that starts the bridge; null: it is not built. */
  readonly bridge: { readonly command: string; readonly args: readonly string[] } | null;
}

/** How a client reaches the service: at an address with headers, or through a program that it starts. */
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
  /** The configuration file under the name its user knows; null: the text is a command to run. */
  readonly file: string | null;
  readonly language: 'json' | 'toml' | 'shell';
  readonly text: string;
  /** What else the user must know; null: nothing. */
  readonly note: string | null;
  /** The connection that the text describes, for a connection test. */
  readonly route: AgentRoute;
}

/**
 * Where rules, facts and scopes live, for the choice of a database and tenant: GET /mcp/setup, the workbench and the
 * docs show it.
 */
export const placeAdvice =
  'Rules belong to the database, facts to a tenant of it; a scope is a part of a tenant. Use one database for each project.';

/** The name of the service in clients. */
const serverName = 'corollary';
/** The environment variable from which the bridge, and clients that support it, read the key. */
const keyVariable = 'COROLLARY_API_KEY';

/** The configuration of a program; null if it needs the bridge and there is none. */
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
        'The bundle corollary.mcpb does the same in one step: open it with Claude Desktop. To open the file, ' +
          'choose Settings, Developer, Edit Config; restart Claude Desktop afterwards.',
      isDesktop &&
        key !== null &&
        'The file contains the key in plain text; the bundle keeps it in the system’s key store.',
      // Which clients expand variables in commands is unknown; those that do use this syntax.
      [database, tenant, ...args].some(hasReference) && referenceWarning,
    ),
    route: { via: 'bridge', command: bridge.command, args, env },
  };
}

/** A value that starts with `-` would be parsed as another option. */
function option(name: string, value: string): string[] {
  return value.startsWith('-') ? [`${name}=${value}`] : [name, value];
}

function claudeCode(place: AgentPlace): AgentConfiguration {
  const url = urlOf(place);
  const headers = headersOf(place, place.key);
  // --header consumes all following words, so it comes last.
  const words = ['claude', 'mcp', 'add', '--transport', 'http', serverName, url];
  for (const [name, value] of Object.entries(headers)) words.push('--header', `${name}: ${value}`);
  return {
    program: 'claude-code',
    title: 'Claude Code',
    file: null,
    language: 'shell',
    text: words.map(shellWord).join(' '),
    note: sentences(
      'Run it in the project folder: it adds the server for you, in this project only. For all projects, put --scope user before the name.',
      place.key !== null && 'The key is stored in ~/.claude.json and in the shell history.',
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
      'For one project only: .cursor/mcp.json in its folder.',
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
        `Codex reads the key from the environment variable ${keyVariable}, never from the file.`,
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
      'The transport is Streamable HTTP; some clients require "type": "http" beside the url. A client that ' +
        'supports only the older SSE transport uses the address with /sse appended.',
      place.key !== null && 'The file contains the key in plain text: keep it out of version control.',
      hasReference(place.tenant) && referenceWarning,
    ),
    route: { via: 'http', url, headers },
  };
}

function urlOf({ address }: AgentPlace): string {
  return `${address.replace(/\/+$/, '')}/mcp`;
}

/** Headers for what differs from the defaults. `key`: the credential, or the client's placeholder for it. */
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

/** Clients expand `${...}` in values, and none has an escape for it. */
function hasReference(text: string): boolean {
  return text.includes('${');
}

const referenceWarning = 'A name here contains ${, which clients expand as a variable: choose another.';

function sentences(...said: readonly (string | false)[]): string | null {
  const kept = said.filter((sentence) => sentence !== false);
  return kept.length === 0 ? null : kept.join(' ');
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/**
 * One word of a command. Double quotes if the word has no special characters, since every shell understands them, on
 * Windows too; otherwise single quotes.
 */
function shellWord(text: string): string {
  if (/^[\w./:@+,-]+$/.test(text)) return text;
  if (/^[\w./:@+,= -]+$/.test(text)) return `"${text}"`;
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** A basic string: JSON escapes are valid TOML, but JSON does not escape DEL. */
function tomlString(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', String.raw`\u007f`);
}
