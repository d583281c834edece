/**
 * The configuration: reads every environment variable of the service once, before anything starts.
 *
 * The table below is the only list; the parser, the `Config` type and `--help` iterate over it. A bad value stops the
 * start with a message that names the variable, the value (of a secret only the length) and what it takes. An empty
 * value counts as not set. If this version does not support a setting, it refuses to start where running without it
 * would be unsafe (encryption, following), and warns otherwise.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism, homedir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  apiAddress,
  apiKey,
  bindAddress,
  choice,
  databaseUrl,
  decimal,
  filePath,
  flag,
  hexKey,
  hostList,
  integer,
  type Kind,
  modelName,
  nullable,
  originList,
  secret,
  text,
} from './config-kinds.ts';
import { StartRefusal } from './start-refusal.ts';

interface Variable<Value> {
  /** The first name is the documented one; the others are aliases. */
  readonly names: readonly [string, ...string[]];
  readonly kind: Kind<Value>;
  readonly fallback: Value;
  /** The default in words, if its value is not clear by itself. */
  readonly shown?: string;
  readonly about: string;
}

function variable<Value>(
  names: string,
  kind: Kind<Value>,
  fallback: NoInfer<Value>,
  about: string,
  shown?: string,
): Variable<Value> {
  const [first = names, ...others] = names.split(' ');
  return { names: [first, ...others], kind, fallback, about, ...(shown === undefined ? {} : { shown }) };
}

const day = 86_400_000;

/** The bootstrap password if SERVICE_ADMIN_PASS is not set: it is public. */
export const defaultAdminPassword = 'corollary-admin';

const defaultOrigins = ['http://localhost:3000', 'http://localhost:5173', 'http://localhost:8080'];

const variables = {
  port: variable('PORT', integer(0, 65_535), 9300, 'Port of the HTTP API; 0 takes any free one'),
  host: variable(
    'HOST',
    bindAddress,
    '127.0.0.1',
    'Address to listen on',
    '127.0.0.1; 0.0.0.0 if API_KEY or AUTH_ENABLED is set',
  ),
  storageDir: variable(
    'STORAGE_DIR',
    nullable(filePath),
    null,
    'Folder of the log and its snapshots',
    './data if it already contains knowledge, else a folder of the user: docs/command-line.md',
  ),
  storeUrl: variable(
    'STORE_URL',
    nullable(databaseUrl),
    null,
    'A PostgreSQL database that keeps the log and its snapshots: docs/how-to/postgresql.md. STORAGE_DIR, if it is set, then only keeps journals',
    'none: STORAGE_DIR keeps them',
  ),
  storeUrlFile: variable(
    'STORE_URL_FILE',
    nullable(filePath),
    null,
    'File that contains STORE_URL, so that it does not appear in the environment',
    'none',
  ),
  nodeAddress: variable(
    'NODE_ADDRESS',
    nullable(apiAddress),
    null,
    'With STORE_URL: where the other nodes reach this one',
    'the address that this one listens on',
  ),
  nodeSecretFile: variable(
    'NODE_SECRET_FILE',
    nullable(filePath),
    null,
    'With STORE_URL: file with a secret that all nodes share, at least 32 characters; with it, nodes forward writes to the one that has the log',
    'none: only the node that has the log takes writes',
  ),
  staleReadsMs: variable(
    'STALE_READS_MS',
    integer(1000, day),
    60_000,
    'With STORE_URL: how old the knowledge may be that a node shows while it cannot reach PostgreSQL; then it answers 503',
  ),
  copies: variable(
    'COPIES',
    integer(1, 100),
    2,
    'With STORE_URL: how many nodes have each database, its owner among them; the node that has the catalogue decides',
  ),
  fsync: variable(
    'FSYNC',
    choice(['always', 'interval', 'never']),
    'always',
    'When the log is synced; interval: at most 100 ms may be lost',
  ),
  snapshotIntervalMs: variable(
    'SNAPSHOT_INTERVAL_MS',
    integer(1000, 30 * day),
    300_000,
    'Time between snapshots',
  ),
  historyDays: variable(
    'HISTORY_DAYS',
    integer(0, 36_500),
    30,
    'For how many days the past can be asked; 0: only what the log holds anyway',
  ),
  memoryBudgetBytes: variable(
    'MEMORY_BUDGET_BYTES',
    nullable(integer(1_048_576, 2 ** 50)),
    null,
    'Memory for derived tables',
    'a quarter of the memory there is',
  ),
  memoryLimitBytes: variable(
    'MEMORY_LIMIT_BYTES',
    nullable(integer(16_777_216, 2 ** 50)),
    null,
    'Resident memory at which no more knowledge is stored: 507',
    'four fifths of the memory there is',
  ),
  questionMemoryBytes: variable(
    'QUESTION_MEMORY_BYTES',
    nullable(integer(1_048_576, 2 ** 50)),
    null,
    'Memory that one question may take for what it builds',
    'a quarter of MEMORY_BUDGET_BYTES',
  ),
  reasoningThreads: variable(
    'REASONING_THREADS',
    integer(0, 64),
    availableParallelism() > 1 ? 1 : 0,
    'Threads to which questions move that take long; 0: all are answered on the thread that serves',
    '1 with two processors or more, else 0',
  ),
  memoryDecayIntervalMs: variable(
    'MEMORY_DECAY_INTERVAL_MS',
    nullable(integer(1000, 365 * day)),
    null,
    'Runs decay by the clock',
    'off',
  ),
  maxRequestBodyBytes: variable(
    'MAX_REQUEST_BODY_BYTES',
    integer(1024, 1_073_741_824),
    10_485_760,
    'Largest body of a request',
  ),
  rateLimitPerMinute: variable(
    'RATE_LIMIT_PER_MINUTE',
    nullable(integer(1, 1_000_000_000)),
    null,
    'Requests a minute for each credential, else address; health is exempt',
    'off',
  ),
  apiKey: variable(
    'API_KEY',
    nullable(apiKey),
    null,
    'One admin key, sent as Authorization: Bearer or X-API-Key; if only this is set, every call needs it',
    'none: open',
  ),
  authEnabled: variable('AUTH_ENABLED', flag, false, 'Keys with roles and restrictions'),
  serviceAdminUser: variable('SERVICE_ADMIN_USER', text, 'admin', 'User name of the bootstrap'),
  serviceAdminPass: variable(
    'SERVICE_ADMIN_PASS',
    secret(text),
    defaultAdminPassword,
    'Password of the bootstrap',
  ),
  apiKeyDefaultExpiryDays: variable(
    'API_KEY_DEFAULT_EXPIRY_DAYS',
    nullable(decimal(0.000_001, 36_500)),
    null,
    'Default lifetime of a key',
    'never ends',
  ),
  encryptionKey: variable('ENCRYPTION_KEY', nullable(hexKey), null, 'Encrypts log and snapshots', 'none'),
  newEncryptionKey: variable(
    'NEW_ENCRYPTION_KEY',
    nullable(hexKey),
    null,
    'What --rekey encrypts the folder with',
    'none',
  ),
  tlsEnabled: variable('TLS_ENABLED', flag, false, 'HTTPS on TLS_PORT; PORT then serves loopback only'),
  tlsPort: variable('TLS_PORT', integer(0, 65_535), 9443, 'Port of HTTPS; 0 takes any free one'),
  tlsKeystorePath: variable(
    'TLS_KEYSTORE_PATH',
    nullable(filePath),
    null,
    'PKCS12 or JKS file with key and certificate',
    'none',
  ),
  tlsKeystorePassword: variable(
    'TLS_KEYSTORE_PASSWORD',
    nullable(secret(text)),
    null,
    'Password of that file',
    'none',
  ),
  corsAllowedOrigins: variable(
    'CORS_ALLOWED_ORIGINS',
    originList,
    defaultOrigins,
    'Web pages of other origins that may call the service',
  ),
  allowedHosts: variable(
    'ALLOWED_HOSTS',
    hostList,
    [],
    'Names by which the service may be called where the Host header is checked: over loopback besides the loopback names, elsewhere while authentication is off, besides IP addresses',
    'none',
  ),
  endpointFile: variable(
    'COROLLARY_ENDPOINT_FILE',
    nullable(filePath),
    null,
    'File that contains the address of the running service',
    'endpoint.json in the per-user state folder',
  ),
  warmUp: variable(
    'WARM_UP',
    flag,
    true,
    'Whether an idle service warms up after its start: it compiles the most frequent requests, with a second of CPU time',
  ),
  logLevel: variable(
    'LOG_LEVEL',
    choice(['DEBUG', 'INFO', 'WARN', 'ERROR']),
    'INFO',
    'Minimum level of the log',
  ),
  logFormat: variable(
    'LOG_FORMAT',
    nullable(choice(['json', 'plain'])),
    null,
    'Format of a log line',
    'json; plain in a terminal',
  ),
  mcpTools: variable(
    'MCP_TOOLS',
    choice(['short', 'all']),
    'short',
    'Which fields of its tools MCP lists; all: also the rarely used ones, which are always accepted',
  ),
  anthropicApiKey: variable(
    'LLM_PROVIDER_A_API_KEY ANTHROPIC_API_KEY',
    nullable(apiKey),
    null,
    'Key for Anthropic',
    'none',
  ),
  openaiApiKey: variable(
    'LLM_PROVIDER_B_API_KEY OPENAI_API_KEY',
    nullable(apiKey),
    null,
    'Key for OpenAI',
    'none',
  ),
  googleApiKey: variable(
    'LLM_PROVIDER_C_API_KEY GEMINI_API_KEY',
    nullable(apiKey),
    null,
    'Key for Google',
    'none',
  ),
  localLlmBaseUrl: variable(
    'LOCAL_LLM_BASE_URL',
    nullable(apiAddress),
    null,
    'An OpenAI-compatible address, such as that of Ollama; takes precedence over other providers',
    'none',
  ),
  llmBaseUrl: variable(
    'LLM_BASE_URL',
    nullable(apiAddress),
    null,
    'Replaces the address of a hosted provider; without a path, the usual one is added',
    'none',
  ),
  extractionEnabled: variable('EXTRACTION_ENABLED', flag, false, 'Whether text may be sent to a provider'),
  llmModel: variable(
    'LLM_MODEL',
    nullable(modelName),
    null,
    'Model to use',
    'claude-haiku-4-5 of Anthropic, gpt-4.1-mini of OpenAI, gemini-flash-latest of Google, what a local address has',
  ),
  llmTemperature: variable(
    'LLM_TEMPERATURE',
    decimal(0, 2),
    0.1,
    'Temperature of the model, if it takes one',
  ),
  llmTimeoutMs: variable(
    'LLM_TIMEOUT_MS',
    integer(100, 3_600_000),
    30_000,
    'Time limit of a provider for one question, all attempts together',
  ),
  embeddingsBaseUrl: variable(
    'EMBEDDINGS_BASE_URL',
    nullable(apiAddress),
    null,
    'An OpenAI-compatible address whose /embeddings find facts by meaning; it is sent the facts. Without a path, /v1 is added',
    'none',
  ),
  embeddingsModel: variable('EMBEDDINGS_MODEL', nullable(modelName), null, 'Its model', 'none'),
  embeddingsApiKey: variable('EMBEDDINGS_API_KEY', nullable(apiKey), null, 'Its key', 'none'),
  embeddingsMinScore: variable(
    'EMBEDDINGS_MIN_SCORE',
    decimal(0, 1),
    0.5,
    'The least cosine with a text of a fact that means something similar',
  ),
  replicationMode: variable(
    'REPLICATION_MODE',
    choice(['LEADER', 'FOLLOWER']),
    'LEADER',
    'Whether this service takes writes or follows another (deprecated: use STORE_URL)',
  ),
  leaderUrl: variable(
    'LEADER_URL',
    nullable(apiAddress),
    null,
    'Address of the leader that a follower follows',
    'none',
  ),
  replicationPollIntervalMs: variable(
    'REPLICATION_POLL_INTERVAL_MS',
    nullable(integer(10, day)),
    null,
    'How often a follower polls its leader',
    '5000',
  ),
  replicationApiKey: variable(
    'REPLICATION_API_KEY',
    nullable(apiKey),
    null,
    'Key with which a follower calls its leader',
    'none',
  ),
} as const satisfies Record<string, Variable<never> | Variable<unknown>>;

type Variables = typeof variables;

/** Every setting, with the type that its variable parses to. */
export type Config = {
  readonly [Name in keyof Variables]: Variables[Name] extends Variable<infer Value> ? Value : never;
} & {
  /** What the file of NODE_SECRET_FILE contains; null: there is none. */
  readonly nodeSecret: string | null;
};

export type Environment = Readonly<Record<string, string | undefined>>;

/** Defaults of a host program, used if the environment does not set them. */
export type Defaults = Partial<Pick<Config, 'host' | 'storageDir' | 'endpointFile' | 'port'>>;

interface Setting {
  name: string;
  text: string;
}

function settingOf(names: readonly string[], environment: Environment): Setting | null {
  for (const name of names) {
    const value = environment[name];
    if (value !== undefined && value !== '') return { name, text: value };
  }
  return null;
}

/**
 * Reads the environment. Refuses with a StartRefusal of kind `configuration` that has one line for each bad value or
 * combination.
 */
export function parseConfig(environment: Environment, defaults: Defaults = {}): Config {
  const complaints: string[] = [];
  const entries = Object.entries<Variable<unknown>>(variables).map(([name, spec]): [string, unknown] => {
    const setting = settingOf(spec.names, environment);
    if (setting === null) return [name, name in defaults ? defaults[name as keyof Defaults] : spec.fallback];
    const value = spec.kind.read(setting.text);
    if (value === undefined) {
      const got = spec.kind.secret ? `${setting.text.length} characters` : shownValue(setting.text);
      complaints.push(`${setting.name}: got ${got}, takes ${spec.kind.takes}`);
    }
    return [name, value];
  });
  if (complaints.length > 0) throw new StartRefusal('configuration', complaints.join('\n'));
  const given = Object.fromEntries(entries) as Config;
  const config = {
    ...given,
    storeUrl: given.storeUrl ?? urlIn(given.storeUrlFile, complaints),
    nodeSecret: isInStore(given) ? secretIn(given.nodeSecretFile, complaints) : null,
  };
  complaints.push(...contradictions(given));
  if (complaints.length > 0) throw new StartRefusal('configuration', complaints.join('\n'));
  const isFolderGiven = settingOf(variables.storageDir.names, environment) !== null;
  const isHostGiven = settingOf(variables.host.names, environment) !== null || defaults.host !== undefined;
  return {
    ...config,
    // Nothing on disk is needed beside a store, so nothing is used unless it is named.
    storageDir: config.storeUrl === null || isFolderGiven ? config.storageDir : null,
    host: isHostGiven ? config.host : defaultHost(config),
    endpointFile: config.endpointFile ?? join(stateFolder(environment), 'endpoint.json'),
  };
}

/**
 * Without authentication the service is open to everyone who can reach it, so it listens on the network only if told
 * to.
 */
function defaultHost({ apiKey: key, authEnabled }: Config): string {
  return key === null && !authEnabled ? '127.0.0.1' : '0.0.0.0';
}

/** As given, without the part before the host of an address, which may contain a password. */
function shownValue(text: string): string {
  return JSON.stringify(text.replace(/\/\/[^/]*@/, '//...@'));
}

/** The address in the file; null: there is none, and a complaint if there should be. */
function urlIn(file: string | null, complaints: string[]): string | null {
  if (file === null) return null;
  try {
    const url = databaseUrl.read(readFileSync(file, 'utf8').trim());
    if (url !== undefined) return url;
    complaints.push(`STORE_URL_FILE: the file ${shownValue(file)} takes ${databaseUrl.takes}`);
  } catch (error) {
    const { code = 'an error' } = error as NodeJS.ErrnoException;
    complaints.push(`STORE_URL_FILE: got ${shownValue(file)}, which cannot be read (${code})`);
  }
  return null;
}

/** Fewest characters of a secret that is not to be guessed. */
const MIN_SECRET = 32;

/** The secret in the file; null: there is none, and a complaint if there should be. */
function secretIn(file: string | null, complaints: string[]): string | null {
  if (file === null) return null;
  try {
    const found = readFileSync(file, 'utf8').trim();
    if (found.length >= MIN_SECRET) return found;
    complaints.push(
      `NODE_SECRET_FILE: the file ${shownValue(file)} has ${found.length} characters, takes at least ${MIN_SECRET}`,
    );
  } catch (error) {
    const { code = 'an error' } = error as NodeJS.ErrnoException;
    complaints.push(`NODE_SECRET_FILE: got ${shownValue(file)}, which cannot be read (${code})`);
  }
  return null;
}

function isInStore({ storeUrl, storeUrlFile }: Pick<Config, 'storeUrl' | 'storeUrlFile'>): boolean {
  return storeUrl !== null || storeUrlFile !== null;
}

function contradictions(config: Config): string[] {
  const complaints: string[] = [];
  if (config.storeUrl !== null && config.storeUrlFile !== null)
    complaints.push('STORE_URL_FILE: got a file beside STORE_URL; set one of them');
  for (const [name, value] of [
    ['NODE_ADDRESS', config.nodeAddress],
    ['NODE_SECRET_FILE', config.nodeSecretFile],
  ] as const)
    if (!isInStore(config) && value !== null)
      complaints.push(`${name}: got ${shownValue(value)}, and only nodes of a store have one; set STORE_URL`);
  if (isInStore(config) && config.replicationMode === 'FOLLOWER')
    complaints.push(
      'STORE_URL: got an address, and a follower keeps its log in STORAGE_DIR; set one of them',
    );
  if (config.replicationMode === 'FOLLOWER' && config.leaderUrl === null)
    complaints.push(
      'LEADER_URL: got nothing, takes the address of the leader when REPLICATION_MODE=FOLLOWER',
    );
  const { embeddingsBaseUrl, embeddingsModel } = config;
  if ((embeddingsBaseUrl === null) !== (embeddingsModel === null)) {
    const [lacking, given] =
      embeddingsModel === null
        ? ['EMBEDDINGS_MODEL', 'EMBEDDINGS_BASE_URL']
        : ['EMBEDDINGS_BASE_URL', 'EMBEDDINGS_MODEL'];
    complaints.push(`${lacking}: got nothing, and is needed beside ${given}`);
  }
  if (config.tlsEnabled && config.tlsKeystorePath === null)
    complaints.push('TLS_KEYSTORE_PATH: got nothing, takes a PKCS12 or JKS file when TLS_ENABLED=true');
  if (config.tlsEnabled && config.tlsPort !== 0 && config.tlsPort === config.port)
    complaints.push(`TLS_PORT: got ${config.tlsPort}, the same as PORT; use another one`);
  return complaints;
}

/** The per-user folder of files by which other programs find a running service. */
export function stateFolder(environment: Environment, platform: NodeJS.Platform = process.platform): string {
  const home = homedir();
  if (platform === 'win32')
    return join(environment['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), 'corollary');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'corollary');
  return join(environment['XDG_STATE_HOME'] ?? join(home, '.local', 'state'), 'corollary');
}

/** Secrets without which the service would be a different one, or open to everyone. */
const protecting: readonly string[] = [
  'API_KEY',
  'SERVICE_ADMIN_PASS',
  'ENCRYPTION_KEY',
  'STORE_URL',
  'TLS_KEYSTORE_PASSWORD',
];

/** What to set to start the service again as it was, and which secrets were set. */
export interface RepeatableSettings {
  readonly environment: Readonly<Record<string, string>>;
  readonly needs: readonly string[];
  readonly lacks: readonly string[];
}

/** The settings of an environment by their documented names: secrets by name only, paths absolute. */
export function repeatableSettings(environment: Environment): RepeatableSettings {
  const plain: Record<string, string> = {};
  const secrets: string[] = [];
  for (const spec of Object.values<Variable<unknown>>(variables)) {
    const setting = settingOf(spec.names, environment);
    if (setting === null) continue;
    const [name] = spec.names;
    // The part before the host of an address may contain a password.
    if (spec.kind.secret || /\/\/[^/]*@/.test(setting.text)) secrets.push(setting.name);
    else plain[name] = isPath(spec.kind) ? resolve(setting.text) : setting.text;
  }
  return {
    environment: plain,
    needs: secrets.filter((name) => protecting.includes(name)),
    lacks: secrets.filter((name) => !protecting.includes(name)),
  };
}

function isPath(kind: Kind<unknown>): boolean {
  return kind.read === filePath.read;
}

/** Every name of a variable of the service, aliases included. */
export function variableNames(): readonly string[] {
  return Object.values<Variable<unknown>>(variables).flatMap(({ names }) => names);
}

/** The path of the endpoint file alone, for commands that only look for a running service. */
export function endpointFileOf(environment: Environment): string {
  const setting = settingOf(variables.endpointFile.names, environment);
  return setting?.text ?? join(stateFolder(environment), 'endpoint.json');
}

/** Describes all variables, the values they take and their defaults, for `--help`. */
export function describeVariables(): string {
  return Object.values<Variable<unknown>>(variables)
    .map((spec) => {
      const [name, ...others] = spec.names;
      const also = others.length === 0 ? '' : ` (also ${others.join(', ')})`;
      return `  ${name}${also}\n      ${spec.about}.\n      Takes ${spec.kind.takes}; default: ${shownDefault(spec)}`;
    })
    .join('\n');
}

function shownDefault(spec: Variable<unknown>): string {
  if (spec.shown !== undefined) return spec.shown;
  return Array.isArray(spec.fallback) ? spec.fallback.join(',') : String(spec.fallback);
}

/** Where the log is: the folder, or servers and database of the store, without user and password; null: in memory. */
export function storagePlaceOf({
  storageDir,
  storeUrl,
}: Pick<Config, 'storageDir' | 'storeUrl'>): string | null {
  if (storeUrl === null) return storageDir === null ? null : resolve(storageDir);
  // It may name several hosts, with ports, which no URL can.
  const [, hosts = '', database = ''] = /^\w+:\/\/(?:[^/?]*@)?([^/?]*)([^?]*)/s.exec(storeUrl) ?? [];
  return `PostgreSQL ${hosts}${database}`;
}
