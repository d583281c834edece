import { Ajv2020 } from 'ajv/dist/2020.js';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OperationName, operations } from '../../engine/contract/operations.ts';
import { type OperationSpec, operationTags } from '../../engine/contract/operation-spec.ts';
import { type ProblemCode, problems, statusOf } from '../../engine/contract/problems.ts';
import { checkInput, checkParams } from '../base/dispatch.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { openApiDocument } from './openapi.ts';
import { DescribedApi, type DescribedContent, type OpenApiDocument } from './testing/described-api.ts';
import { openApiStructure } from './testing/openapi-structure.ts';

const table = Object.entries<OperationSpec>(operations);
let service: ServiceUnderTest;
let api: DescribedApi;

/** Every route registered with the application. */
const routes: RouteOptions[] = [];

/** The framework reports each application that is created. */
const onApplication = (message: unknown): void => {
  const { fastify } = message as { readonly fastify: FastifyInstance };
  fastify.addHook('onRoute', (route) => {
    routes.push(route);
  });
};

beforeAll(async () => {
  subscribe('fastify.initialization', onApplication);
  service = await startServiceUnderTest();
  unsubscribe('fastify.initialization', onApplication);
  api = new DescribedApi((await service.call<OpenApiDocument>('GET', '/openapi.json')).body);
});

afterAll(() => service.close());

/** `/facts/{id}` as the table writes it. */
function asInTable(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

function places() {
  return api.places().map(({ method, path, operation }) => ({ name: `${method} ${path}`, path, operation }));
}

/** The request and response bodies of operations, each with its location. */
function contents(): { where: string; type: string; content: DescribedContent }[] {
  return places().flatMap(({ name, operation }) => {
    const inside: [string, DescribedContent][] = Object.entries(operation.requestBody?.content ?? {});
    for (const status of Object.keys(operation.responses))
      inside.push(...Object.entries(api.responseOf(operation, Number(status))?.content ?? {}));
    return inside.map(([type, content]) => ({ where: `${name} ${type}`, type, content }));
  });
}

describe('GET /openapi.json is OpenAPI 3.1', () => {
  it('has the structure that the specification requires', () => {
    const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
    const validate = ajv.compile(openApiStructure);
    validate(api.document);
    expect(validate.errors ?? []).toEqual([]);
  });

  it('resolves every reference and uses every component', () => {
    const text = JSON.stringify(api.document);
    const used = new Set<string>();
    for (const [, section = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
      expect(api.document.components[section]).toHaveProperty([name]);
      used.add(`${section}/${name}`);
    }
    const there = Object.entries(api.document.components).flatMap(([section, members]) =>
      section === 'securitySchemes' ? [] : Object.keys(members).map((name) => `${section}/${name}`),
    );
    expect(there.filter((name) => !used.has(name))).toEqual([]);
    expect(text).not.toMatch(/\$defs|__schema/);
  });

  it('has an id for each operation, and describes its tags and security schemes', () => {
    const ids = places().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = api.document.tags.map(({ name }) => name);
    expect(tags).toEqual(Object.keys(operationTags));
    const schemes = Object.keys(api.document.components['securitySchemes'] ?? {});
    for (const { operation } of places()) {
      expect(tags).toEqual(expect.arrayContaining([...operation.tags]));
      for (const requirement of operation.security ?? [])
        expect(schemes).toEqual(expect.arrayContaining(Object.keys(requirement)));
    }
  });

  it('names each parameter once, and path parameters as the path does', () => {
    for (const { name, path, operation } of places()) {
      const parameters = api.parametersOf(operation);
      const named = parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
      expect(new Set(named).size, name).toBe(named.length);
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map((each) => each.name);
      expect(inPath, name).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, inside]) => inside));
    }
  });

  it('has schemas that a JSON Schema 2020-12 validator compiles in strict mode', () => {
    const names = Object.keys(api.document.components['schemas'] ?? {});
    expect(names.length).toBeGreaterThan(100);
    for (const name of names) api.complaints({ $ref: `#/components/schemas/${name}` }, null);
    for (const { content } of contents()) api.complaints(content.schema ?? {}, null);
    for (const { operation } of places())
      for (const { schema } of api.parametersOf(operation)) api.complaints(schema, null);
  });

  it('is the same document each time, whether built at once or in steps', () => {
    const { version } = (api.document as unknown as { info: { version: string } }).info;
    expect(JSON.stringify(openApiDocument(version))).toBe(JSON.stringify(api.document));
  });
});

describe('the examples', () => {
  it('exist for every request and response body', () => {
    const without = contents().filter(({ content }) => !('example' in content || 'examples' in content));
    expect(without.map(({ where }) => where)).toEqual([
      'GET /replication/snapshot application/vnd.corollary.replication',
      'GET /replication/wal application/vnd.corollary.replication',
      'GET /openapi.json application/json',
      'GET /docs text/html',
    ]);
  });

  it('match their schemas: requests, answers, problems, lines and events', () => {
    for (const { where, type, content } of contents()) {
      const values = [
        ...('example' in content ? [content.example] : []),
        ...Object.values(content.examples ?? {}).map(({ value }) => value),
      ];
      for (const value of values) {
        expect(api.complaints(content.schema ?? {}, value), where).toEqual([]);
        expect(complaintsOfParts(content, value), where).toEqual([]);
        if (type.endsWith('json')) expect(JSON.parse(JSON.stringify(value)), where).toEqual(value);
      }
    }
  });

  it('of parameters match their schemas', () => {
    for (const { name, operation } of places())
      for (const { schema, example, ...parameter } of api.parametersOf(operation))
        if (example !== undefined)
          expect(api.complaints(schema, example), `${name} ${parameter.name}`).toEqual([]);
  });

  it.each(table)('of a request are accepted by %s', (name, spec) => {
    const key = name as OperationName;
    const { params, query, body } = spec.example;
    expect(() => checkParams(key, params)).not.toThrow();
    const isUpload = spec.takes !== undefined;
    expect(() =>
      checkInput(key, { ...(query === undefined ? {} : { query }), body: isUpload ? undefined : body }),
    ).not.toThrow();
    expect([params, query, body].map((part) => part !== undefined)).toEqual(
      [spec.params, spec.query, isUpload ? spec.takes : spec.body].map((part) => part !== undefined),
    );
  });

  it.each(Object.entries(operations.importKnowledge.example.body))(
    'of an import as %s is read without a bad line',
    async (type, body) => {
      const headers = { 'content-type': type, 'x-tenant-id': 'default' };
      const answer = await fetch(`${service.address}/import?dryRun=true`, { method: 'POST', body, headers });
      const last: unknown = JSON.parse((await answer.text()).trim().split('\n').at(-1) ?? '');
      expect(last).toMatchObject({ done: true, failed: 0 });
    },
  );

  /** The errors in the lines or the events of a stream. */
  function complaintsOfParts(content: DescribedContent, value: unknown): string[] {
    const { 'x-line': line, 'x-event-data': event } = content;
    if (line !== undefined)
      return String(value)
        .split('\n')
        .filter((each) => each !== '')
        .flatMap((each) => api.complaints(line, JSON.parse(each)));
    if (event === undefined) return [];
    const data = [...String(value).matchAll(/^data: (.*)$/gm)].map(([, text = '']) => text);
    expect(data.length).toBeGreaterThan(0);
    return data.flatMap((text) => api.complaints(event, JSON.parse(text)));
  }
});

describe('every operation', () => {
  it('is described at all its addresses, beside only the description, its viewer and the metrics', () => {
    const described = places().map(({ name }) => asInTable(name));
    const expected = table.flatMap(([, { method, path, aliases = [] }]) =>
      [path, ...aliases].map((each) => `${method} ${each}`),
    );
    expect(described.toSorted()).toEqual(
      [...expected, 'GET /openapi.json', 'GET /metrics', 'GET /metrics/history', 'GET /docs'].toSorted(),
    );
  });

  it('has its route, and every route is described, except files, MCP and A2A', () => {
    const served = routes.flatMap(({ method, url, config }) =>
      [method]
        .flat()
        .map((each) => ({ name: `${each} ${url}`, isFile: config !== undefined && 'isStatic' in config })),
    );
    const described = places().map(({ name }) => asInTable(name));
    expect(described.filter((name) => !served.some((route) => route.name === name))).toEqual([]);
    const elsewhere = served
      .filter(({ name }) => !described.includes(name) && !described.includes(name.replace(/^HEAD/, 'GET')))
      .filter(
        ({ isFile, name }) =>
          !isFile || !/^(GET|HEAD) \/(assets\/|samples\/|docs\/|documentation\/|[\w.-]*$)/.test(name),
      );
    // These have a protocol of their own.
    expect(elsewhere.map(({ name }) => name).toSorted()).toEqual(
      [
        ...['/mcp', '/mcp/sse'].flatMap((url) => [`GET ${url}`, `POST ${url}`, `DELETE ${url}`]),
        'POST /mcp/messages',
        'POST /a2a',
        ...['agent-card', 'agent'].flatMap((card) => [
          `GET /.well-known/${card}.json`,
          `HEAD /.well-known/${card}.json`,
        ]),
      ].toSorted(),
    );
  });

  it.each(table)('describes its success and all its own problems: %s', (name, spec) => {
    const item = api.document.paths[spec.path.replace(/:(\w+)/g, '{$1}')];
    const responses = item?.[spec.method.toLowerCase()]?.responses ?? {};
    expect(responses).toHaveProperty(String(spec.status ?? 200));
    for (const code of spec.problems) expect(responses, name).toHaveProperty(String(problems[code].status));
  });

  it('requires a credential unless it is public, as its security says', () => {
    const open = places().filter(({ operation }) => operation.security?.length === 0);
    expect(open.map(({ name }) => name).toSorted()).toEqual(
      [
        'GET /auth/status',
        'POST /auth/bootstrap',
        'GET /health',
        'GET /health/ready',
        'GET /docs',
      ].toSorted(),
    );
  });
});

/** The rows of the contract's table, and the codes added since. */
const errorsTable: Readonly<Record<number, readonly ProblemCode[]>> = {
  400: ['ValidationException'],
  401: ['Unauthenticated'],
  403: ['Forbidden'],
  404: [
    'NotFound',
    'DatabaseNotFound',
    'TenantNotFound',
    'ScopeNotFound',
    'SessionNotFound',
    'TransactionNotFound',
    'RuleNotFound',
    'FactNotFound',
  ],
  405: ['MethodNotAllowed'],
  409: ['HistoryChanged', 'Conflict', 'KeyConflict', 'TransactionLost'],
  410: ['HistoryGone'],
  412: ['PreconditionFailed'],
  413: ['PayloadTooLarge'],
  415: ['UnsupportedMediaType'],
  421: ['NotLeader'],
  422: [
    'RuleException',
    'ShapeViolation',
    'ConstraintViolated',
    'InferenceLimitExceeded',
    'IdempotencyMismatch',
    'TestsFailed',
  ],
  429: ['QuotaExceeded', 'RateLimited'],
  500: ['Internal'],
  502: ['LlmProviderException'],
  503: ['LlmUnavailable', 'NoOwner', 'NotReady'],
  504: ['OutcomeUnknown'],
  507: ['QuotaExceeded', 'StorageUnavailable'],
};

describe('the table of errors', () => {
  it.each(Object.entries(errorsTable))('maps status %s to the codes of the contract', (status, codes) => {
    const all = Object.keys(problems) as ProblemCode[];
    const there = all.filter((code) =>
      [false, true].some((isTemporary) => String(statusOf(code, isTemporary)) === status),
    );
    expect(there.toSorted()).toEqual(codes.toSorted());
  });

  it('has no other code, and describes each possible one with an example', () => {
    const known = [...new Set(Object.values(errorsTable).flat())];
    expect(Object.keys(problems).toSorted()).toEqual(known.toSorted());
    const described = new Set(
      contents().flatMap(({ type, content }) =>
        type.includes('problem') ? Object.keys(content.examples ?? {}) : [],
      ),
    );
    // An unsupported method of an address is no operation; the introduction explains it.
    expect(known.filter((code) => !described.has(code))).toEqual(['MethodNotAllowed']);
    expect(JSON.stringify(api.document)).toContain('405 and `Allow`');
  });
});
