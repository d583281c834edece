/** Requests as the description of the API shows them: one for each operation, which it accepts. */
import type { OperationName, OperationRequest } from '../../engine/contract/operations.ts';

/** The parts that the operation takes; nothing where it takes none. */
type Request<Name extends OperationName> =
  OperationRequest<Name> extends infer Parts ? (unknown extends Parts ? object : Parts) : never;

/** `params`, `query` and `body`, as far as the operation has them. */
export const requestExamples: { readonly [Name in OperationName]: Request<Name> } = {
  assertFact: {
    body: { predicate: 'parent', args: ['alice', 'bob'], metadata: { source: 'the register' } },
  },
  assertFacts: {
    body: {
      facts: [
        { predicate: 'parent', args: ['bob', 'carol'] },
        { predicate: 'parent', args: ['bob', 'dora'] },
      ],
    },
  },
  retract: { body: { predicate: 'parent', args: ['alice', 'bob'] } },
  retractPattern: { body: { predicate: 'parent', args: ['bob', '?child'], dryRun: true } },
  query: { body: { predicate: 'parent', args: ['bob', '?child'] } },
  listFacts: { query: { predicate: 'parent', sort: 'createdAt', order: 'desc', limit: '20' } },
  getFact: { params: { id: 'f1-0' } },
  deleteFact: { params: { id: 'f1-0' } },
  listPredicates: {},
  aggregate: {
    body: { operation: 'COUNT', predicate: 'parent', args: ['?parent', '?child'], groupBy: ['parent'] },
  },
  assertRule: {
    body: { text: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)', name: 'grandparents' },
  },
  validateRules: { body: { text: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?w).' } },
  listRules: {},
  getRule: { params: { id: 'r3' } },
  updateRule: { params: { id: 'r3' }, body: { description: 'two generations apart' } },
  deleteRule: { params: { id: 'r3' } },
  ask: { body: { predicate: 'grandparent', args: ['alice', '?who'], limit: 1, withProof: true } },
  explain: { body: { predicate: 'grandparent', args: ['bob', 'carol'], mode: 'whyNot' } },
  whatIf: {
    body: {
      assert: [{ predicate: 'parent', args: ['carol', 'emil'] }],
      goals: [{ predicate: 'grandparent', args: ['?x', '?y'] }],
    },
  },
  trace: { body: { predicate: 'grandparent', args: ['alice', '?who'], maxEvents: 2 } },
  beginTransaction: {},
  commitTransaction: { params: { id: 'a0708c3a-dc09-4cc2-9127-c1d0f704d04f' }, body: { dryRun: false } },
  rollbackTransaction: { params: { id: 'a0708c3a-dc09-4cc2-9127-c1d0f704d04f' } },
  listScopes: {},
  forkScope: { body: { source: 'plan', target: 'plan-b' } },
  diffScopes: { body: { source: 'plan-b', target: 'plan' } },
  mergeScopes: { body: { source: 'plan-b', target: 'plan', strategy: 'SOURCE_WINS' } },
  deleteScope: { params: { name: 'plan-b' } },
  browseMemory: { query: { maxFacts: '1', minSalience: '0.1', predicates: 'parent,grandparent' } },
  recall: { body: { maxFacts: 1, minSalience: 0.1 } },
  memoryStats: { query: { unscoped: 'true' } },
  consolidate: { body: { predicates: ['visited'], minOccurrences: 3 } },
  restore: { body: { id: 'f17-0' } },
  decay: { body: { threshold: 0.05, dryRun: true } },
  optimizeContext: {
    body: {
      goals: [{ predicate: 'grandparent', args: ['alice', 'carol'] }],
      maxFacts: 3,
      maxChars: 2000,
      sessionId: 'chat-1',
    },
  },
  diffContext: { body: { sessionId: 'chat-1' } },
  summarizeContext: { body: { unscoped: true } },
  clearContextSession: { body: { sessionId: 'chat-1' } },
  contextOfTurns: {
    body: { turns: ['parent(carol, emil).', 'Who is the grandparent of emil?'], maxFacts: 1 },
  },
  ingest: {
    body: {
      text: 'parent(carol, emil).',
      goals: [{ predicate: 'parent', args: ['?who', 'emil'] }],
      maxFacts: 1,
    },
  },
  extract: { body: { text: 'Carol is the mother of Emil.', assert: true } },
  synthesize: { body: { question: 'Who is a grandparent of Carol?' } },
  importKnowledge: { query: { scope: 'plan', dryRun: 'false' } },
  undoImport: { params: { id: 'cfff6f3d-2424-4b86-b183-793f2c57d1f6' } },
  exportKnowledge: { query: { format: 'ndjson', predicate: 'parent' } },
  listDatabases: {},
  createDatabase: { body: { name: 'family' } },
  deleteDatabase: { params: { name: 'family' } },
  nukeDatabase: { params: { name: 'family' } },
  listTenants: { params: { name: 'family' } },
  createTenant: { params: { name: 'family' }, body: { name: 'acme' } },
  deleteTenant: { params: { name: 'family', id: 'acme' } },
  nukeTenant: { params: { name: 'family', id: 'acme' } },
  authenticationStatus: {},
  bootstrap: { body: { username: 'admin', password: 'the value of SERVICE_ADMIN_PASS' } },
  createKey: {
    body: { role: 'reader', databases: ['family'], description: 'the dashboard', expiresInDays: 90 },
  },
  listKeys: {},
  updateKey: { params: { id: '5d7e9c44-2a0e-4d0f-9a1b-1f2e3d4c5b6a' }, body: { expiresAt: 'never' } },
  revokeKey: { params: { id: '5d7e9c44-2a0e-4d0f-9a1b-1f2e3d4c5b6a' } },
  whoami: {},
  listMcpCalls: { query: { limit: '50' } },
  listMcpClients: {},
  agentSetup: {},
  testBridge: { body: { database: 'default', tenant: 'my-project' } },
  replicationSnapshot: { query: { follower: 'second:9300' } },
  replicationWal: { query: { after: '37', follower: 'second:9300' } },
  replicationStatus: {},
  takeSnapshot: {},
  takeBackup: {},
  storageState: {},
  health: {},
  ready: {},
  events: {},
};

/** The bodies among them, by operation. */
export const bodyExamples: Readonly<Partial<Record<OperationName, unknown>>> = Object.fromEntries(
  Object.entries(requestExamples).flatMap(([name, parts]) => ('body' in parts ? [[name, parts.body]] : [])),
);

/** Bodies of an import, by media type. */
export const uploadExamples: Readonly<Record<string, string>> = {
  'application/x-ndjson':
    '{"predicate": "parent", "args": ["alice", "bob"]}\n{"rule": "ancestor(?x, ?y) :- parent(?x, ?y)."}\n',
  'text/csv': 'parent,alice,bob\nparent,bob,carol\n',
  'text/tab-separated-values': 'parent\talice\tbob\nparent\tbob\tcarol\n',
  'text/x-datalog': 'parent(alice, bob).\nancestor(?x, ?y) :- parent(?x, ?y).\n',
  'text/turtle': '@prefix family: <http://example.org/family#> .\nfamily:alice family:parent family:bob .\n',
  'application/n-triples':
    '<http://example.org/family#alice> <http://example.org/family#parent> <http://example.org/family#bob> .\n',
};
