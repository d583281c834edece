/**
 * For tests: how to get each answer that the description of the API shows, by operation.
 *
 * Every operation has an entry, and every problem of its own in it, or this does not compile. Problems that follow from
 * the kind of operation (no credential, a body that is too large, ...) need no recipe of their own.
 */
import {
  begun,
  database,
  declared,
  endedTransaction,
  endless,
  erasedTenant,
  fact,
  failingLanguage,
  key,
  limit,
  limited,
  naturalLanguage,
  none,
  nowhere,
  path,
  path1,
  type Recipes,
  rule,
  scope,
  strictFact,
  tenant,
  tooEarly,
  unsafeRule,
  withId,
  type World,
} from './recipe-world.ts';

/** Applies a package, and returns its name. */
async function applied(world: World): Promise<string> {
  const [name, word] = [world.fresh(), world.fresh()];
  const text = `:declare ${word}(k: entity) key k\n${word}(a). ${word}_too(?x) :- ${word}(?x). !- ${word}(b) "no b".`;
  await world.call('PUT', `/packages/${name}`, { text });
  return name;
}

const knowledge = {
  assertFact: {
    KeyConflict: async (world) => ({ body: await strictFact(world, 'b') }),
    ShapeViolation: async (world) => ({ body: await strictFact(world, 'none of them') }),
    QuotaExceeded: async (world) => ({
      ...(await limited(world, 0)),
      body: { predicate: 'p', args: ['a'] },
    }),
    success: (world) => ({
      body: { predicate: world.fresh(), args: ['a', 1, true], metadata: { a: [null] } },
    }),
    Conflict: async (world) => {
      const { predicate } = await fact(world);
      return { body: { predicate, args: ['a'], ifGeneration: 0 } };
    },
  },
  assertFacts: {
    KeyConflict: async (world) => ({ body: [await strictFact(world, 'b')] }),
    ShapeViolation: async (world) => ({ body: [await strictFact(world, 'none of them')] }),
    QuotaExceeded: async (world) => ({
      ...(await limited(world, 0)),
      body: [{ predicate: 'p', args: ['a'] }],
    }),
    success: (world) => ({ body: [{ predicate: world.fresh(), args: [] }] }),
  },
  retract: {
    success: async (world) => ({ body: { predicate: (await fact(world)).predicate, args: ['a'] } }),
    Conflict: async (world) => {
      const { predicate } = await fact(world);
      return { body: { predicate, args: ['a'], ifGeneration: 0 } };
    },
  },
  retractPattern: {
    success: async (world) => ({ body: { predicate: (await fact(world)).predicate, args: ['?x'] } }),
    Conflict: async (world) => {
      const { predicate } = await fact(world);
      return { body: { predicate, args: ['?x'], ifGeneration: 0 } };
    },
  },
  query: {
    HistoryGone: tooEarly({ body: path }),
    success: () => ({ body: { predicate: 'edge', args: ['?x', '?y'] } }),
  },
  listFacts: {
    HistoryGone: tooEarly({}),
    success: () => ({ query: '?predicate=path&derived=true&limit=3' }),
    InferenceLimitExceeded: () => ({ isAtSmall: true, query: '?predicate=n&derived=true' }),
  },
  getFact: {
    success: async (world) => withId((await fact(world, { metadata: { source: 's' }, ttl: 60_000 })).id),
    FactNotFound: () => withId('f999999-0'),
  },
  deleteFact: {
    success: async (world) => withId((await fact(world)).id),
    FactNotFound: () => withId('f999999-0'),
  },
  listPredicates: {
    HistoryGone: tooEarly({}),
    success: none,
  },
  aggregate: {
    HistoryGone: tooEarly({ body: { operation: 'COUNT', predicate: 'edge' } }),
    success: () => ({ body: { operation: 'MAX', predicate: 'edge', argIndex: 0 } }),
    InferenceLimitExceeded: () => ({
      isAtSmall: true,
      body: { ...endless, operation: 'COUNT', infer: true },
    }),
  },
  assertRule: {
    // Quotas do not count rules; memory does, in a test of its own.
    QuotaExceeded: null,
    success: (world) => ({ body: { text: `${world.fresh()}(?x) :- edge(?x, ?_), ?x != b` } }),
    RuleException: () => ({ body: { text: unsafeRule } }),
  },
  validateRules: { success: () => ({ body: { text: `${unsafeRule}. p(` } }) },
  declarePredicate: {
    // The most declarations of a database are many.
    Conflict: null,
    success: (world) => ({
      params: { name: world.fresh(), arity: '2' },
      body: {
        description: 'what belongs to what',
        arguments: [
          { name: 'part', type: { oneOf: ['a', 'b'] } },
          { name: 'whole', description: 'é' },
        ],
        key: ['part'],
        onConflict: 'supersede',
        check: 'reject',
      },
    }),
  },
  predicateGraph: {
    HistoryGone: tooEarly({}),
    success: async (world) => {
      const { name } = await declared(world);
      await world.call('POST', '/teach', { text: `${world.fresh()}(?x) :- edge(?x, ?_), not ${name}(?x)` });
      await world.call('POST', '/constraints', { text: `!- ${name}(?x), ${name}(?x)`, name, mode: 'warn' });
      return { query: '' };
    },
  },
  getPredicate: {
    success: async (world) => ({ params: await declared(world) }),
    NotFound: (world) => ({ params: { name: world.fresh(), arity: '1' } }),
  },
  withdrawPredicate: {
    success: async (world) => ({ params: await declared(world) }),
    NotFound: (world) => ({ params: { name: world.fresh(), arity: '1' } }),
  },
  listRules: {
    HistoryGone: tooEarly({}),
    success: none,
  },
  getRule: {
    success: async (world) => {
      const text = `${world.fresh()}(?n) :- ?n = count { ?y : edge(?_, ?y), not -edge(?y, ?y) }`;
      return withId((await world.call('POST', '/teach', { text })).id);
    },
    RuleNotFound: () => withId('r999999'),
  },
  updateRule: {
    success: async (world) => ({ ...withId((await rule(world)).id), body: { enabled: false } }),
    RuleNotFound: () => ({ ...withId('r999999'), body: { enabled: false } }),
    Conflict: async (world) => {
      const { text } = await rule(world);
      return { ...withId((await rule(world)).id), body: { text } };
    },
    PreconditionFailed: async (world) => ({
      ...withId((await rule(world)).id),
      body: { enabled: false },
      headers: { 'if-match': '"another"' },
    }),
    RuleException: async (world) => ({ ...withId((await rule(world)).id), body: { text: unsafeRule } }),
  },
  deleteRule: {
    success: async (world) => withId((await rule(world)).id),
    RuleNotFound: () => withId('r999999'),
    PreconditionFailed: async (world) => ({
      ...withId((await rule(world)).id),
      headers: { 'if-match': '"another"' },
    }),
  },
  ask: {
    HistoryGone: tooEarly({ body: path }),
    success: () => ({ body: { ...path, withProof: true, allProofs: true } }),
    InferenceLimitExceeded: () => ({ isAtSmall: true, body: endless }),
    RuleException: () => ({ body: { text: 'edge(?x, ?_), ?z > 1' } }),
  },
  explain: {
    HistoryGone: tooEarly({ body: { ...path, mode: 'why' } }),
    success: () => ({ body: { predicate: 'path', args: ['d', 'a'], mode: 'whyNot' } }),
    InferenceLimitExceeded: () => ({ body: { ...path1, mode: 'why' } }),
  },
  whatIf: {
    HistoryGone: tooEarly({ body: { goals: [path] } }),
    success: () => ({ body: { assert: [{ predicate: 'edge', args: ['d', 'e'] }] } }),
    InferenceLimitExceeded: () => ({ isAtSmall: true, body: { goals: [endless] } }),
    RuleException: () => ({ body: { rules: [{ text: unsafeRule }] } }),
    RuleNotFound: () => ({ body: { withoutRules: ['r999999'] } }),
  },
  plan: {
    HistoryGone: tooEarly({ body: path }),
    success: () => ({ body: path }),
    InferenceLimitExceeded: null,
    RuleException: () => ({ body: { text: 'edge(?x, ?_), ?z > 1' } }),
  },
  trace: {
    HistoryGone: tooEarly({ body: path }),
    success: () => ({ body: { ...path, maxEvents: 5 } }),
    InferenceLimitExceeded: () => ({ body: path1 }),
    RuleException: () => ({ body: { text: 'edge(?x, ?_), ?z > 1' } }),
  },
  historyDiff: {
    HistoryGone: async (world) => {
      const { headers = {} } = await tooEarly({ body: {} })(world);
      return { headers, body: { from: 0, to: 0 } };
    },
    InferenceLimitExceeded: null,
    success: async (world) => {
      const { generation } = await world.call('POST', '/tell', { predicate: world.fresh(), args: ['a'] });
      return { body: { from: generation, to: generation, withProof: true } };
    },
  },
  beginTransaction: { success: none },
  commitTransaction: {
    KeyConflict: async (world) => {
      const body = await strictFact(world, 'b');
      const id = await begun(world);
      await world.call('POST', '/tell', body, { 'x-transaction-id': id });
      return withId(id);
    },
    ShapeViolation: async (world) => {
      const predicate = world.fresh();
      const id = await begun(world);
      await world.call('POST', '/tell', { predicate, args: ['c'] }, { 'x-transaction-id': id });
      await world.call('PUT', `/predicates/${predicate}/1`, {
        arguments: [{ name: 'letter', type: { oneOf: ['a', 'b'] } }],
        check: 'reject',
      });
      return withId(id);
    },
    QuotaExceeded: async (world) => {
      const { headers } = await limited(world, 0);
      const { id } = await world.call('POST', '/tx/begin', undefined, headers);
      const within = { ...headers, 'x-transaction-id': id };
      await world.call('POST', '/tell', { predicate: 'p', args: [] }, within);
      return { ...withId(id), headers };
    },
    success: async (world) => {
      const id = await begun(world);
      await world.call('POST', '/tell', { predicate: world.fresh(), args: [] }, { 'x-transaction-id': id });
      return withId(id);
    },
    TransactionNotFound: () => withId(nowhere),
    Conflict: async (world) => withId(await endedTransaction(world)),
    RuleException: async (world) => {
      const [id, p, q] = [await begun(world), world.fresh(), world.fresh()];
      const text = `${p}(?x) :- edge(?x, ?_), not ${q}(?x)`;
      await world.call('POST', '/teach', { text }, { 'x-transaction-id': id });
      await world.call('POST', '/teach', { text: `${q}(?x) :- ${p}(?x)` });
      return withId(id);
    },
  },
  rollbackTransaction: {
    success: async (world) => withId(await begun(world)),
    TransactionNotFound: () => withId(nowhere),
    Conflict: async (world) => withId(await endedTransaction(world)),
  },
  listScopes: {
    HistoryGone: tooEarly({}),
    success: async (world) => (await scope(world), {}),
  },
  forkScope: {
    QuotaExceeded: async (world) => {
      const { headers } = await limited(world, 1);
      await world.call('POST', '/tell', { predicate: 'p', args: [], scope: 'plan' }, headers);
      return { headers, body: { source: 'plan', target: 'copy' } };
    },
    success: async (world) => ({ body: { source: await scope(world), target: world.fresh() } }),
    ScopeNotFound: (world) => ({ body: { source: nowhere, target: world.fresh() } }),
    Conflict: async (world) => ({ body: { source: await scope(world), target: await scope(world) } }),
    RuleException: async (world) => {
      const [source, target, p, q] = [world.fresh(), world.fresh(), world.fresh(), world.fresh()];
      const text = `${p}(?x) :- edge(?x, ?_), not ${q}(?x)`;
      await world.call('POST', '/teach', { text, scope: source });
      await world.call('POST', '/teach', { text: `${q}(?x) :- ${p}(?x)`, scope: target });
      return { body: { source, target } };
    },
  },
  diffScopes: {
    HistoryGone: tooEarly({ body: { source: null, target: null } }),
    success: async (world) => ({ body: { source: await scope(world), target: null } }),
    ScopeNotFound: () => ({ body: { source: nowhere, target: null } }),
  },
  mergeScopes: {
    QuotaExceeded: async (world) => {
      const { headers } = await limited(world, 1);
      await world.call('POST', '/tell', { predicate: 'p', args: [], scope: 'plan' }, headers);
      return { headers, body: { source: 'plan', target: null, strategy: 'REJECT' } };
    },
    success: async (world) => ({
      body: { source: await scope(world), target: world.fresh(), strategy: 'KEEP_BOTH' },
    }),
    ScopeNotFound: () => ({ body: { source: nowhere, target: null, strategy: 'REJECT' } }),
    Conflict: async (world) => {
      const [source, target] = [world.fresh(), world.fresh()];
      await world.call('POST', '/tell', { predicate: 'p', args: [], scope: source });
      await world.call('POST', '/tell', { predicate: 'p', args: [], scope: target, truthVal: false });
      return { body: { source, target, strategy: 'REJECT' } };
    },
  },
  deleteScope: {
    success: async (world) => ({ params: { name: await scope(world) } }),
    ScopeNotFound: () => ({ params: { name: nowhere } }),
  },
} satisfies Partial<Recipes>;

const memory = {
  browseMemory: {
    HistoryGone: tooEarly({}),
    success: () => ({ query: '?maxFacts=2&predicates=edge,path&includeInferred=true' }),
    InferenceLimitExceeded: () => ({ isAtSmall: true, query: '?predicates=n&includeInferred=true' }),
  },
  recall: {
    HistoryGone: tooEarly({ body: {} }),
    success: () => ({ body: { maxFacts: 2 } }),
    InferenceLimitExceeded: () => ({ isAtSmall: true, body: { predicates: ['n'], includeInferred: true } }),
  },
  entity: { success: () => ({ params: { constant: 'n' } }), InferenceLimitExceeded: null },
  addAlias: {
    success: (world) => ({ body: { entity: 'n', alias: world.fresh() } }),
    Conflict: async (world) => {
      const alias = world.fresh();
      await world.call('POST', '/entities/alias', { entity: 'n', alias });
      return { body: { entity: 'm', alias } };
    },
  },
  removeAlias: {
    success: async (world) => {
      const body = { entity: 'n', alias: world.fresh() };
      await world.call('POST', '/entities/alias', body);
      return { body };
    },
  },
  history: {
    success: async (world) => ({ query: `?predicate=${(await fact(world)).predicate}` }),
    // Needs a damaged file, or one that retention removes while it is read; and more facts than fit into memory.
    HistoryGone: null,
    InferenceLimitExceeded: null,
  },
  factHistory: {
    success: async (world) => withId((await fact(world)).id),
    FactNotFound: () => withId('f0-9'),
    HistoryGone: null,
    InferenceLimitExceeded: null,
  },
  revert: {
    success: async (world) => ({ body: { generation: (await fact(world)).generation } }),
    InferenceLimitExceeded: null,
    HistoryGone: async (world) => {
      const { headers, body } = await erasedTenant(world);
      return { headers, body };
    },
    Conflict: async (world) => {
      const { predicate, generation } = await fact(world);
      await world.call('POST', '/retract', { predicate, args: ['a'] });
      return { body: { generation } };
    },
    KeyConflict: async (world) => {
      const { predicate } = await strictFact(world, 'a');
      const taken = { predicate, args: ['x', 'a'] };
      const { generation } = await world.call('POST', '/retract', taken);
      await world.call('POST', '/tell', { predicate, args: ['x', 'b'] });
      return { body: { generation } };
    },
    ShapeViolation: async (world) => {
      const predicate = world.fresh();
      await world.call('POST', '/tell', { predicate, args: ['none'] });
      const { generation } = await world.call('POST', '/retract', { predicate, args: ['none'] });
      await world.call('PUT', `/predicates/${predicate}/1`, {
        arguments: [{ name: 'number', type: 'integer' }],
        check: 'reject',
      });
      return { body: { generation } };
    },
    RuleException: async (world) => {
      const [one, other] = [world.fresh(), world.fresh()];
      const { id } = await world.call('POST', '/teach', {
        text: `${one}(?x) :- edge(?x, ?_), not ${other}(?x)`,
      });
      const { generation } = await world.call('DELETE', `/rules/${id}`);
      await world.call('POST', '/teach', { text: `${other}(?x) :- ${one}(?x)` });
      return { body: { generation, rules: true } };
    },
    QuotaExceeded: async (world) => {
      const { headers } = await limited(world, 1);
      const removed = { predicate: 'p', args: ['a'] };
      await world.call('POST', '/tell', removed, headers);
      const { generation } = await world.call('POST', '/retract', removed, headers);
      await limit(world, headers, { facts: 0 });
      return { headers, body: { generation } };
    },
  },
  listPackages: {
    success: async (world) => {
      await applied(world);
      return none();
    },
  },
  getPackage: {
    success: async (world) => ({ params: { name: await applied(world) } }),
    NotFound: (world) => ({ params: { name: world.fresh() } }),
  },
  applyPackage: {
    success: (world) => ({
      params: { name: world.fresh() },
      body: { text: `${world.fresh()}(a, b). !- ${world.fresh()}(?x) "none".` },
    }),
    // The most packages of a tenant are many.
    Conflict: null,
    KeyConflict: async (world) => {
      const { predicate } = await strictFact(world, 'a');
      return { params: { name: world.fresh() }, body: { text: `${predicate}(x, b).` } };
    },
    ShapeViolation: async (world) => {
      const { predicate } = await strictFact(world, 'a');
      return { params: { name: world.fresh() }, body: { text: `${predicate}(y, "none of them").` } };
    },
    RuleException: (world) => ({ params: { name: world.fresh() }, body: { text: `${unsafeRule}.` } }),
    QuotaExceeded: async (world) => ({
      ...(await limited(world, 0)),
      params: { name: world.fresh() },
      body: { text: 'p(a).' },
    }),
  },
  deletePackage: {
    success: async (world) => ({ params: { name: await applied(world) } }),
    NotFound: (world) => ({ params: { name: world.fresh() } }),
  },
  mergeEntities: {
    KeyConflict: async (world) => {
      const predicate = world.fresh();
      const [from, into] = [world.fresh(), world.fresh()];
      const declared = { arguments: [{ name: 'k' }, { name: 'v' }], key: ['k'], onConflict: 'reject' };
      await world.call('PUT', `/predicates/${predicate}/2`, declared);
      await world.call('POST', '/tell', { predicate, args: [from, 'a'] });
      await world.call('POST', '/tell', { predicate, args: [into, 'b'] });
      return { body: { from, into } };
    },
    QuotaExceeded: async (world) => {
      const { headers } = await limited(world, 1);
      await world.call('POST', '/tell', { predicate: 'p', args: ['a'] }, headers);
      await limit(world, headers, { bytes: 1 });
      return { headers, body: { from: 'a', into: 'longer than a' } };
    },
    success: async (world) => {
      const from = world.fresh();
      await world.call('POST', '/tell', { predicate: 'p', args: [from] });
      return { body: { from, into: world.fresh() } };
    },
    Conflict: async (world) => {
      const [entity, alias] = [world.fresh(), world.fresh()];
      await world.call('POST', '/entities/alias', { entity, alias });
      return { body: { from: 'a', into: alias } };
    },
  },
  describeEntity: { success: () => ({ body: { constant: 'n' } }), InferenceLimitExceeded: null },
  search: { success: () => ({ body: { text: 'n' } }), InferenceLimitExceeded: null },
  memoryStats: { success: none, InferenceLimitExceeded: null },
  consolidate: {
    QuotaExceeded: async (world) => {
      const { headers } = await limited(world, 3);
      const predicate = await episodes(world, headers);
      await limit(world, headers, { bytes: 1 });
      return { headers, body: { predicates: [predicate] } };
    },
    success: async (world) => ({ body: { predicates: [await episodes(world)] } }),
  },
  restore: {
    QuotaExceeded: async (world) => {
      const { headers } = await limited(world, 3);
      const predicate = await episodes(world, headers);
      await world.call('POST', '/memory/consolidate', { predicates: [predicate] }, headers);
      await limit(world, headers, { facts: 1 });
      const { facts } = await world.call('GET', `/facts?predicate=${predicate}_summary`, undefined, headers);
      return { headers, body: { id: facts[0]?.id } };
    },
    success: async (world) => {
      const predicate = await episodes(world);
      await world.call('POST', '/memory/consolidate', { predicates: [predicate] });
      const { facts } = await world.call('GET', `/facts?predicate=${predicate}_summary`);
      return { body: { id: facts[0]?.id } };
    },
    FactNotFound: () => ({ body: { id: 'f999999-0' } }),
  },
  decay: {
    // A fact of importance 0 has salience 0.
    success: async (world) => {
      const name = world.fresh();
      await fact(world, { scope: name, metadata: { importance: 0 } });
      return { body: { scope: name } };
    },
  },
  optimizeContext: {
    HistoryGone: tooEarly({ body: {} }),
    success: (world) => ({
      body: { goals: [path], maxFacts: 3, sessionId: world.fresh(), explainOmitted: true },
    }),
    InferenceLimitExceeded: () => ({ isAtSmall: true, body: { predicates: ['n'], includeInferred: true } }),
  },
  diffContext: {
    success: async (world) => {
      const sessionId = world.fresh();
      await world.call('POST', '/context/optimize', { sessionId, maxFacts: 1 });
      return { body: { sessionId, maxFacts: 3 } };
    },
    SessionNotFound: () => ({ body: { sessionId: nowhere } }),
    InferenceLimitExceeded: null,
  },
  summarizeContext: { success: none, InferenceLimitExceeded: null },
  clearContextSession: { success: () => ({ body: { sessionId: nowhere } }) },
  contextOfTurns: {
    QuotaExceeded: async (world) => ({
      ...(await limited(world, 0)),
      body: { turns: ['p(a).'] },
    }),
    success: (world) => ({ body: { turns: [`${world.fresh()}(a).`, naturalLanguage], maxFacts: 2 } }),
    RuleException: () => ({ body: { turns: [`${unsafeRule}.`] } }),
    LlmProviderException: () => ({ body: { turns: [failingLanguage] } }),
  },
  ingest: {
    QuotaExceeded: async (world) => ({
      ...(await limited(world, 0)),
      body: { text: 'p(a).' },
    }),
    success: (world) => ({ body: { text: `${world.fresh()}(a).`, maxFacts: 2 } }),
    RuleException: () => ({ body: { text: `${unsafeRule}.` } }),
    InferenceLimitExceeded: null,
    LlmProviderException: () => ({ body: { text: failingLanguage } }),
    LlmUnavailable: () => ({ isAtSmall: true, body: { text: naturalLanguage } }),
  },
  extract: {
    QuotaExceeded: async (world) => ({
      ...(await limited(world, 0)),
      body: { text: 'p(a).', assert: true },
    }),
    success: (world) => ({
      body: { text: `${world.fresh()}(a).\n${naturalLanguage}`, assert: true, rules: true },
    }),
    RuleException: null,
    LlmProviderException: () => ({ body: { text: failingLanguage } }),
    LlmUnavailable: () => ({ isAtSmall: true, body: { text: naturalLanguage } }),
  },
  synthesize: {
    success: () => ({ body: { question: 'Where does a lead?' } }),
    InferenceLimitExceeded: () => ({ body: { question: 'How far can one count?', timeoutMs: 1 } }),
    LlmProviderException: () => ({ body: { question: failingLanguage } }),
    LlmUnavailable: () => ({ isAtSmall: true, body: { question: 'Where does a lead?' } }),
  },
} satisfies Partial<Recipes>;

/** Three facts that differ only in one argument. */
async function episodes(world: World, headers: Record<string, string> = {}): Promise<string> {
  const predicate = world.fresh();
  const facts = [1, 2, 3].map((day) => ({ predicate, args: ['a', day] }));
  await world.call('POST', '/assert/facts', { facts }, headers);
  return predicate;
}

/** The id of a new constraint, of which nothing is a violation. */
async function constraint(world: World, mode = 'warn'): Promise<string> {
  const text = `!- ${world.fresh()}(?x)`;
  return (await world.call('POST', '/constraints', { text, name: 'none of them', mode })).id;
}

function testText(name: string): string {
  return `test ${JSON.stringify(name)} { given edge(x, y). expect path(x, ?to) = y. expect not path(y, x). }`;
}

/** The name of a new test. */
async function storedTest(world: World): Promise<string> {
  const name = world.fresh();
  await world.call('PUT', '/tests', { text: testText(name) });
  return name;
}

const noNode = '00000000-0000-4000-8000-000000000000';

export const recipes: Recipes = {
  ...knowledge,
  addConstraint: {
    success: async (world) => {
      const { predicate } = await fact(world);
      return { body: { text: `!- ${predicate}(?x)`, name: 'none', mode: 'warn' } };
    },
    // Only within a transaction that adds it already.
    Conflict: null,
    RuleException: () => ({ body: { text: '!- not p(?x)', name: 'unsafe', mode: 'warn' } }),
  },
  listConstraints: {
    success: async (world) => {
      await constraint(world);
      return {};
    },
  },
  updateConstraint: {
    success: async (world) => ({ ...withId(await constraint(world)), body: { mode: 'reject' } }),
    NotFound: () => ({ ...withId(nowhere), body: { mode: 'reject' } }),
    Conflict: async (world) => {
      const text = `!- ${world.fresh()}(?x)`;
      await world.call('POST', '/constraints', { text, name: 'one', mode: 'warn' });
      return { ...withId(await constraint(world)), body: { text } };
    },
    RuleException: async (world) => ({
      ...withId(await constraint(world)),
      body: { text: '!- not p(?x)' },
    }),
  },
  deleteConstraint: {
    success: async (world) => withId(await constraint(world)),
    NotFound: () => withId(nowhere),
  },
  listViolations: {
    success: async (world) => {
      const { predicate } = await fact(world);
      const text = `!- ${predicate}(?x)`;
      const { id } = await world.call('POST', '/constraints', { text, name: 'none', mode: 'warn' });
      return { query: `?constraint=${id}` };
    },
    NotFound: () => ({ query: '?constraint=nowhere' }),
    InferenceLimitExceeded: async (world) => {
      const { id } = await world.callSmall('POST', '/constraints', {
        text: '!- n(?x)',
        name: 'endless',
        mode: 'warn',
      });
      return { isAtSmall: true, query: `?constraint=${id}` };
    },
  },
  storeTests: {
    success: (world) => ({ body: { text: testText(world.fresh()) } }),
    // The most tests of a database are many.
    QuotaExceeded: null,
  },
  listTests: {
    success: async (world) => ({ query: `?name=${await storedTest(world)}` }),
    NotFound: () => ({ query: `?name=${nowhere}` }),
  },
  runTests: {
    success: async (world) => ({
      body: {
        names: [await storedTest(world)],
        text: `test "of a text" { expect path(a, ?x) = b. expect path(c, b). expect ${world.fresh()}. }`,
        coverage: true,
      },
    }),
    NotFound: () => ({ body: { names: [nowhere] } }),
    RuleNotFound: () => ({ body: { text: testText('x'), suppose: { withoutRules: [nowhere] } } }),
    RuleException: () => ({ body: { text: testText('x'), suppose: { rules: [{ text: unsafeRule }] } } }),
  },
  deleteTests: {
    success: async (world) => ({ query: `?name=${await storedTest(world)}` }),
    NotFound: () => ({ body: { names: [nowhere] } }),
  },
  ...memory,
  importKnowledge: {
    success: (world) => ({
      body: `${world.fresh()},a\n"broken\n`,
      headers: { 'content-type': 'text/csv' },
    }),
  },
  undoImport: {
    success: async (world) => {
      const headers = { 'content-type': 'text/csv' };
      return withId((await world.call('POST', '/import', `${world.fresh()},a\n`, headers)).id);
    },
    NotFound: () => withId(nowhere),
  },
  exportKnowledge: {
    HistoryGone: tooEarly({}),
    success: () => ({ query: '?format=csv' }),
  },
  listDatabases: { success: none },
  createDatabase: {
    success: (world) => ({ body: { name: world.fresh() } }),
    Conflict: () => ({ body: { name: 'default' } }),
  },
  deleteDatabase: {
    success: async (world) => ({ params: { name: await database(world) } }),
    DatabaseNotFound: () => ({ params: { name: nowhere } }),
    Conflict: () => ({ params: { name: 'default' } }),
  },
  nukeDatabase: {
    success: async (world) => ({ params: { name: (await tenant(world)).name } }),
    DatabaseNotFound: () => ({ params: { name: nowhere } }),
  },
  listTenants: {
    success: async (world) => ({ params: { name: (await tenant(world)).name } }),
    DatabaseNotFound: () => ({ params: { name: nowhere } }),
  },
  createTenant: {
    success: (world) => ({ params: { name: 'default' }, body: { name: world.fresh() } }),
    DatabaseNotFound: () => ({ params: { name: nowhere }, body: { name: 'a' } }),
    Conflict: () => ({ params: { name: 'default' }, body: { name: 'default' } }),
  },
  deleteTenant: {
    success: async (world) => ({ params: await tenant(world) }),
    DatabaseNotFound: () => ({ params: { name: nowhere, id: 'default' } }),
    TenantNotFound: () => ({ params: { name: 'default', id: nowhere } }),
  },
  nukeTenant: {
    success: async (world) => ({ params: await tenant(world) }),
    DatabaseNotFound: () => ({ params: { name: nowhere, id: 'default' } }),
    TenantNotFound: () => ({ params: { name: 'default', id: nowhere } }),
  },
  forgetEntity: {
    success: async (world) => {
      const { name, id } = await tenant(world);
      return { body: { database: name, tenant: id, entity: world.fresh() } };
    },
    DatabaseNotFound: () => ({ body: { database: nowhere, tenant: 'default', entity: 'alice' } }),
    TenantNotFound: () => ({ body: { tenant: nowhere, entity: 'alice' } }),
    // Only a log in PostgreSQL, and a damaged history: history/forget-entity.test.ts.
    Conflict: null,
    HistoryGone: null,
  },
  databaseQuota: {
    success: async (world) => ({ params: { name: await database(world) } }),
    DatabaseNotFound: () => ({ params: { name: nowhere } }),
  },
  setDatabaseQuota: {
    success: async (world) => ({ params: { name: await database(world) }, body: { facts: 10 } }),
    DatabaseNotFound: () => ({ params: { name: nowhere }, body: {} }),
  },
  tenantQuota: {
    success: async (world) => ({ params: await tenant(world) }),
    DatabaseNotFound: () => ({ params: { name: nowhere, id: 'default' } }),
    TenantNotFound: () => ({ params: { name: 'default', id: nowhere } }),
  },
  setTenantQuota: {
    success: async (world) => ({ params: await tenant(world), body: { questionsPerMinute: 10 } }),
    DatabaseNotFound: () => ({ params: { name: nowhere, id: 'default' }, body: {} }),
  },
  authenticationStatus: { success: none },
  bootstrap: {
    success: () => ({ body: { username: 'admin', password: 'the password' } }),
    Unauthenticated: () => ({ body: { username: 'admin', password: 'another' } }),
    RateLimited: async (world) => {
      const body = { username: 'admin', password: 'another' };
      for (let tried = 0; tried < 5; tried++) await world.attempt('POST', '/auth/bootstrap', body);
      return { body };
    },
    Conflict: () => ({ isAtSmall: true, body: { username: 'admin', password: 'another' } }),
  },
  createKey: {
    success: () => ({ body: { role: 'reader', tenants: ['a'], expiresInDays: 0.5 } }),
    Conflict: () => ({ isAtSmall: true, body: { role: 'reader' } }),
  },
  listKeys: {
    success: async (world) => (await key(world), {}),
    Conflict: () => ({ isAtSmall: true }),
  },
  updateKey: {
    success: async (world) => ({ ...(await key(world)), body: { description: 'the dashboard' } }),
    NotFound: () => ({ ...withId(nowhere), body: { description: 'the dashboard' } }),
    Conflict: () => ({ isAtSmall: true, ...withId(nowhere), body: {} }),
  },
  revokeKey: {
    success: key,
    NotFound: () => withId(nowhere),
    Conflict: () => ({ isAtSmall: true, ...withId(nowhere) }),
  },
  whoami: { success: none },
  listMcpCalls: { success: none },
  listMcpClients: { success: none },
  agentSetup: { success: none },
  testBridge: { success: () => ({ body: {} }) },
  replicationSnapshot: { success: none },
  replicationWal: { success: () => ({ query: '?after=0' }) },
  replicationStatus: { success: none },
  takeSnapshot: { success: async (world) => (await fact(world), {}) },
  takeBackup: { success: async (world) => (await fact(world), {}) },
  storageState: { success: none },
  // The nodes of a store: ../../service/nodes.test.ts.
  listNodes: { success: none, NoOwner: null },
  moveLog: {
    success: () => ({ body: { to: noNode } }),
    NotFound: null,
    DatabaseNotFound: null,
    NoOwner: null,
    Conflict: () => ({ body: { to: noNode } }),
  },
  health: { success: none },
  ready: { success: none },
  events: { success: () => ({ headers: { 'last-event-id': '1.0' } }) },
};
