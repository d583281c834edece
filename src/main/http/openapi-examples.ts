import type { OperationName, OperationRequest } from '../../engine/contract/operations.ts';

type BodyOf<Name extends OperationName> =
  OperationRequest<Name> extends { body: infer Body } ? Body : undefined;

/** A body that each operation with one accepts, as the description of the API shows it. */
export const bodyExamples: { readonly [Name in OperationName]?: BodyOf<Name> } = {
  assertFact: { predicate: 'parent', args: ['alice', 'bob'], metadata: { source: 'the register' } },
  assertFacts: {
    facts: [
      { predicate: 'parent', args: ['alice', 'bob'] },
      { predicate: 'parent', args: ['bob', 'carol'] },
    ],
  },
  retract: { predicate: 'parent', args: ['alice', 'bob'] },
  retractPattern: { predicate: 'parent', args: ['alice', '?child'], dryRun: true },
  query: { predicate: 'parent', args: ['alice', '?child'] },
  assertRule: {
    text: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)',
    name: 'grandparents',
  },
  validateRules: { text: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z).' },
  updateRule: { enabled: false },
  ask: { predicate: 'grandparent', args: ['alice', '?who'], withProof: true },
  trace: { predicate: 'grandparent', args: ['alice', '?who'], maxEvents: 1000 },
  aggregate: { operation: 'COUNT', predicate: 'parent', args: ['?parent', '?child'], groupBy: ['parent'] },
  explain: { predicate: 'grandparent', args: ['alice', 'dave'], mode: 'whyNot' },
  commitTransaction: { dryRun: true },
  forkScope: { source: 'plan', target: 'plan-b' },
  diffScopes: { source: 'plan-b', target: 'plan' },
  mergeScopes: { source: 'plan-b', target: 'plan', strategy: 'SOURCE_WINS', dryRun: true },
  createTenant: { name: 'acme' },
  whatIf: {
    assert: [{ predicate: 'parent', args: ['carol', 'dave'] }],
    retract: [{ predicate: 'parent', args: ['alice', 'bob'] }],
    goals: [{ predicate: 'grandparent', args: ['?x', '?y'] }],
  },
  recall: { maxFacts: 20, minSalience: 0.1 },
  consolidate: { predicates: ['visited'], minOccurrences: 5, dryRun: true },
  restore: { id: 'f12-0' },
  decay: { threshold: 0.05, dryRun: true },
  optimizeContext: {
    goals: [{ predicate: 'grandparent', args: ['alice', '?who'] }],
    maxFacts: 25,
    maxChars: 2000,
    sessionId: 'chat-1',
  },
  diffContext: { sessionId: 'chat-1' },
  summarizeContext: {},
  clearContextSession: { sessionId: 'chat-1' },
  contextOfTurns: { turns: ['parent(carol, dave).', 'Who is the grandparent of dave?'], maxFacts: 20 },
  ingest: { text: 'parent(carol, dave).', goals: [{ predicate: 'grandparent', args: ['?who', 'dave'] }] },
  extract: { text: 'Carol is the mother of Dave.', assert: true },
  synthesize: { question: 'Who is a grandparent of Dave?' },
  createDatabase: { name: 'family' },
  bootstrap: { username: 'admin', password: 'the value of SERVICE_ADMIN_PASS' },
  createKey: { role: 'reader', databases: ['family'], description: 'the dashboard', expiresInDays: 90 },
  updateKey: { expiresAt: 'never' },
};
