import { afterAll, beforeAll, expect, it } from 'vitest';
import { operations } from '../../engine/contract/operations.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import { problems } from '../../engine/contract/problems.ts';
import { checkInput } from '../dispatch.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../service-under-test.ts';
import { openApiDocument } from './openapi.ts';
import { bodyExamples } from './openapi-examples.ts';

interface Document {
  openapi: string;
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, unknown> }>>;
  components: Record<string, Record<string, unknown>>;
}

const table = Object.entries<OperationSpec>(operations);
let service: ServiceUnderTest;
let document: Document;

beforeAll(async () => {
  service = await startServiceUnderTest();
  document = (await service.call<Document>('GET', '/openapi.json')).body;
});

afterAll(() => service.close());

/** `/facts/{id}` as the table writes it. */
function asInTable(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

it('describes OpenAPI 3.1', () => {
  expect(document.openapi).toBe('3.1.0');
});

it('describes every operation of the table with all its paths, and nothing else but itself and the metrics', () => {
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${asInTable(path)}`),
  );
  const expected = table.flatMap(([, { method, path, aliases = [] }]) =>
    [path, ...aliases].map((each) => `${method} ${each}`),
  );
  expect(described.toSorted()).toEqual([...expected, 'GET /openapi.json', 'GET /metrics'].toSorted());
});

it('has a route for each described path and method', async () => {
  for (const [path, item] of Object.entries(document.paths)) {
    const { headers } = await service.call('OPTIONS', path.replace('{id}', 'x'));
    const methods = headers.get('allow')?.split(', ');
    for (const method of Object.keys(item)) expect(methods, path).toContain(method.toUpperCase());
  }
});

it('resolves every reference and gives each operation an id of its own', () => {
  const text = JSON.stringify(document);
  for (const [, section = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g))
    expect(document.components[section]).toHaveProperty([name]);
  expect(text).not.toContain('$defs');
  const ids = Object.values(document.paths).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
});

it.each(table)('describes the success and every own problem of %s', (name, spec) => {
  const item = document.paths[spec.path.replace(/:(\w+)/g, '{$1}')];
  const { responses } = item?.[spec.method.toLowerCase()] ?? { responses: {} };
  expect(responses).toHaveProperty(String(spec.status ?? 200));
  for (const code of spec.problems) expect(responses, name).toHaveProperty(String(problems[code].status));
});

it.each(table.filter(([, { body }]) => body !== undefined))('shows a body that %s accepts', (name, spec) => {
  const key = name as keyof typeof bodyExamples;
  expect(bodyExamples).toHaveProperty(key);
  expect(() => checkInput(key, { body: bodyExamples[key] })).not.toThrow();
  expect(spec.method).not.toBe('GET');
});

it('is the same document each time', () => {
  expect(JSON.stringify(openApiDocument('1.0.0'))).toBe(JSON.stringify(openApiDocument('1.0.0')));
});
