/** The calls whose turns are measured, at the sizes that hurt: many rows, long constants, long bodies, long answers. */
import type { WatchedService } from './service.ts';

/** A call, or a few that belong together. They run one after another on one folder, in this order. */
export interface Scenario {
  readonly name: string;
  /** What it needs first; its turns do not count. */
  readonly before?: (service: WatchedService, size: Sizes) => Promise<void>;
  readonly run: (service: WatchedService, size: Sizes) => Promise<void>;
}

/** How many rows there are, and how many bytes a long body has. */
export interface Sizes {
  readonly facts: number;
  readonly batch: number;
  readonly bodyBytes: number;
}

const longConstant = 60_000;

function* lines(count: number, line: (at: number) => string): Generator<string> {
  for (let from = 0; from < count; from += 1000) {
    let chunk = '';
    for (let at = from; at < Math.min(count, from + 1000); at++) chunk += `${line(at)}\n`;
    yield chunk;
  }
}

const ndjson = 'application/x-ndjson';

async function importFacts(
  service: WatchedService,
  tenant: string,
  count: number,
  line: (at: number) => object,
): Promise<void> {
  const body = lines(count, (at) => JSON.stringify(line(at)));
  await expect(service.call('POST', '/import', body, { tenant, type: ndjson }));
}

async function expect(answer: ReturnType<WatchedService['call']>, ...statuses: number[]): Promise<string> {
  const { status, begins } = await answer;
  if (!(statuses.length === 0 ? [200] : statuses).includes(status))
    throw new Error(`the service answered ${status}: ${begins.slice(0, 500)}`);
  return begins;
}

function edge(at: number): { predicate: string; args: string[] } {
  return { predicate: 'edge', args: [`node${at}`, `node${(at * 7919) % 1_000_003}`] };
}

function long(at: number, predicate = 'long'): { predicate: string; args: string[] } {
  return { predicate, args: [`${at}`.padStart(longConstant, 'x'), `${at}`] };
}

function get(name: string, path: string, tenant = 'turns'): Scenario {
  return { name, run: async (service) => void (await expect(service.call('GET', path, null, { tenant }))) };
}

function post(
  name: string,
  path: string,
  bodyOf: (size: Sizes) => object | string,
  { tenant = 'turns', statuses = [200], headers = {} }: Expected = {},
): Scenario {
  return {
    name,
    run: async (service, size) => {
      await expect(service.call('POST', path, bodyOf(size), { tenant, headers }), ...statuses);
    },
  };
}

interface Expected {
  readonly tenant?: string;
  readonly statuses?: number[];
  readonly headers?: Readonly<Record<string, string>>;
}

function repeated(text: string, bytes: number): string {
  return text.repeat(Math.ceil(bytes / text.length));
}

function facts(count: number, of: (at: number) => object): { facts: object[] } {
  return { facts: Array.from({ length: count }, (_, at) => of(at)) };
}

const imports: Scenario[] = [
  {
    name: 'import of all facts',
    run: (service, { facts: count }) => importFacts(service, 'turns', count, edge),
  },
  {
    name: 'import of facts with long constants',
    run: (service, { bodyBytes }) =>
      importFacts(service, 'long', Math.floor((6 * bodyBytes) / longConstant), (at) => long(at)),
  },
  ...['text/csv', 'text/tab-separated-values', 'text/x-datalog', 'application/n-triples', 'text/turtle'].map(
    (type): Scenario => ({
      name: `import of ${type}`,
      run: async (service, { batch }) => {
        const separator = type === 'text/csv' ? ',' : '\t';
        const lineOf = (at: number): string =>
          type === 'text/x-datalog'
            ? `edge(a${at}, b${at}).`
            : type.startsWith('text/t') || type === 'application/n-triples'
              ? type === 'text/tab-separated-values'
                ? ['edge', `a${at}`, `b${at}`].join(separator)
                : `<http://e/${at}> <http://e/edge> <http://e/${at + 1}> .`
              : ['edge', `a${at}`, `b${at}`].join(separator);
        await expect(service.call('POST', '/import', lines(batch, lineOf), { tenant: 'formats', type }));
      },
    }),
  ),
  {
    name: 'import: one line of 1 MB of statements',
    run: async (service) => {
      const line = Array.from({ length: 50_000 }, (_, at) => `oneline(a${at}, b${at}).`).join(' ');
      await expect(
        service.call('POST', '/import', `${line}\n`, { tenant: 'formats', type: 'text/x-datalog' }),
      );
    },
  },
  {
    name: 'import: one NDJSON line of 1 MB of fields',
    run: async (service) => {
      const fields = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`f${at}`, at]));
      await expect(
        service.call('POST', '/import', `${JSON.stringify(fields)}\n`, { tenant: 'formats', type: ndjson }),
      );
    },
  },
];

const bodies: Scenario[] = [
  post(
    'body: fields that nobody knows',
    '/ask',
    ({ bodyBytes }) => {
      const count = Math.floor(bodyBytes / 100);
      return Object.fromEntries(Array.from({ length: count }, (_, at) => [`field${at}`, 'x'.repeat(80)]));
    },
    { statuses: [400] },
  ),
  post(
    'body: metadata of 1,000 levels of lists',
    '/tell',
    ({ bodyBytes }) => ({
      predicate: 'p',
      args: ['a'],
      metadata: { note: Array.from({ length: Math.floor(bodyBytes / 20) }, (_, at) => ({ at })) },
    }),
    { statuses: [400] },
  ),
  post(
    'body: broken at its end',
    '/assert/facts',
    ({ bodyBytes }) => `${JSON.stringify(facts(Math.floor(bodyBytes / 60), edge)).slice(0, -1)},,`,
    { statuses: [400] },
  ),
  post(
    'body: two long lists',
    '/whatIf',
    ({ bodyBytes }) => ({
      assert: Array.from({ length: Math.floor(bodyBytes / 120) }, (_, at) => edge(at)),
      retract: Array.from({ length: Math.floor(bodyBytes / 120) }, (_, at) => edge(at)),
      goals: [{ predicate: 'edge', args: ['node1', '?x'] }],
    }),
    { statuses: [200, 400, 422] },
  ),
  post(
    'body: one text',
    '/rules/validate',
    ({ bodyBytes }) => ({
      text: repeated('grand(?x, ?z) :- edge(?x, ?y), edge(?y, ?z).\n', bodyBytes / 8),
    }),
    { statuses: [200, 400] },
  ),
  post(
    'body: one text of one word',
    '/context/ingest',
    ({ bodyBytes }) => ({
      text: repeated('word', bodyBytes),
    }),
    { statuses: [200, 400] },
  ),
  post(
    'free text of 1 MB',
    '/context',
    () => ({
      turns: [repeated('Anna lives in Vienna, near node17 (and Ben). ', 1_000_000)],
    }),
    { statuses: [200, 400] },
  ),
  post(
    'free text of 1 MB in lines',
    '/context',
    () => ({
      turns: [repeated('Anna lives in Vienna, near node17 (and Ben).\n', 1_000_000)],
    }),
    { statuses: [200, 400] },
  ),
  post(
    'statements of 1 MB as text',
    '/context/ingest',
    () => ({
      text: Array.from({ length: 40_000 }, (_, at) => `said(a${at}, b${at}).`).join('\n'),
    }),
    { tenant: 'ingest', statuses: [200, 400] },
  ),
  post(
    'statements of 1 MB in one line',
    '/context/ingest',
    () => ({
      text: Array.from({ length: 40_000 }, (_, at) => `said(a${at}, c${at}).`).join(' '),
    }),
    { tenant: 'ingest', statuses: [200, 400] },
  ),
  post(
    'question as a text of 1 MB',
    '/ask',
    () => ({
      text: Array.from({ length: 30_000 }, (_, at) => `edge(?x${at}, ?y)`).join(', '),
    }),
    { statuses: [200, 400, 422] },
  ),
  post(
    'question of many literals',
    '/ask',
    ({ bodyBytes }) => ({
      body: Array.from({ length: Math.floor(bodyBytes / 60) }, () => ({
        predicate: 'edge',
        args: ['?x', '?y'],
      })),
    }),
    { statuses: [400] },
  ),
  post(
    'goals without end',
    '/context/optimize',
    ({ bodyBytes }) => ({
      goals: Array.from({ length: Math.floor(bodyBytes / 60) }, () => ({
        predicate: 'edge',
        args: ['?x', '?y'],
      })),
    }),
    { statuses: [400, 422] },
  ),
  post('write: many facts', '/assert/facts', ({ batch }) =>
    facts(batch, (at) => ({ predicate: 'many', args: [`m${at}`, `n${at}`] })),
  ),
  post(
    'write: many facts, under a key',
    '/assert/facts',
    ({ batch }) => facts(batch, (at) => ({ predicate: 'many', args: [`k${at}`, `n${at}`] })),
    { headers: { 'idempotency-key': 'once' } },
  ),
  post(
    'write: long constants',
    '/assert/facts',
    ({ bodyBytes }) => facts(Math.floor(bodyBytes / longConstant), (at) => long(at, 'longer')),
    { tenant: 'long' },
  ),
  post(
    'write: a fact of 64 long arguments',
    '/tell',
    () => ({
      predicate: 'wide',
      args: Array.from({ length: 64 }, (_, at) => `${at}`.padStart(longConstant, 'y')),
    }),
    { tenant: 'long' },
  ),
  post(
    'write: one constant of the whole body',
    '/tell',
    ({ bodyBytes }) => ({ predicate: 'whole', args: ['z'.repeat(bodyBytes - 1000)] }),
    { tenant: 'whole', statuses: [200, 400] },
  ),
  post(
    'tool call: many facts',
    '/mcp',
    ({ bodyBytes }) => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'assert_facts', arguments: facts(Math.floor(bodyBytes / 100), edge) },
    }),
    { statuses: [200, 400, 404, 413] },
  ),
];

const goal = { predicate: 'edge', args: ['?x', '?y'] };
const longGoal = { predicate: 'long', args: ['?x', '?y'] };
const onLong = { tenant: 'long' };

const answers: Scenario[] = [
  post('/query of all facts', '/query', () => goal),
  post('/query of long constants', '/query', () => longGoal, onLong),
  post('/ask of all facts', '/ask', () => ({ ...goal, timeoutMs: 60_000 }), { statuses: [200, 422] }),
  post('/ask of long constants', '/ask', () => longGoal, { ...onLong, statuses: [200, 422] }),
  post('/ask of long constants with proof', '/ask', () => ({ ...longGoal, withProof: true }), {
    ...onLong,
    statuses: [200, 422],
  }),
  post('/ask of 100,000 with proof', '/ask', () => ({ ...goal, withProof: true, limit: 100_000 }), {
    statuses: [200, 422],
  }),
  post(
    '/ask of one of 64 long arguments',
    '/ask',
    () => ({ predicate: 'wide', args: Array.from({ length: 64 }, (_, at) => `?a${at}`) }),
    onLong,
  ),
  post(
    '/ask that compares long constants',
    '/ask',
    () => ({ text: 'long(?x, ?a), long(?y, ?b), ?x < ?y', timeoutMs: 2000 }),
    { ...onLong, statuses: [200, 422] },
  ),
  post(
    '/ask over a rule',
    '/ask',
    () => ({ text: 'edge(?x, ?y), edge(?y, ?z)', timeoutMs: 20_000, limit: 100 }),
    { statuses: [200, 422] },
  ),
  {
    name: 'look-ups by the second argument',
    run: async (service) => {
      for (let at = 0; at < 8; at++)
        await expect(service.call('POST', '/ask', { predicate: 'edge', args: ['?x', `node${at}`] }));
    },
  },
  get('/facts by default', '/facts?limit=1000'),
  get('/facts by salience', '/facts?sort=salience&limit=1000'),
  get('/facts by salience, ascending', '/facts?sort=salience&order=asc&limit=1000'),
  get('/facts by time', '/facts?sort=updatedAt&limit=1000'),
  get('/facts by predicate', '/facts?sort=predicate&order=desc&limit=1000'),
  get('/facts with a search', '/facts?q=node77&limit=1000'),
  get('/facts with a search that needs text', '/facts?q=1%2C%20node7&limit=1000'),
  get('/facts of long constants', '/facts?limit=1000', 'long'),
  get('/facts of long constants, by salience', '/facts?limit=1000&sort=salience', 'long'),
  get('/facts of long constants, searched', '/facts?limit=1000&q=77', 'long'),
  get('/facts derived', '/facts?derived=true&predicate=edge&limit=1000'),
  get('/predicates', '/predicates'),
  get('/scopes', '/scopes'),
  get('/memory/stats', '/memory/stats'),
  get('/memory/context', '/memory/context?maxFacts=100000'),
  get('/memory/context of long constants', '/memory/context?maxFacts=1000', 'long'),
  post('/context/optimize', '/context/optimize', () => ({ maxFacts: 100 })),
  post('/context/optimize with goals', '/context/optimize', () => ({
    maxFacts: 1000,
    goals: [{ predicate: 'edge', args: ['node1', '?x'] }],
    includeInferred: true,
  })),
  post(
    '/context/optimize of long constants',
    '/context/optimize',
    () => ({ maxFacts: 1000, goals: [longGoal], explainOmitted: true }),
    onLong,
  ),
  post('/context/optimize, a bucket', '/context/optimize', () => ({
    maxFacts: 10_000,
    relevanceBuckets: [{ name: 'a', predicates: ['edge', 'many'] }],
    explainOmitted: true,
  })),
  {
    name: 'window of 10,000 facts of 20 relations',
    before: (service, { facts: count }) =>
      importFacts(service, 'window', count, (at) => ({
        predicate: `relation${at % 20}`,
        args: [`node${at}`, `node${(at * 7919) % 1_000_003}`, `value${at % 1000}`],
      })),
    run: async (service) => {
      for (let again = 0; again < 3; again++)
        await expect(service.call('POST', '/context/optimize', { maxFacts: 10_000 }, { tenant: 'window' }));
    },
  },
  {
    name: 'searches',
    run: async (service) => {
      for (const query of ['node17', 'node18 value20', 'Which relation3 has node77?'])
        await expect(service.call('POST', '/search', { text: query }, { tenant: 'window' }));
    },
  },
  post('/aggregate, groups', '/aggregate', () => ({
    operation: 'COUNT',
    predicate: 'edge',
    args: ['?x', '?y'],
    groupBy: ['x'],
  })),
  post('/aggregate, least text', '/aggregate', () => ({
    operation: 'MIN',
    predicate: 'edge',
    args: ['?x', '?y'],
    variable: 'y',
  })),
  post(
    '/aggregate, least of long constants',
    '/aggregate',
    () => ({ operation: 'MIN', predicate: 'long', args: ['?x', '?y'], variable: 'x' }),
    onLong,
  ),
  post('/explain why not', '/explain', () => ({
    predicate: 'edge',
    args: ['node1', 'nobody'],
    mode: 'whyNot',
  })),
  post('/trace', '/trace', () => ({ predicate: 'edge', args: ['?x', '?y'], maxEvents: 100_000 }), {
    statuses: [200, 422],
  }),
  post('/whatIf of many facts', '/whatIf', () => ({
    assert: Array.from({ length: 50_000 }, (_, at) => ({ predicate: 'supposed', args: [`s${at}`] })),
    goals: [{ predicate: 'supposed', args: ['?x'] }],
  })),
  ...['ndjson', 'datalog', 'csv', 'ntriples'].flatMap((format) => [
    get(`/export as ${format}`, `/export?format=${format}`),
    get(`/export of long constants as ${format}`, `/export?format=${format}`, 'long'),
  ]),
  post(
    'tool call with a long answer',
    '/mcp',
    () => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'ask', arguments: { predicate: 'edge', args: ['?x', '?y'], limit: 100_000 } },
    }),
    {},
  ),
];

const writes: Scenario[] = [
  {
    name: 'fork of many facts',
    before: async (service, { facts: count }) =>
      importFacts(service, 'scopes', count / 2, (at) => ({ ...edge(at), scope: 'a' })),
    run: async (service) =>
      void (await expect(
        service.call('POST', '/scope/fork', { source: 'a', target: 'b' }, { tenant: 'scopes' }),
      )),
  },
  post('diff of scopes', '/scope/diff', () => ({ source: 'a', target: 'b' }), { tenant: 'scopes' }),
  post(
    'merge into an empty scope',
    '/scope/merge',
    () => ({ source: 'a', target: 'c', strategy: 'SOURCE_WINS' }),
    { tenant: 'scopes' },
  ),
  {
    name: 'deletion of a scope',
    run: async (service) =>
      void (await expect(service.call('DELETE', '/scope/b', null, { tenant: 'scopes' }))),
  },
  post('decay, dry', '/memory/decay', () => ({ dryRun: true, threshold: 0.9 })),
  post(
    'retract by pattern',
    '/retract/pattern',
    () => ({ predicate: 'edge', args: ['?x', '?y'], scope: 'c' }),
    { tenant: 'scopes' },
  ),
  post('decay', '/memory/decay', () => ({ threshold: 1 }), { tenant: 'scopes' }),
  {
    name: 'decay of long constants',
    before: (service, { bodyBytes }) =>
      importFacts(service, 'longDecay', Math.floor((6 * bodyBytes) / longConstant), (at) => long(at)),
    run: async (service) => {
      for (const dryRun of [true, true, true, false])
        await expect(
          service.call('POST', '/memory/decay', { threshold: 1, dryRun }, { tenant: 'longDecay' }),
        );
    },
  },
  {
    name: 'decay of all facts, under a key',
    before: (service, { facts: count }) => importFacts(service, 'keyed', count, edge),
    run: async (service) => {
      const headers = { 'idempotency-key': 'decay' };
      for (let again = 0; again < 2; again++)
        await expect(service.call('POST', '/memory/decay', { threshold: 1 }, { tenant: 'keyed', headers }));
    },
  },
  {
    name: 'decay of all facts',
    before: (service, { facts: count }) => importFacts(service, 'decay', count, edge),
    run: async (service) =>
      void (await expect(service.call('POST', '/memory/decay', { threshold: 1 }, { tenant: 'decay' }))),
  },
  {
    name: 'decay of all facts, which were used',
    before: async (service, { facts: count }) => {
      await importFacts(service, 'used', count, edge);
      await expect(service.call('POST', '/query', goal, { tenant: 'used' }));
    },
    run: async (service) =>
      void (await expect(service.call('POST', '/memory/decay', { threshold: 1 }, { tenant: 'used' }))),
  },
  {
    name: 'consolidation',
    before: (service, { batch }) =>
      importFacts(service, 'patterns', batch, (at) => ({
        predicate: 'seen',
        args: [`who${at % 1000}`, `at${at}`],
      })),
    run: async (service) =>
      void (await expect(service.call('POST', '/memory/consolidate', {}, { tenant: 'patterns' }))),
  },
  {
    name: 'commit of a transaction',
    before: async (service, { batch }) => {
      const begun = await expect(service.call('POST', '/tx/begin', {}, { tenant: 'tx' }));
      transaction = (JSON.parse(begun) as { id: string }).id;
      const body = facts(batch, (at) => ({ predicate: 'tx', args: [`a${at}`, `b${at}`] }));
      const headers = { 'x-transaction-id': transaction };
      await expect(service.call('POST', '/assert/facts', body, { tenant: 'tx', headers }));
    },
    run: async (service) =>
      void (await expect(service.call('POST', `/tx/commit/${transaction}`, {}, { tenant: 'tx' }))),
  },
  {
    name: 'many facts that end at once, read with a rule',
    before: async (service, { batch }) => {
      await expect(
        service.call('POST', '/teach', { text: 'ends(?x) :- ending(?x, ?y)' }, { tenant: 'ends' }),
      );
      const until = Date.now() + 8000;
      const body = facts(batch, (at) => ({
        predicate: 'ending',
        args: [`a${at}`, `b${at}`],
        validUntil: until,
      }));
      await expect(service.call('POST', '/assert/facts', body, { tenant: 'ends' }));
      await expect(service.call('POST', '/ask', { predicate: 'ends', args: ['?x'] }, { tenant: 'ends' }));
      await new Promise((resolve) => {
        setTimeout(resolve, until - Date.now() - 300);
      });
    },
    run: async (service) => {
      await new Promise((resolve) => {
        setTimeout(resolve, 1000);
      });
      await expect(service.call('POST', '/ask', { predicate: 'ends', args: ['?x'] }, { tenant: 'ends' }));
    },
  },
  post('snapshot', '/admin/snapshot', () => ({})),
  post('backup', '/admin/backup', () => ({})),
  post('nuke of a tenant', '/admin/databases/default/tenants/turns/nuke', () => ({})),
];

let transaction = '';

/** All scenarios, in order. */
export const scenarios: readonly Scenario[] = [...imports, ...bodies, ...answers, ...writes];
