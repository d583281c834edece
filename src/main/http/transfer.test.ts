import { get, request } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FactList } from '../../engine/contract/facts.ts';
import type { RuleOutcome } from '../../engine/contract/rules.ts';
import type { ImportDone, ImportUndone } from '../../engine/contract/transfer.ts';
import { compareText } from '../../engine/index.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

let service: ServiceUnderTest;
let count = 0;

beforeAll(async () => {
  service = await startServiceUnderTest({ MAX_REQUEST_BODY_BYTES: '2000' });
});

afterAll(() => service.close());

interface Imported {
  readonly status: number;
  readonly type: string | null;
  readonly lines: Record<string, unknown>[];
  readonly done: ImportDone;
}

/** A separate tenant. */
function newTenant(): string {
  return `tenant-${++count}`;
}

async function imported(
  tenant: string,
  type: string,
  body: RequestInit['body'],
  query = '',
  headers: Record<string, string> = {},
): Promise<Imported> {
  const response = await fetch(`${service.address}/import${query}`, {
    method: 'POST',
    headers: { 'x-tenant-id': tenant, 'content-type': type, ...headers },
    body: body ?? null,
    duplex: 'half',
  } as RequestInit);
  const content = await response.text();
  const lines = content
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const done = lines.at(-1) as unknown as ImportDone;
  return { status: response.status, type: response.headers.get('content-type'), lines, done };
}

async function facts(tenant: string, query = ''): Promise<FactList['facts']> {
  const { body } = await service.call<FactList>('GET', `/facts?limit=1000${query}`, undefined, {
    headers: { 'x-tenant-id': tenant },
  });
  return body.facts;
}

async function atoms(tenant: string): Promise<unknown[]> {
  const found = await facts(tenant);
  return found
    .map(({ predicate, args, truthVal, scope }) => [
      truthVal ? predicate : `-${predicate}`,
      ...args,
      ...(scope === null ? [] : [`in ${scope}`]),
    ])
    .sort((left, right) => compareText(JSON.stringify(left), JSON.stringify(right)));
}

interface Exported {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
  readonly omitted: string | undefined;
}

function exported(tenant: string, query = ''): Promise<Exported> {
  return new Promise((resolve, reject) => {
    get(`${service.address}/export${query}`, { headers: { 'x-tenant-id': tenant } }, (response) => {
      text(response).then((body) => {
        const omitted = response.trailers['x-omitted'];
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body, omitted });
      }, reject);
    }).on('error', reject);
  });
}

it('imports NDJSON: each line is a fact as in /assert/fact or a rule', async () => {
  const tenant = newTenant();
  const body = [
    { predicate: 'edge', args: ['a', 1] },
    { predicate: 'edge', args: ['a', 'b'], truthVal: false, scope: 's', metadata: { source: 'x' } },
    { predicate: 'later', args: [], validFrom: '2999-01-01T00:00:00Z', validUntil: 'never' },
    { rule: 'linked(?x, ?y) :- edge(?y, ?x).', name: 'back', scope: 's', enabled: false },
    { predicate: 'edge', args: ['a', '1'] },
  ];
  const { status, type, done } = await imported(
    tenant,
    'application/x-ndjson',
    body.map((line) => JSON.stringify(line)).join('\n'),
  );
  expect([status, type]).toEqual([200, 'application/x-ndjson; charset=utf-8']);
  expect(done).toEqual({
    done: true,
    id: expect.any(String) as string,
    asserted: 3,
    updated: 0,
    unchanged: 1,
    rules: 1,
    failed: 0,
    errors: [],
    generation: expect.any(Number) as number,
  });
  expect(await atoms(tenant)).toEqual([['-edge', 'a', 'b', 'in s'], ['edge', 'a', '1'], ['later']]);
  expect((await facts(tenant)).map(({ importId }) => importId)).toEqual([done.id, done.id, done.id]);
  const { body: listed } = await service.call<{ rules: { name: string; scope: string; enabled: boolean }[] }>(
    'GET',
    '/rules',
  );
  expect(listed.rules.find(({ name }) => name === 'back')).toMatchObject({ scope: 's', enabled: false });
});

it('reports an invalid line by its number and skips it', async () => {
  const tenant = newTenant();
  const body = Buffer.concat([
    Buffer.from('\uFEFF{"predicate":"p","args":["a"]}\r\n\n{"predicate":"p","args":["?x"]}\n{broken\n[]\n'),
    Buffer.from([0x7b, 0xff, 0x0a]),
    Buffer.from('{"predicate":"p q","args":[]}\n{"predicate":"p","args":[],"tll":3}\n'),
    Buffer.from('{"rule":"h(?x) :- p(?y)."}\n{"rule":"h("}\n{"predicate":"p","args":["ü"]}'),
  ]);
  const { done } = await imported(tenant, 'application/x-ndjson', body);
  expect(done).toMatchObject({ asserted: 2, failed: 8 });
  expect(done.errors.map(({ line }) => line)).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
  expect(done.errors[4]?.message).toMatch(/^predicate: /);
  expect(done.errors[5]?.message).toBe('tll: unknown field');
  expect(done.errors[6]?.message).toContain('?x');
  expect(await atoms(tenant)).toEqual([
    ['p', 'a'],
    ['p', 'ü'],
  ]);
});

it('imports CSV and TSV without a header: the first column is the predicate, or every column an argument', async () => {
  const tenant = newTenant();
  const csv = 'p,a,"b, ""c""\r\nd"\r\nq\r\n\r\np,"x"y\r\np,,""\r\nnot "quoted"\r\n';
  const { done } = await imported(tenant, 'text/csv; charset=utf-8', csv);
  expect(done).toMatchObject({ asserted: 3, failed: 2 });
  expect(done.errors.map(({ line }) => line)).toEqual([5, 7]);
  expect(await atoms(tenant)).toEqual([['p', '', ''], ['p', 'a', 'b, "c"\r\nd'], ['q']]);
  const other = newTenant();
  const tsv = await imported(other, 'text/tab-separated-values', 'a\tb, c\n1\t2\n', '?predicate=r&scope=s');
  expect(tsv.done).toMatchObject({ asserted: 2, failed: 0 });
  expect(await atoms(other)).toEqual([
    ['r', '1', '2', 'in s'],
    ['r', 'a', 'b, c', 'in s'],
  ]);
});

it('imports statements, possibly of several lines, and skips unreadable ones', async () => {
  const tenant = newTenant();
  const body =
    '% a comment\np(a,\n  b). -q(c). alone.\nbroken(. p(x).\np(?v).\nreach(?x) :- p(?x,\n ?y), not q(?y).\nlast(one)';
  const { done } = await imported(tenant, 'text/x-datalog', body, '?scope=t');
  expect(done).toMatchObject({ asserted: 4, rules: 1, failed: 2 });
  expect(done.errors.map(({ line }) => line)).toEqual([4, 5]);
  expect(await atoms(tenant)).toEqual([
    ['-q', 'c', 'in t'],
    ['alone', 'in t'],
    ['last', 'one', 'in t'],
    ['p', 'a', 'b', 'in t'],
  ]);
});

it('imports triples: the predicate is the full IRI, blank nodes are _:x, literals their lexical form', async () => {
  const tenant = newTenant();
  const turtle = `@prefix e: <http://e/> .
e:a e:p "one"@en, 2 ;
  e:q _:x .
e:a e:broken "open .
<http://e/b> a e:C .
_:x <http://e/(x)> "illegal" .
`;
  const { done } = await imported(tenant, 'text/turtle', turtle);
  expect(await atoms(tenant)).toEqual([
    ['http://e/p', 'http://e/a', '2'],
    ['http://e/p', 'http://e/a', 'one'],
    ['http://e/q', 'http://e/a', '_:x'],
    ['http://www.w3.org/1999/02/22-rdf-syntax-ns#type', 'http://e/b', 'http://e/C'],
  ]);
  expect(done.errors.map(({ line }) => line)).toEqual([4, 6]);
  const other = newTenant();
  const triples = '<http://e/a> <http://e/p> "x\\ny" . # said\nrubbish\n_:x <http://e/p> _:y .\n\n# no\n';
  const second = await imported(other, 'application/n-triples', triples);
  expect(second.done).toMatchObject({ asserted: 2, failed: 1 });
  expect(second.done.errors[0]?.line).toBe(2);
  expect(await atoms(other)).toEqual([
    ['http://e/p', '_:x', '_:y'],
    ['http://e/p', 'http://e/a', 'x\ny'],
  ]);
});

it('undoes an import: retracts what it newly asserted, except facts changed since', async () => {
  const tenant = newTenant();
  const init = { headers: { 'x-tenant-id': tenant } };
  await service.call('POST', '/tell', { predicate: 'p', args: ['before'] }, init);
  const csv = 'p,before\np,a\np,b\np,c\np,gone\n';
  const { done } = await imported(tenant, 'text/csv', csv);
  expect(done).toMatchObject({ asserted: 4, unchanged: 1 });
  await service.call('POST', '/tell', { predicate: 'p', args: ['b'], metadata: { pinned: true } }, init);
  await service.call('POST', '/retract', { predicate: 'p', args: ['gone'] }, init);
  const undone = await service.call<ImportUndone>('POST', `/import/${done.id}/undo`, undefined, init);
  expect(undone.body).toMatchObject({ retracted: 2, kept: ['p(b)'] });
  expect(undone.body.generation).toBeGreaterThan(done.generation);
  expect(await atoms(tenant)).toEqual([
    ['p', 'b'],
    ['p', 'before'],
  ]);
  const again = await service.call<ImportUndone>('POST', `/import/${done.id}/undo`, undefined, init);
  expect(again.body).toMatchObject({ retracted: 0, kept: ['p(b)'] });
  expect(await service.call('POST', `/import/${done.id}/undo`)).toMatchObject({
    status: 404,
    body: { code: 'NotFound' },
  });
});

it('accepts undoing an import that changed nothing', async () => {
  const tenant = newTenant();
  const { done } = await imported(tenant, 'text/csv', '');
  expect(done).toMatchObject({ asserted: 0, failed: 0 });
  const undone = await service.call('POST', `/import/${done.id}/undo`, undefined, {
    headers: { 'x-tenant-id': tenant },
  });
  expect(undone).toMatchObject({ status: 200, body: { retracted: 0, kept: [] } });
});

it('counts the effects of an import in a dry run and changes nothing', async () => {
  const tenant = newTenant();
  await imported(tenant, 'text/csv', 'p,a\np,b\n');
  const body = [
    { predicate: 'p', args: ['a'] },
    { predicate: 'p', args: ['b'], metadata: { confidence: 0.5 } },
    { predicate: 'p', args: ['c'] },
    { predicate: 'p', args: ['c'] },
    { predicate: 'p', args: ['c'], validUntil: 'no time' },
    { predicate: 'p', args: ['d'], validFrom: 10, validUntil: 5 },
    { rule: 'dry(?x) :- p(?x), not wet(?x).' },
    { rule: 'wet(?x) :- p(?x), not dry(?x).' },
  ]
    .map((line) => JSON.stringify(line))
    .join('\n');
  const before = await facts(tenant);
  const dry = await imported(tenant, 'application/x-ndjson', body, '?dryRun=true');
  expect(dry.done).toMatchObject({
    dryRun: true,
    asserted: 1,
    updated: 1,
    unchanged: 2,
    rules: 1,
    failed: 3,
  });
  expect(dry.done.errors.map(({ line }) => line)).toEqual([5, 6, 8]);
  expect(await facts(tenant)).toEqual(before);
  const real = await imported(tenant, 'application/x-ndjson', body);
  const { id: _dry, dryRun: _flag, generation: _at, ...expected } = dry.done;
  expect(real.done).toMatchObject(expected);
  expect(real.done).not.toHaveProperty('dryRun');
});

it('exempts imports from the body limit and reports progress', async () => {
  const tenant = newTenant();
  const lines = (async function* () {
    for (let at = 0; at < 120_000; at += 1000)
      yield Buffer.from(Array.from({ length: 1000 }, (_, more) => `n,${at + more}\n`).join(''));
  })();
  const body = Readable.from(lines) as unknown as RequestInit['body'];
  const { lines: told, done } = await imported(tenant, 'text/csv', body);
  expect(done).toMatchObject({ asserted: 120_000, failed: 0 });
  expect(told.length).toBeGreaterThan(2);
  for (const { processed, asserted, failed } of told.slice(0, -1))
    expect([asserted, failed]).toEqual([processed, 0]);
});

it('rejects another media type, a missing tenant and a misplaced predicate', async () => {
  const tenant = newTenant();
  expect((await imported(tenant, 'application/json', '{}')).lines[0]).toMatchObject({ status: 415 });
  expect((await service.call('POST', '/import')).status).toBe(415);
  expect((await imported('', 'text/csv', 'p')).lines[0]).toMatchObject({ status: 400 });
  const misplaced = await imported(tenant, 'text/x-datalog', 'p.', '?predicate=q');
  expect(misplaced.lines[0]).toMatchObject({ status: 400, code: 'ValidationException' });
  const unknown = await imported(tenant, 'text/csv', 'p', '?dryrun=true');
  expect(unknown.lines[0]).toMatchObject({ status: 400 });
  expect(await atoms(tenant)).toEqual([]);
});

it('rejects an overlong line and continues after it', async () => {
  const tenant = newTenant();
  const body = `p,a\np,${'x'.repeat(10_000_000)}\np,b\n`;
  const { done } = await imported(tenant, 'text/csv', body);
  expect(done).toMatchObject({ asserted: 2, failed: 1 });
  expect(done.errors[0]).toEqual({ line: 2, message: 'the line is longer than 10000000 bytes' });
});

const hostile = [
  '',
  ' a ',
  'a,b',
  '"',
  'a\\"b',
  'a\r\nb\u0085\u2028',
  '100%',
  '#1',
  'ü😀',
  '-x',
  '\u0000',
  '(',
  '<a b>',
];

async function fill(tenant: string): Promise<void> {
  const lines = hostile.flatMap((one, at) => [
    { predicate: 'h', args: [one, hostile[(at + 1) % hostile.length]] },
    { predicate: 'h', args: [one], truthVal: false, scope: 'S c', metadata: { '': one } },
    { predicate: 'a.b', args: [], validFrom: 32_503_680_000_000 + at, scope: `t${at}` },
  ]);
  const body = lines.map((line) => JSON.stringify(line)).join('\n');
  expect((await imported(tenant, 'application/x-ndjson', body)).done.failed).toBe(0);
}

it('round-trips an NDJSON export through /import', async () => {
  const [tenant, other] = [newTenant(), newTenant()];
  const rule = {
    text: 'exported(?x) :- h(?x, "a,b").',
    name: 'N',
    description: 'D',
    scope: 'S c',
    enabled: false,
  };
  await service.call<RuleOutcome>('POST', '/teach', rule);
  await fill(tenant);
  const first = await exported(tenant);
  expect(first.headers['content-type']).toContain('application/x-ndjson');
  expect(first.headers['content-disposition']).toContain('filename=');
  expect(first.omitted).toBe('0');
  expect(first.body).toContain(
    JSON.stringify({
      rule: 'exported(?x) :- h(?x, "a,b")',
      scope: 'S c',
      name: 'N',
      description: 'D',
      enabled: false,
    }),
  );
  expect((await imported(other, 'application/x-ndjson', first.body)).done.failed).toBe(0);
  const second = await exported(other);
  expect(second.body).toBe(first.body);
  const { body: without } = await exported(tenant, '?rules=false&scope=S%20c&predicate=h');
  expect(without.trim().split('\n')).toHaveLength(hostile.length);
});

it('exports facts and rules as datalog', async () => {
  const [tenant, other] = [newTenant(), newTenant()];
  await fill(tenant);
  const { body, omitted } = await exported(tenant, '?format=datalog&predicate=h');
  expect(omitted).toBe('0');
  expect((await imported(other, 'text/x-datalog', body)).done.failed).toBe(0);
  expect((await exported(other, '?format=datalog&predicate=h')).body).toBe(body);
});

it('exports predicate and arguments of true facts as CSV, and counts what it leaves out', async () => {
  const [tenant, other] = [newTenant(), newTenant()];
  await fill(tenant);
  const { body, omitted } = await exported(tenant, '?format=csv&predicate=h');
  expect(omitted).toBe(String(hostile.length));
  expect((await imported(other, 'text/csv', body)).done).toMatchObject({
    asserted: hostile.length,
    failed: 0,
  });
  expect((await exported(other, '?format=csv&predicate=h')).body).toBe(body);
});

it('puts an apostrophe before what a spreadsheet takes for a formula, on request', async () => {
  const tenant = newTenant();
  const values = [
    '=1+1',
    '+1',
    '-5',
    '-5.25',
    '-1e-3',
    '-1+1',
    '-a',
    '@SUM(A1)',
    '\tx',
    '\rx',
    'a=b',
    "'=x",
    '5',
    '=","',
  ];
  for (const value of ['=p', ...values])
    await service.call(
      'POST',
      '/assert/fact',
      value === '=p' ? { predicate: value, args: [] } : { predicate: 'p', args: [value] },
      {
        headers: { 'x-tenant-id': tenant },
      },
    );
  const { body } = await exported(tenant, '?format=csv&escape=spreadsheet');
  const fields = body
    .split('\r\n')
    .slice(0, -1)
    .map((line) => line.replace(/^p,/, ''));
  expect(fields).toEqual([
    "'=p",
    "'=1+1",
    "'+1",
    '-5',
    '-5.25',
    '-1e-3',
    "'-1+1",
    "'-a",
    "'@SUM(A1)",
    "'\tx",
    '"\'\rx"',
    'a=b',
    "'=x",
    '5',
    '"\'="","""',
  ]);
  expect((await exported(tenant, '?format=csv')).body).toContain('p,=1+1\r\n');
  const [wrong, other, unknown] = await Promise.all(
    ['?escape=spreadsheet', '?format=datalog&escape=spreadsheet', '?format=csv&escape=excel'].map((query) =>
      exported(tenant, query),
    ),
  );
  expect([wrong?.status, other?.status, unknown?.status]).toEqual([400, 400, 400]);
  expect(JSON.parse(other?.body ?? '')).toMatchObject({
    code: 'ValidationException',
    errors: [{ path: 'escape', message: 'is for format=csv' }],
  });
});

it('exports true binary facts as N-Triples, and counts what it leaves out', async () => {
  const [tenant, other] = [newTenant(), newTenant()];
  const csv = hostile.map((one) => `http://e/p,http://e/s,"${one.replaceAll('"', '""')}"\r\n`).join('');
  await imported(tenant, 'text/csv', `${csv}one,a\r\nplain,a b,_:x\r\n`);
  const { body, omitted } = await exported(tenant, '?format=ntriples');
  expect(omitted).toBe('1');
  expect(body).toContain('<urn:corollary:a%20b> <urn:corollary:plain> _:x .\n');
  expect((await imported(other, 'application/n-triples', body)).done).toMatchObject({ failed: 0 });
  expect((await exported(other, '?format=csv&predicate=http://e/p')).body).toBe(
    (await exported(tenant, '?format=csv&predicate=http://e/p')).body,
  );
});

it('exports an unknown tenant as empty, with the trailer', async () => {
  expect(await exported(newTenant(), '?format=csv')).toMatchObject({ status: 200, body: '', omitted: '0' });
  expect((await exported(newTenant(), '?format=xml')).status).toBe(400);
});

it('stops an import when its client disconnects and keeps the whole batches stored before', async () => {
  const tenant = newTenant();
  const sent = request(`${service.address}/import`, {
    method: 'POST',
    headers: { 'x-tenant-id': tenant, 'content-type': 'text/csv' },
  });
  const ended = new Promise((resolve) => sent.on('error', resolve));
  for (let at = 0; at < 12_000; at++) sent.write(`n,${at}\n`);
  const stored = async (): Promise<number> =>
    (await service.call<FactList>('GET', '/facts?limit=1', undefined, { headers: { 'x-tenant-id': tenant } }))
      .body.total;
  await expect.poll(stored).toBe(10_000);
  sent.destroy(new Error('gone'));
  await ended;
  expect((await service.call('GET', '/health')).status).toBe(200);
  expect(await stored()).toBe(10_000);
  const [{ importId } = { importId: null }] = await facts(tenant);
  const undone = await service.call<ImportUndone>('POST', `/import/${importId}/undo`, undefined, {
    headers: { 'x-tenant-id': tenant },
  });
  expect(undone.body).toMatchObject({ retracted: 10_000, kept: [] });
  expect(await stored()).toBe(0);
});

it('answers HEAD /export with the headers of GET and no body', async () => {
  const tenant = newTenant();
  await fill(tenant);
  const response = await fetch(`${service.address}/export?format=csv`, {
    method: 'HEAD',
    headers: { 'x-tenant-id': tenant },
  });
  expect([response.status, await response.text()]).toEqual([200, '']);
  expect(response.headers.get('content-type')).toContain('text/csv');
  expect(response.headers.get('content-disposition')).toContain('corollary.csv');
});

it('sends a complete export to HTTP/1.0, which has no trailers', async () => {
  const tenant = newTenant();
  await imported(tenant, 'text/csv', 'p,a\np,b\n');
  const answer = await service.raw(
    `GET /export?format=csv HTTP/1.0\r\nHost: localhost\r\nX-Tenant-ID: ${tenant}\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(answer).toMatch(/\r\n\r\np,a\r\np,b\r\n$/);
});

it('exports only a scope, unscoped facts or a predicate', async () => {
  const tenant = newTenant();
  await fill(tenant);
  const lines = async (query: string) =>
    (await exported(tenant, `?rules=false${query}`)).body.split('\n').slice(0, -1);
  expect(await lines('')).toHaveLength(3 * hostile.length);
  expect(await lines('&scope=S%20c')).toHaveLength(hostile.length);
  expect(await lines('&unscoped=true')).toHaveLength(hostile.length);
  expect(await lines('&predicate=a.b')).toHaveLength(hostile.length);
  expect(await lines('&predicate=a.b&scope=t1')).toEqual([expect.stringContaining('"scope":"t1"')]);
  expect(await lines('&scope=none')).toEqual([]);
  for (const wrong of ['?scope=s&unscoped=true', '?predicate=a%20b', '?rules=maybe', '?limit=1'])
    expect([wrong, (await exported(tenant, wrong)).status]).toEqual([wrong, 400]);
});

it('ends an export when a client that reads nothing disconnects', async () => {
  const tenant = newTenant();
  await imported(tenant, 'text/csv', Array.from({ length: 20_000 }, (_, at) => `n,${at}\n`).join(''));
  const ended = await new Promise<boolean>((resolve, reject) => {
    const sent = get(`${service.address}/export`, { headers: { 'x-tenant-id': tenant } }, (response) => {
      response.once('readable', () => {
        response.destroy();
        resolve(true);
      });
    });
    sent.on('error', reject);
  });
  expect(ended).toBe(true);
  await expect
    .poll(async () => {
      const { body } = await service.call<string>('GET', '/metrics');
      // The request in flight is this one.
      return /^service_http_requests_in_flight (\d+)/m.exec(body)?.[1];
    })
    .toBe('1');
});

it('splits bytes into the same lines, whatever the chunks', async () => {
  const body = Buffer.from('p,"ü\r\n""😀"\r\nq,\u2028\n"r",,\nbad"\ns');
  const results = new Set<string>();
  for (const size of [1, 2, 3, 5, 100]) {
    const tenant = newTenant();
    const pieces = async function* () {
      for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
    };
    const stream = Readable.from(pieces()) as unknown as RequestInit['body'];
    const { done } = await imported(tenant, 'text/csv', stream);
    results.add(JSON.stringify([done.failed, done.errors, await atoms(tenant)]));
  }
  expect([...results]).toHaveLength(1);
  expect([...results][0]).toContain('"line":5');
});
