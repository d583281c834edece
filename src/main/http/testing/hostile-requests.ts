/**
 * Requests for every operation of the table: good ones, nearly good ones and hostile ones.
 *
 * A third follows the schemas, a third is changed in one place, the rest is worse. Ids, names and cursors of earlier
 * answers are reused, so that a request meets what earlier ones created.
 */
import { type JsonSchema, jsonSchemaOf } from '../../../engine/contract/json-schema.ts';
import { type OperationName, operations } from '../../../engine/contract/operations.ts';
import type { OperationSpec } from '../../../engine/contract/operation-spec.ts';
import type { Chance } from './chance.ts';
import { hostileValues, mutated, mutatedText, type Plausible, texts, valueOf } from './schema-values.ts';

export interface HostileRequest {
  /** null: an address that is not in the table. */
  readonly operation: OperationName | null;
  readonly method: string;
  /** The address as sent, query string included. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
}

/** Values of earlier answers, by the name of the field. */
export type Seen = Map<string, string[]>;

const rules = [
  'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)',
  'ancestor(?x, ?y) :- parent(?x, ?y)',
  'ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z)',
  'childless(?x) :- person(?x), not parent(?x, ?_)',
  'size(?x, ?n) :- person(?x), ?n = count { ?y : parent(?x, ?y) }',
  '-flies(?x) :- penguin(?x)',
  'p(?x) :- not p(?x)',
  'p(?y) :- q(?x)',
  'p(?x :- q',
];

/** Of a database and a tenant that no request may destroy. */
const placeNames = ['scratch', 'nowhere', 'made-up', '.', '..', 'a b', '%2e%2e', 'x'.repeat(300)];

function plausibleOf(seen: Seen, isPath: boolean): Plausible {
  const ids = [...seen.values()].flat();
  return {
    predicate: ['parent', 'person', 'visited', 'ancestor', 'grandparent', 'penguin'],
    predicates: [['parent', 'visited'], ['person']],
    arg: ['alice', 'bob', '?x', '?y', '?_', 3, true, 'carol'],
    args: [['alice', 'bob'], ['?x', '?y'], ['bob', '?who'], ['alice']],
    head: [{ predicate: 'knows', args: ['?x', '?y'] }],
    text: [...rules, ...rules.map((rule) => `${rule}.`), 'parent(alice, bob). Who is it?'],
    turns: [['parent(alice, dave).', 'ancestor(alice, ?who)?']],
    question: ['Who is a parent of bob?'],
    scope: ['plan', 'plan-b', 'other'],
    source: ['plan', null],
    target: ['plan-b', 'plan'],
    base: ['plan'],
    sessionId: ['chat', 'chat-2'],
    name: isPath ? placeNames : ['scratch', 'made-up'],
    id: isPath && ids.length > 0 ? ids : ['f1-0', 'r1', 'f2-0'],
    timeoutMs: [1, 20, 500],
    cursor: seen.get('nextCursor') ?? ['x'],
    username: ['admin'],
    password: ['wrong'],
    maxEvents: [10],
    metadata: [{ importance: 0.5 }, { source: 'x', pinned: true }, {}],
    validFrom: ['always', 0, '2024-01-01'],
    validUntil: ['never', 9e12, '2090-01-01T00:00:00Z', 1],
    dryRun: [true, false],
  };
}

export function hostileRequest(chance: Chance, seen: Seen, headers: Record<string, string>): HostileRequest {
  if (chance.is(0.1)) return requestBesideTable(chance, seen, headers);
  const operation = chance.pick(Object.keys(operations)) as OperationName;
  const spec: OperationSpec = operations[operation];
  const wildness = chance.below(3);
  const path = pathOf(chance, spec, seen, wildness) + queryOf(chance, spec, seen, wildness);
  const method = chance.is(0.02) ? chance.pick(['GET', 'POST', 'PUT', 'OPTIONS', 'HEAD']) : spec.method;
  const body = bodyOf(chance, spec, seen, wildness);
  return {
    operation,
    method,
    path,
    headers: { ...headersOf(chance, spec, seen, wildness, body !== null), ...headers },
    body,
  };
}

const addresses = [
  '/metrics',
  '/openapi.json',
  '/openapi.json?x=1',
  '/docs',
  '/',
  '/samples/index.json',
  '/samples/..%2f..%2fpackage.json',
  '/assets/%2e%2e/%2e%2e/package.json',
  '/nowhere',
  '//',
  '/facts//',
  '/%',
];

/** Documents, files, and the messages of agents. */
function requestBesideTable(chance: Chance, seen: Seen, headers: Record<string, string>): HostileRequest {
  if (chance.is(0.5))
    return {
      operation: null,
      method: chance.pick(['GET', 'HEAD', 'POST']),
      path: chance.pick(addresses),
      headers,
      body: null,
    };
  const plausible = plausibleOf(seen, false);
  const text = chance.pick(plausible['text'] ?? []);
  const asked = {
    predicate: chance.pick(plausible['predicate'] ?? []),
    args: chance.pick(plausible['args'] ?? []),
    text,
  };
  const messages = [
    {
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    },
    { method: 'tools/list' },
    {
      method: 'tools/call',
      params: { name: chance.pick(['ask', 'tell', 'teach', 'predicates', 'x']), arguments: asked },
    },
    {
      method: 'resources/read',
      params: { uri: chance.pick(['kb://predicates', 'kb://facts/person', 'kb://rules']) },
    },
  ];
  let message: unknown = { jsonrpc: '2.0', id: 1, ...chance.pick(messages) };
  if (chance.is(0.4)) message = mutated(chance, message);
  if (chance.is(0.1)) message = [message, message];
  const session = seen.get('mcp-session-id') ?? [];
  return {
    operation: null,
    method: 'POST',
    path: chance.pick(['/mcp', '/mcp', '/mcp', '/mcp/sse', '/mcp/messages?sessionId=x']),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session.length > 0 && chance.is(0.7) ? { 'mcp-session-id': chance.pick(session) } : {}),
      ...headers,
    },
    body: JSON.stringify(message),
  };
}

type Schema = NonNullable<OperationSpec['body']>;
const schemas = new Map<Schema, JsonSchema>();

function schemaOf(schema: Schema): JsonSchema {
  let made = schemas.get(schema);
  if (made === undefined) schemas.set(schema, (made = jsonSchemaOf(schema, 'input')));
  return made;
}

function pathOf(chance: Chance, spec: OperationSpec, seen: Seen, wildness: number): string {
  const path = chance.pick([spec.path, ...(spec.aliases ?? [])]);
  if (spec.params === undefined) return path;
  const params = valueOf(chance, schemaOf(spec.params), plausibleOf(seen, true));
  const values = params as Record<string, unknown>;
  return path.replace(/:(\w+)/g, (_whole, name: string) => {
    const value = wildness === 2 && chance.is(0.5) ? chance.pick(hostileValues) : values[name];
    return escaped(chance, textOf(value), wildness);
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Percent-encoded, incorrectly if it is wild. */
function escaped(chance: Chance, text: string, wildness: number): string {
  if (wildness === 2 && chance.is(0.1))
    return chance.pick(['%', '%ff', '%C0%AF', '%00', '%2f..%2f', '%zz', '%ED%A0%80']);
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/g, '_')).slice(0, 4000);
}

function queryOf(chance: Chance, spec: OperationSpec, seen: Seen, wildness: number): string {
  const parts: [string, unknown][] = [];
  if (spec.query !== undefined) {
    const value = valueOf(chance, schemaOf(spec.query), {
      ...plausibleOf(seen, false),
      limit: ['1', '100'],
      timeoutMs: ['20', '500'],
      dryRun: ['true', 'false'],
      predicates: ['parent,visited'],
      minSalience: ['0.1'],
    });
    parts.push(...Object.entries(value as object).filter(([, each]) => each !== null));
  }
  if (wildness === 2 && chance.is(0.3))
    parts.push([chance.pick(['q', 'x', 'limit', 'scope', '__proto__', 'constructor']), chance.pick(texts)]);
  if (parts.length === 0) return '';
  return `?${parts.map(([name, value]) => `${name}=${escaped(chance, textOf(value), wildness)}`).join('&')}`;
}

function bodyOf(chance: Chance, spec: OperationSpec, seen: Seen, wildness: number): HostileRequest['body'] {
  if (spec.takes !== undefined) return importOf(chance);
  if (spec.body === undefined) return wildness === 2 && chance.is(0.2) ? '{"unasked": 1}' : null;
  let value = valueOf(chance, schemaOf(spec.body), plausibleOf(seen, false));
  for (let times = wildness === 0 ? 0 : 1 + chance.below(wildness * 2); times > 0; times--)
    value = mutated(chance, value);
  const text = JSON.stringify(value) ?? '';
  return wildness === 2 && chance.is(0.3) ? mutatedText(chance, text) : text;
}

const importLines = [
  '{"predicate":"parent","args":["alice","bob"]}',
  '{"rule":"ancestor(?x, ?y) :- parent(?x, ?y)."}',
  '{"predicate":"p","args":[1,{}]}',
  `{"predicate":"p","args":[],"metadata":{"m":${'['.repeat(2000)}${']'.repeat(2000)}}}`,
  '{"predicate":"p","args":["\\ud800"]}',
  'parent,alice,bob',
  '"parent","al""ice",bob',
  '"never closed',
  'parent(alice, bob).',
  'p(?x) :- q(?x).',
  '<http://a/b> <http://a/parent> "x"@en .',
  '@prefix a: <http://a/> . a:b a:parent [ a:c "d" ] .',
  '\u0000',
  '',
  'x'.repeat(5000),
  '\ufeff',
];

function importOf(chance: Chance): string {
  return Array.from({ length: chance.below(12) }, () => chance.pick(importLines)).join(
    chance.pick(['\n', '\r\n', '\r']),
  );
}

function headersOf(
  chance: Chance,
  spec: OperationSpec,
  seen: Seen,
  wildness: number,
  hasBody: boolean,
): Record<string, string> {
  const headers: Record<string, string> = {};
  const type = chance.pick(spec.takes ?? ['application/json']);
  if (hasBody) headers['content-type'] = type;
  if (chance.is(0.1)) headers['idempotency-key'] = chance.pick(['k1', 'k2', 'k3', 'k'.repeat(255)]);
  if (chance.is(0.05)) headers['x-request-id'] = chance.pick(['mine', 'x'.repeat(129), '\u00e9', '{"a":1}']);
  if (chance.is(0.1)) headers['if-match'] = chance.pick(['*', '"x"', 'W/"x"', ...(seen.get('etag') ?? [])]);
  const transactions = seen.get('transaction') ?? [];
  if (spec.transaction !== undefined && transactions.length > 0 && chance.is(0.2))
    headers['x-transaction-id'] = chance.pick(transactions);
  if (chance.is(0.1)) headers['last-event-id'] = chance.pick(['1.0', '0.0', 'x', '9'.repeat(400)]);
  if (wildness === 2)
    for (let times = chance.below(3); times > 0; times--)
      headers[chance.pick(oddNames)] = chance.pick(oddTexts);
  if (wildness === 2 && chance.is(0.1)) delete headers['content-type'];
  return headers;
}

const oddNames = [
  'content-type',
  'content-encoding',
  'accept',
  'idempotency-key',
  'if-match',
  'x-transaction-id',
  'last-event-id',
  'x-request-id',
  'accept-encoding',
  'x-http-method-override',
  'x-forwarded-for',
  'range',
  'if-none-match',
  'cookie',
];
const oddTexts = [
  '',
  '*',
  ',',
  '"',
  'x'.repeat(3000),
  '\u00ff\u00fe',
  'application/json; charset=utf-16',
  'application/json; charset="utf-8"',
  'application/xml',
  'gzip',
  'text/csv',
  'bytes=0-1',
  '127.0.0.1',
  '../../etc/passwd',
  'DELETE',
];
