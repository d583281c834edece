import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  describeVariables,
  endpointFileOf,
  type Environment,
  parseConfig,
  stateFolder,
  storagePlaceOf,
} from './config.ts';
import { StartRefusal } from './start-refusal.ts';

function refusal(environment: Environment): string {
  try {
    parseConfig(environment);
  } catch (error) {
    if (error instanceof StartRefusal && error.kind === 'configuration') return error.message;
    throw error;
  }
  throw new Error('the configuration was taken');
}

describe('the configuration', () => {
  it('has the defaults of the contract', () => {
    expect(parseConfig({})).toMatchObject({
      port: 9300,
      host: '127.0.0.1',
      apiKey: null,
      authEnabled: false,
      serviceAdminUser: 'admin',
      encryptionKey: null,
      tlsEnabled: false,
      tlsPort: 9443,
      corsAllowedOrigins: ['http://localhost:3000', 'http://localhost:5173', 'http://localhost:8080'],
      maxRequestBodyBytes: 10_485_760,
      storageDir: null,
      fsync: 'always',
      snapshotIntervalMs: 300_000,
      allowedHosts: [],
      extractionEnabled: false,
      llmTemperature: 0.1,
      llmTimeoutMs: 30_000,
      replicationMode: 'LEADER',
      logLevel: 'INFO',
      rateLimitPerMinute: null,
    });
  });

  it('uses the defaults of its host program if the environment is empty', () => {
    const defaults = { host: '127.0.0.1', storageDir: '/somewhere', port: 9301 };
    expect(parseConfig({}, defaults)).toMatchObject(defaults);
    expect(parseConfig({ HOST: '0.0.0.0', PORT: '1' }, defaults)).toMatchObject({ host: '0.0.0.0', port: 1 });
  });

  it('listens beyond loopback only with authentication or an explicit HOST', () => {
    expect(parseConfig({ API_KEY: 'k'.repeat(20) }).host).toBe('0.0.0.0');
    expect(parseConfig({ AUTH_ENABLED: 'true' }).host).toBe('0.0.0.0');
    expect(parseConfig({ AUTH_ENABLED: 'true' }, { host: '127.0.0.1' }).host).toBe('127.0.0.1');
    expect(parseConfig({ AUTH_ENABLED: 'true', HOST: '10.0.0.1' }).host).toBe('10.0.0.1');
    expect(parseConfig({ HOST: '0.0.0.0' }).host).toBe('0.0.0.0');
  });

  it('treats an empty value as unset', () => {
    expect(parseConfig({ PORT: '', API_KEY: '' })).toMatchObject({ port: 9300, apiKey: null });
  });

  it('reads a provider key by either of its names', () => {
    expect(parseConfig({ ANTHROPIC_API_KEY: 'k1' }).anthropicApiKey).toBe('k1');
    expect(parseConfig({ LLM_PROVIDER_A_API_KEY: 'k2', ANTHROPIC_API_KEY: 'k1' }).anthropicApiKey).toBe('k2');
  });

  it.each([
    ['PORT', '80a'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '1e3'],
    ['HOST', 'two words'],
    ['FSYNC', 'ALWAYS'],
    ['AUTH_ENABLED', 'yes'],
    ['AUTH_ENABLED', 'TRUE'],
    ['MAX_REQUEST_BODY_BYTES', '10MB'],
    ['SNAPSHOT_INTERVAL_MS', '0'],
    ['LOG_LEVEL', 'info'],
    ['LOG_FORMAT', 'xml'],
    ['CORS_ALLOWED_ORIGINS', 'http://a.example,*'],
    ['CORS_ALLOWED_ORIGINS', 'http://a.example/path'],
    ['CORS_ALLOWED_ORIGINS', 'a.example'],
    ['ALLOWED_HOSTS', 'http://a.example'],
    ['LEADER_URL', 'ftp://a.example'],
    ['LLM_TEMPERATURE', '3'],
    ['LOCAL_LLM_BASE_URL', 'localhost'],
    ['LLM_BASE_URL', 'https://a.example/v1#x'],
    ['LLM_MODEL', 'two words'],
    ['REPLICATION_MODE', 'leader'],
    ['RATE_LIMIT_PER_MINUTE', '0'],
    ['MEMORY_BUDGET_BYTES', '1GB'],
    ['QUESTION_MEMORY_BYTES', '0'],
  ])('rejects a bad %s and reports its name, its value (%j) and the accepted ones', (name, value) => {
    expect(refusal({ [name]: value })).toMatch(
      new RegExp(`^${name}: got ${JSON.stringify(value).replace(/[*.]/g, '\\$&')}, takes .+$`),
    );
  });

  it.each([
    ['API_KEY', 'with a space'],
    ['ENCRYPTION_KEY', 'abc123'],
    ['ANTHROPIC_API_KEY', 'caf\u00e9-secret'],
    ['REPLICATION_API_KEY', 'a b'],
  ])('reports only the length of a bad %s', (name, value) => {
    const message = refusal({ [name]: value });
    expect(message).toContain(`${name}: got ${value.length} characters, takes `);
    expect(message).not.toContain(value);
  });

  it.each([
    ['63', 'a'.repeat(63)],
    ['65', 'a'.repeat(65)],
    ['64 that are not hexadecimal', `${'a'.repeat(63)}g`],
    ['64 and a line feed', `${'a'.repeat(64)}\n`],
  ])(
    'rejects an ENCRYPTION_KEY of %s characters and accepts 64 hexadecimal digits in either case',
    (_, value) => {
      expect(refusal({ ENCRYPTION_KEY: value })).toContain(`ENCRYPTION_KEY: got ${value.length} characters`);
      for (const key of ['aB'.repeat(32), '0'.repeat(64)])
        expect(parseConfig({ ENCRYPTION_KEY: key }).encryptionKey).toBe(key);
    },
  );

  it('does not print the credentials in an address', () => {
    const message = refusal({ LOCAL_LLM_BASE_URL: 'http://user:pa@ss@127.0.0.1:1234/v1' });
    expect(message).toContain('got "http://...@127.0.0.1:1234/v1"');
  });

  it('reports every bad value at once', () => {
    expect(refusal({ PORT: 'x', FSYNC: 'y' }).split('\n')).toHaveLength(2);
  });

  it.each([
    [{ REPLICATION_MODE: 'FOLLOWER' }, 'LEADER_URL'],
    [{ LEADER_URL: 'http://user:password@a.example' }, 'LEADER_URL'],
    [{ STORE_URL: 'postgres://a/b', STORE_URL_FILE: '/url' }, 'STORE_URL_FILE'],
    [
      { STORE_URL: 'postgres://a/b', REPLICATION_MODE: 'FOLLOWER', LEADER_URL: 'http://a.example' },
      'STORE_URL',
    ],
    [{ STORE_URL: 'mysql://a/b' }, 'STORE_URL'],
    [{ STORE_URL: 'mysql://a:1,b:2/c' }, 'STORE_URL'],
    [{ NODE_ADDRESS: 'http://a.example:9300' }, 'NODE_ADDRESS'],
    [{ NODE_SECRET_FILE: '/secret' }, 'NODE_SECRET_FILE'],
    [{ NODE_SECRET_FILE: '/secret', STORE_URL: 'postgres://a/b' }, 'NODE_SECRET_FILE'],
    [{ TLS_ENABLED: 'true' }, 'TLS_KEYSTORE_PATH'],
    [{ TLS_ENABLED: 'true', TLS_KEYSTORE_PATH: '/k.p12', TLS_PORT: '9300' }, 'TLS_PORT'],
  ])('rejects a setting that it cannot honour: %j', (environment, name) => {
    expect(refusal(environment)).toMatch(new RegExp(`^${name}: `, 'm'));
  });

  it('reads the address of a store from a file, refuses other contents, and needs no folder beside it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'corollary-config-'));
    const file = join(folder, 'url');
    await writeFile(file, 'postgres://user:secret@db.example/store\n');
    const several = 'postgres://u:p@a:1,b:2/c';
    expect(parseConfig({ STORE_URL: several }).storeUrl).toBe(several);
    const config = parseConfig({ STORE_URL_FILE: file }, { storageDir: '/somewhere' });
    expect(config).toMatchObject({ storeUrl: 'postgres://user:secret@db.example/store', storageDir: null });
    expect(parseConfig({ STORE_URL_FILE: file, STORAGE_DIR: '/data' }).storageDir).toBe('/data');
    await writeFile(file, 'secret');
    const message = refusal({ STORE_URL_FILE: file });
    expect(message).toMatch(/^STORE_URL_FILE: the file ".+" takes postgres:/);
    expect(message).not.toContain('secret');
    await rm(folder, { recursive: true });
  });

  it.each([
    [{ storageDir: null, storeUrl: null }, null],
    [{ storageDir: '/data/./a', storeUrl: null }, '/data/a'],
    [
      { storageDir: null, storeUrl: 'postgres://user:secret@db:5433/store?sslmode=require' },
      'PostgreSQL db:5433/store',
    ],
    [{ storageDir: null, storeUrl: 'postgres://user:p%40ss@a:1,b:2/c' }, 'PostgreSQL a:1,b:2/c'],
    [{ storageDir: null, storeUrl: 'postgresql:///store?host=/run/postgresql' }, 'PostgreSQL /store'],
  ])('says where the log is, without user and password: %j', (config, place) => {
    expect(storagePlaceOf(config)).toBe(place);
  });

  it('describes the accepted values of every variable of the contract', () => {
    const text = describeVariables();
    for (const name of contractVariables) expect(text).toMatch(new RegExp(`^  ${name}( |$)`, 'm'));
    expect(text).toContain('default: 10485760');
  });
});

/** What `--help` says of each variable. */
const described = describeVariables()
  .split(/\n(?= {2}\S)/)
  .map((block) => {
    const [, name = '', also = '', takes = '', fallback = ''] =
      /^ {2}([A-Z_]+)(?: \(also ([A-Z_, ]+)\))?\n {6}.+\n {6}Takes (.+); default: (.+)$/.exec(block) ?? [];
    return { name, also, takes, fallback };
  });

describe('--help', () => {
  it('lists exactly the variables of the contract', () => {
    expect(described.map(({ name }) => name).toSorted()).toEqual(contractVariables.toSorted());
    const others = described.flatMap(({ also }) => (also === '' ? [] : [also]));
    expect(others).toEqual(['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY']);
  });

  it.each([
    ['PORT', '9300'],
    ['HOST', '127.0.0.1; 0.0.0.0 if API_KEY or AUTH_ENABLED is set'],
    ['API_KEY', 'none: open'],
    ['AUTH_ENABLED', 'false'],
    ['SERVICE_ADMIN_USER', 'admin'],
    ['SERVICE_ADMIN_PASS', 'corollary-admin'],
    ['API_KEY_DEFAULT_EXPIRY_DAYS', 'never ends'],
    ['ENCRYPTION_KEY', 'none'],
    ['TLS_ENABLED', 'false'],
    ['TLS_PORT', '9443'],
    ['CORS_ALLOWED_ORIGINS', 'http://localhost:3000,http://localhost:5173,http://localhost:8080'],
    ['MAX_REQUEST_BODY_BYTES', '10485760'],
    [
      'STORAGE_DIR',
      './data if it already contains knowledge, else a folder of the user: docs/command-line.md',
    ],
    ['FSYNC', 'always'],
    ['SNAPSHOT_INTERVAL_MS', '300000'],
    ['ALLOWED_HOSTS', 'none'],
    ['MEMORY_BUDGET_BYTES', 'a quarter of the memory there is'],
    ['QUESTION_MEMORY_BYTES', 'a quarter of MEMORY_BUDGET_BYTES'],
    ['MEMORY_DECAY_INTERVAL_MS', 'off'],
    ['COROLLARY_ENDPOINT_FILE', 'endpoint.json in the per-user state folder'],
    ['MCP_TOOLS', 'short'],
    ['EXTRACTION_ENABLED', 'false'],
    ['LLM_TEMPERATURE', '0.1'],
    ['LLM_TIMEOUT_MS', '30000'],
    ['REPLICATION_MODE', 'LEADER'],
    ['REPLICATION_POLL_INTERVAL_MS', '5000'],
    ['LOG_LEVEL', 'INFO'],
    ['LOG_FORMAT', 'json; plain in a terminal'],
    ['RATE_LIMIT_PER_MINUTE', 'off'],
  ])('states the default of %s: %s', (name, fallback) => {
    expect(described.find((variable) => variable.name === name)?.fallback).toBe(fallback);
  });
});

describe('a bad value of any variable', () => {
  const bad = 'no value \u0001 of any kind';
  const free = ['text', 'a path'];

  it.each(described)('refuses the start and says that $name takes $takes', ({ name, also, takes }) => {
    if (name === 'NODE_SECRET_FILE') {
      expect(refusal({ [name]: bad, STORE_URL: 'postgres://a/b' })).toMatch(
        /^NODE_SECRET_FILE: got ".+", which cannot be read \(ENOENT\)$/,
      );
      return;
    }
    if (name === 'STORE_URL_FILE') {
      expect(refusal({ [name]: bad })).toMatch(/^STORE_URL_FILE: got ".+", which cannot be read \(ENOENT\)$/);
      return;
    }
    if (free.includes(takes)) {
      expect(parseConfig({ [name]: bad })).toBeDefined();
      return;
    }
    for (const given of [name, ...(also === '' ? [] : [also])]) {
      const message = refusal({ [given]: bad });
      const isSecret = /(?:KEY|PASS|PASSWORD|STORE_URL)$/.test(given);
      const got = isSecret ? `${bad.length} characters` : JSON.stringify(bad);
      expect(message).toBe(`${given}: got ${got}, takes ${takes}`);
    }
  });

  it('does not exist for these variables, which accept any text', () => {
    expect(described.filter(({ takes }) => free.includes(takes)).map(({ name }) => name)).toEqual([
      'STORAGE_DIR',
      'STORE_URL_FILE',
      'NODE_SECRET_FILE',
      'SERVICE_ADMIN_USER',
      'SERVICE_ADMIN_PASS',
      'TLS_KEYSTORE_PATH',
      'TLS_KEYSTORE_PASSWORD',
      'COROLLARY_ENDPOINT_FILE',
    ]);
  });
});

describe('the endpoint file', () => {
  it('is in the per-user state folder of the platform', () => {
    expect(stateFolder({ XDG_STATE_HOME: '/state' }, 'linux')).toBe('/state/corollary');
    expect(stateFolder({}, 'linux')).toBe(join(homedir(), '.local/state/corollary'));
    expect(stateFolder({}, 'darwin')).toBe(join(homedir(), 'Library/Application Support/corollary'));
    expect(stateFolder({ LOCALAPPDATA: '/local' }, 'win32')).toBe(join('/local', 'corollary'));
  });

  it('is at COROLLARY_ENDPOINT_FILE if that is set, for the service and its clients', () => {
    const environment = { COROLLARY_ENDPOINT_FILE: '/x/here.json' };
    expect(parseConfig(environment).endpointFile).toBe('/x/here.json');
    expect(endpointFileOf(environment)).toBe('/x/here.json');
    expect(endpointFileOf({ XDG_STATE_HOME: '/s' })).toBe('/s/corollary/endpoint.json');
  });
});

const contractVariables = [
  'PORT',
  'HISTORY_DAYS',
  'HOST',
  'API_KEY',
  'AUTH_ENABLED',
  'SERVICE_ADMIN_USER',
  'SERVICE_ADMIN_PASS',
  'API_KEY_DEFAULT_EXPIRY_DAYS',
  'ENCRYPTION_KEY',
  'NEW_ENCRYPTION_KEY',
  'TLS_ENABLED',
  'TLS_PORT',
  'TLS_KEYSTORE_PATH',
  'TLS_KEYSTORE_PASSWORD',
  'CORS_ALLOWED_ORIGINS',
  'MAX_REQUEST_BODY_BYTES',
  'STORAGE_DIR',
  'WARM_UP',
  'FSYNC',
  'SNAPSHOT_INTERVAL_MS',
  'ALLOWED_HOSTS',
  'MEMORY_BUDGET_BYTES',
  'QUESTION_MEMORY_BYTES',
  'REASONING_THREADS',
  'MEMORY_DECAY_INTERVAL_MS',
  'MEMORY_LIMIT_BYTES',
  'COROLLARY_ENDPOINT_FILE',
  'MCP_TOOLS',
  'LLM_PROVIDER_A_API_KEY',
  'LLM_PROVIDER_B_API_KEY',
  'LLM_PROVIDER_C_API_KEY',
  'LOCAL_LLM_BASE_URL',
  'LLM_BASE_URL',
  'EXTRACTION_ENABLED',
  'EMBEDDINGS_BASE_URL',
  'EMBEDDINGS_MODEL',
  'EMBEDDINGS_API_KEY',
  'EMBEDDINGS_MIN_SCORE',
  'LLM_MODEL',
  'LLM_TEMPERATURE',
  'STORE_URL',
  'STORE_URL_FILE',
  'NODE_ADDRESS',
  'NODE_SECRET_FILE',
  'STALE_READS_MS',
  'COPIES',
  'REPLICATION_MODE',
  'LEADER_URL',
  'REPLICATION_POLL_INTERVAL_MS',
  'REPLICATION_API_KEY',
  'LOG_LEVEL',
  'LOG_FORMAT',
  'LLM_TIMEOUT_MS',
  'RATE_LIMIT_PER_MINUTE',
];
