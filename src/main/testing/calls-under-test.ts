/**
 * For tests: one successful call of every operation of the table, with its prerequisites.
 *
 * Tests of every operation are loops over these. All words of a call come from a `Wording`, so that a test can choose
 * them: each is new, so that calls do not interfere. The service must be one of `startEverythingUnderTest`.
 */
import type { OperationName } from '../../engine/contract/operations.ts';
import type { Answered, ServiceUnderTest } from './service-under-test.ts';

/** The request; `path` with its query string. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The target of calls, and the source of their words. */
export interface Surroundings {
  readonly service: ServiceUnderTest;
  /** Headers of every call: the credential, and database and tenant unless those are the default. */
  readonly headers: Readonly<Record<string, string>>;
  /** An unused name; it is valid wherever a name is. */
  word(): string;
  /** User name and password of the bootstrap. */
  readonly admin: { readonly username: string; readonly password: string };
}

export type AnyAnswer = Answered<Record<string, unknown>>;

/** Makes a call with these headers. */
export function send(at: Surroundings, { method, path, body, headers }: Call): Promise<AnyAnswer> {
  return at.service.call(method, path, body, { headers: { ...at.headers, ...headers } });
}

type Make = (at: Surroundings) => Call | Promise<Call>;

/** The call of each operation, after its prerequisites. Calls of the same operation are independent of one another. */
export const callOf: { readonly [Name in OperationName]: Make } = {
  assertFact: (at) => post('/tell', { ...fact(at), metadata: { source: at.word() }, scope: at.word() }),
  assertFacts: (at) => post('/assert/facts', { facts: [fact(at), fact(at)] }),
  retract: async (at) => post('/retract', await told(at)),
  retractPattern: async (at) => {
    const { predicate } = await told(at);
    return post('/retract/pattern', { predicate, args: ['?x', '?y'] });
  },
  query: async (at) => {
    const { predicate, args } = await told(at);
    return post('/query', { predicate, args: [args[0], '?y'] });
  },
  listFacts: async (at) => ({ method: 'GET', path: `/facts?q=${(await told(at)).args[1]}&limit=10` }),
  getFact: async (at) => ({ method: 'GET', path: `/facts/${await factId(at)}` }),
  factHistory: async (at) => ({ method: 'GET', path: `/facts/${await factId(at)}/history` }),
  history: async (at) => ({ method: 'GET', path: `/history?entity=${(await told(at)).args[0]}` }),
  revert: async (at) => {
    const { generation } = (await made(at, post('/tell', fact(at)))).body;
    return post('/history/revert', { generation });
  },
  deleteFact: async (at) => ({ method: 'DELETE', path: `/facts/${await factId(at)}` }),
  predicateGraph: async (at) => ({
    method: 'GET',
    path: `/predicates/graph?predicate=${(await told(at)).predicate}&arity=2`,
  }),
  listPredicates: () => ({ method: 'GET', path: '/predicates' }),
  entity: async (at) => ({ method: 'GET', path: `/entities/${(await told(at)).args[0]}` }),
  addAlias: async (at) => post('/entities/alias', await aliasOf(at)),
  removeAlias: async (at) => {
    const body = await aliasOf(at);
    await made(at, post('/entities/alias', body));
    return { method: 'DELETE', path: '/entities/alias', body };
  },
  mergeEntities: async (at) => {
    const [from, into] = [(await told(at)).args[0], (await told(at)).args[1]];
    return post('/entities/merge', { from, into: `${into} too` });
  },
  describeEntity: async (at) => post('/entities', { constant: (await told(at)).args[1], infer: true }),
  aggregate: async (at) => {
    const { predicate, args } = await told(at);
    return post('/aggregate', { operation: 'COUNT', predicate, args: [args[0], '?y'], infer: true });
  },
  assertRule: (at) => post('/teach', rule(at)),
  validateRules: (at) => post('/rules/validate', { text: `${rule(at).text}.` }),
  listRules: () => ({ method: 'GET', path: '/rules' }),
  declarePredicate: (at) => ({
    method: 'PUT',
    path: `/predicates/${at.word()}/1`,
    body: { arguments: [{ name: 'first' }] },
  }),
  getPredicate: async (at) => ({ method: 'GET', path: await declaredPath(at) }),
  withdrawPredicate: async (at) => ({ method: 'DELETE', path: await declaredPath(at) }),
  getRule: async (at) => ({ method: 'GET', path: `/rules/${await ruleId(at)}` }),
  updateRule: async (at) => ({
    method: 'PUT',
    path: `/rules/${await ruleId(at)}`,
    body: { description: at.word() },
  }),
  deleteRule: async (at) => ({ method: 'DELETE', path: `/rules/${await ruleId(at)}` }),
  addConstraint: (at) => post('/constraints', constraint(at)),
  listConstraints: () => ({ method: 'GET', path: '/constraints' }),
  updateConstraint: async (at) => ({
    method: 'PUT',
    path: `/constraints/${await constraintId(at)}`,
    body: { description: at.word() },
  }),
  deleteConstraint: async (at) => ({ method: 'DELETE', path: `/constraints/${await constraintId(at)}` }),
  listViolations: async (at) => ({ method: 'GET', path: `/violations?constraint=${await constraintId(at)}` }),
  storeTests: (at) => ({ method: 'PUT', path: '/tests', body: { text: testText(at.word()) } }),
  listTests: async (at) => ({ method: 'GET', path: `/tests?name=${await storedTest(at)}` }),
  runTests: async (at) => post('/tests/run', { names: [await storedTest(at)] }),
  deleteTests: async (at) => ({ method: 'DELETE', path: '/tests', body: { names: [await storedTest(at)] } }),
  ask: async (at) => {
    const { predicate, args } = await told(at);
    return post('/ask', { predicate, args: [args[0], '?y'], withProof: true });
  },
  explain: async (at) => {
    const { predicate, args } = await told(at);
    return post('/explain', { predicate, args: [args[0], at.word()], mode: 'whyNot' });
  },
  whatIf: async (at) => {
    const { predicate, args } = await told(at);
    return post('/whatIf', { assert: [fact(at)], retract: [{ predicate, args }], rules: [rule(at)] });
  },
  plan: async (at) => {
    const { predicate, args } = await told(at);
    return post('/plan', { predicate, args: [args[0], '?y'] });
  },
  trace: async (at) => {
    const { predicate, args } = await told(at);
    return post('/trace', { predicate, args: [args[0], '?y'] });
  },
  historyDiff: async (at) => {
    const body = fact(at);
    const { generation } = (await made(at, post('/tell', body))).body;
    const goals = [{ predicate: body.predicate, args: [body.args[0], '?y'] }];
    return post('/history/diff', { from: generation, to: generation, goals });
  },
  beginTransaction: () => post('/tx/begin'),
  commitTransaction: async (at) => post(`/tx/commit/${await transactionWithWrite(at)}`, {}),
  rollbackTransaction: async (at) => post(`/tx/rollback/${await transactionWithWrite(at)}`),
  listScopes: () => ({ method: 'GET', path: '/scopes' }),
  forkScope: async (at) => post('/scope/fork', { source: await scope(at), target: at.word() }),
  diffScopes: async (at) => post('/scope/diff', { source: await scope(at), target: await scope(at) }),
  mergeScopes: async (at) =>
    post('/scope/merge', { source: await scope(at), target: await scope(at), strategy: 'KEEP_BOTH' }),
  deleteScope: async (at) => ({ method: 'DELETE', path: `/scope/${await scope(at)}` }),
  browseMemory: async (at) => ({
    method: 'GET',
    path: `/memory/context?predicates=${(await told(at)).predicate}`,
  }),
  recall: async (at) => post('/memory/context', { predicates: [(await told(at)).predicate] }),
  search: async (at) => post('/search', { text: (await told(at)).predicate }),
  memoryStats: async (at) => ({ method: 'GET', path: `/memory/stats?scope=${await scope(at)}` }),
  consolidate: async (at) => post('/memory/consolidate', { predicates: [await episodes(at)] }),
  restore: async (at) => {
    const predicate = await episodes(at);
    await made(at, post('/memory/consolidate', { predicates: [predicate] }));
    const { body } = await made(at, { method: 'GET', path: `/facts?predicate=${predicate}_summary` });
    return post('/memory/restore', { id: (body['facts'] as { id: string }[])[0]?.id });
  },
  decay: async (at) => post('/memory/decay', { scope: await scope(at) }),
  optimizeContext: async (at) => {
    const { predicate, args } = await told(at);
    const goals = [{ predicate, args: [args[0], '?y'] }];
    return post('/context/optimize', { goals, sessionId: at.word(), maxFacts: 10 });
  },
  diffContext: async (at) => {
    const { predicate } = await told(at);
    const sessionId = at.word();
    await made(at, post('/context/optimize', { predicates: [predicate], sessionId }));
    return post('/context/diff', { sessionId });
  },
  summarizeContext: async (at) => post('/context/summary', { scope: await scope(at) }),
  clearContextSession: (at) => post('/context/session/clear', { sessionId: at.word() }),
  contextOfTurns: (at) => post('/context', { turns: [statement(at), `About ${at.word()}.`] }),
  ingest: (at) => post('/context/ingest', { text: `${statement(at)}\n${at.word()} was here.` }),
  extract: (at) => post('/extract', { text: `${statement(at)}\n${at.word()} was here.`, assert: true }),
  synthesize: async (at) => post('/synthesize', { question: `What about ${(await told(at)).args[0]}?` }),
  importKnowledge: (at) => ({
    ...post('/import', `${JSON.stringify(fact(at))}\n${JSON.stringify(fact(at))}\n`),
    headers: { 'content-type': 'application/x-ndjson' },
  }),
  listPackages: () => ({ method: 'GET', path: '/packages' }),
  getPackage: async (at) => ({ method: 'GET', path: `/packages/${await packageName(at)}` }),
  applyPackage: (at) => ({
    method: 'PUT',
    path: `/packages/${at.word()}`,
    body: { text: `${statement(at)}\n${rule(at).text}.` },
  }),
  deletePackage: async (at) => ({ method: 'DELETE', path: `/packages/${await packageName(at)}` }),
  undoImport: async (at) => {
    const { body } = await made(at, await callOf.importKnowledge(at));
    return post(`/import/${String(body['id'])}/undo`);
  },
  exportKnowledge: async (at) => ({
    method: 'GET',
    path: `/export?format=csv&predicate=${(await told(at)).predicate}`,
  }),
  listDatabases: () => ({ method: 'GET', path: '/databases' }),
  createDatabase: (at) => post('/databases', { name: at.word() }),
  deleteDatabase: async (at) => ({ method: 'DELETE', path: `/databases/${await database(at)}` }),
  nukeDatabase: async (at) => post(`/admin/databases/${await database(at)}/nuke`),
  listTenants: async (at) => ({ method: 'GET', path: `/admin/databases/${await database(at)}/tenants` }),
  createTenant: async (at) => post(`/admin/databases/${await database(at)}/tenants`, { name: at.word() }),
  deleteTenant: async (at) => ({ method: 'DELETE', path: await tenant(at) }),
  nukeTenant: async (at) => post(`${await tenant(at)}/nuke`),
  forgetEntity: async (at) => {
    const [, , , inDatabase, , name] = (await tenant(at)).split('/');
    return post('/admin/forget', { database: inDatabase, tenant: name, entity: at.word() });
  },
  databaseQuota: async (at) => ({ method: 'GET', path: `/admin/databases/${await database(at)}/quota` }),
  setDatabaseQuota: async (at) => ({
    method: 'PUT',
    path: `/admin/databases/${await database(at)}/quota`,
    body: { facts: 1000 },
  }),
  tenantQuota: async (at) => ({ method: 'GET', path: `${await tenant(at)}/quota` }),
  setTenantQuota: async (at) => ({ method: 'PUT', path: `${await tenant(at)}/quota`, body: { bytes: 1000 } }),
  authenticationStatus: () => ({ method: 'GET', path: '/auth/status' }),
  bootstrap: ({ admin }) => post('/auth/bootstrap', admin),
  createKey: (at) => post('/auth/keys', key(at)),
  listKeys: () => ({ method: 'GET', path: '/auth/keys' }),
  updateKey: async (at) => ({
    method: 'PATCH',
    path: `/auth/keys/${await keyId(at)}`,
    body: { description: at.word(), tenants: [at.word()] },
  }),
  revokeKey: async (at) => ({ method: 'DELETE', path: `/auth/keys/${await keyId(at)}` }),
  whoami: () => ({ method: 'GET', path: '/auth/whoami' }),
  listMcpCalls: () => ({ method: 'GET', path: '/mcp/calls?limit=10' }),
  listMcpClients: () => ({ method: 'GET', path: '/mcp/clients' }),
  agentSetup: () => ({ method: 'GET', path: '/mcp/setup' }),
  testBridge: () => post('/mcp/bridge/test', {}),
  replicationSnapshot: () => ({ method: 'GET', path: '/replication/snapshot' }),
  replicationWal: () => ({ method: 'GET', path: '/replication/wal?after=0' }),
  replicationStatus: () => ({ method: 'GET', path: '/replication/status' }),
  takeSnapshot: () => post('/admin/snapshot'),
  takeBackup: () => post('/admin/backup'),
  listNodes: () => ({ method: 'GET', path: '/admin/nodes' }),
  moveLog: () => post('/admin/nodes/move', { to: '00000000-0000-4000-8000-000000000000' }),
  storageState: () => ({ method: 'GET', path: '/admin/storage' }),
  health: () => ({ method: 'GET', path: '/health' }),
  ready: () => ({ method: 'GET', path: '/health/ready' }),
  events: () => ({ method: 'GET', path: '/events' }),
};

function post(path: string, body?: unknown): Call {
  return { method: 'POST', path, ...(body === undefined ? {} : { body }) };
}

function fact(at: Surroundings) {
  return { predicate: at.word(), args: [at.word(), at.word()] };
}

function statement(at: Surroundings): string {
  return `${at.word()}(${at.word()}, ${at.word()}).`;
}

function rule(at: Surroundings) {
  return { text: `${at.word()}(?x) :- ${at.word()}(?x, ${at.word()})`, name: at.word() };
}

/** An alias for the first constant of a stored fact. */
async function aliasOf(at: Surroundings) {
  return { entity: (await told(at)).args[0], alias: at.word() };
}

/** Makes a call that is a prerequisite. */
async function made(at: Surroundings, call: Call): Promise<AnyAnswer> {
  const answer = await send(at, call);
  if (answer.status >= 300) throw new Error(`${call.method} ${call.path}: ${JSON.stringify(answer.body)}`);
  return answer;
}

async function told(at: Surroundings) {
  const body = fact(at);
  await made(at, post('/tell', body));
  return body;
}

async function factId(at: Surroundings): Promise<string> {
  return String((await made(at, post('/tell', fact(at)))).body['id']);
}

function constraint(at: Surroundings) {
  return { text: `!- ${at.word()}(?x), not ${at.word()}(?x)`, name: at.word(), mode: 'warn' };
}

async function constraintId(at: Surroundings): Promise<string> {
  return String((await made(at, post('/constraints', constraint(at)))).body['id']);
}

function testText(name: string): string {
  return `test ${JSON.stringify(name)} { given p(a). expect p(a). }`;
}

/** The name of a new test. */
async function storedTest(at: Surroundings): Promise<string> {
  const name = at.word();
  await made(at, { method: 'PUT', path: '/tests', body: { text: testText(name) } });
  return name;
}

async function ruleId(at: Surroundings): Promise<string> {
  return String((await made(at, post('/teach', rule(at)))).body['id']);
}

async function packageName(at: Surroundings): Promise<string> {
  const name = at.word();
  await made(at, { method: 'PUT', path: `/packages/${name}`, body: { text: statement(at) } });
  return name;
}

async function declaredPath(at: Surroundings): Promise<string> {
  const path = `/predicates/${at.word()}/1`;
  await made(at, { method: 'PUT', path, body: { arguments: [{ name: 'first' }] } });
  return path;
}

async function keyId(at: Surroundings): Promise<string> {
  return String((await made(at, post('/auth/keys', key(at)))).body['id']);
}

function key(at: Surroundings) {
  return { role: 'reader', databases: [at.word()], tenants: [at.word()], description: at.word() };
}

/** A scope with a fact in it. */
async function scope(at: Surroundings): Promise<string> {
  const name = at.word();
  await made(at, post('/tell', { ...fact(at), scope: name }));
  return name;
}

/** A predicate with facts that can be consolidated. */
async function episodes(at: Surroundings): Promise<string> {
  const predicate = at.word();
  const who = at.word();
  const facts = [1, 2, 3].map(() => ({ predicate, args: [who, at.word()] }));
  await made(at, post('/assert/facts', { facts }));
  return predicate;
}

async function transactionWithWrite(at: Surroundings): Promise<string> {
  const { body } = await made(at, post('/tx/begin'));
  const id = String(body['id']);
  await made(at, { ...post('/tell', fact(at)), headers: { 'x-transaction-id': id } });
  return id;
}

async function database(at: Surroundings): Promise<string> {
  const name = at.word();
  await made(at, post('/databases', { name }));
  return name;
}

/** The address of a tenant of a database. */
async function tenant(at: Surroundings): Promise<string> {
  const path = `/admin/databases/${await database(at)}/tenants`;
  const name = at.word();
  await made(at, post(path, { name }));
  return `${path}/${name}`;
}
