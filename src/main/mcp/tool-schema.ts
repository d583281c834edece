/**
 * JSON Schemas of tools, generated from the schemas that validate them.
 *
 * Agents pay for every word of a schema, and many of their clients know only the plain part of JSON Schema. So
 * what the generator writes is cut down without changing what it accepts where it matters: an optional field is
 * shown as its type alone (`null` stays allowed, and counts as absent), and bounds that say nothing are left out.
 */
import { type JsonSchema, jsonSchemaOf } from '../../engine/contract/json-schema.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';

export interface ObjectSchema {
  [keyword: string]: unknown;
  type: 'object';
}

/** JSON Schema of a tool's arguments; `hidden` fields are accepted but not shown. Without a body: no arguments. */
export function inputSchemaOf(body: OperationSpec['body'], hidden: readonly string[] = []): ObjectSchema {
  if (body === undefined) return { type: 'object', properties: {}, additionalProperties: false };
  const schema = plain(jsonSchemaOf(body, 'input'), true);
  const properties = isSchema(schema['properties']) ? { ...schema['properties'] } : {};
  for (const field of hidden) delete properties[field];
  return { ...schema, type: 'object', properties };
}

/** JSON Schema of a tool's structured content. */
export function outputSchemaOf(output: OperationSpec['output']): ObjectSchema {
  const schema = plain(jsonSchemaOf(output, 'output'), false);
  if (schema['type'] !== 'object') throw new Error('the structured content of a tool is an object');
  return { ...schema, type: 'object' };
}

/** Names of the fields of `body` that may be left out. */
export function optionalFieldsOf(body: OperationSpec['body']): ReadonlySet<string> {
  const schema = inputSchemaOf(body);
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const fields = isSchema(schema['properties']) ? Object.keys(schema['properties']) : [];
  return new Set(fields.filter((field) => !required.has(field)));
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Keywords whose values are maps from names to schemas: their keys are not keywords. */
const maps: ReadonlySet<string> = new Set(['properties', '$defs']);
/** Keywords whose values are data, not schemas. */
const data: ReadonlySet<string> = new Set([
  'required',
  'enum',
  'const',
  'default',
  'examples',
  'description',
]);

function plain(schema: JsonSchema, dropNull: boolean): JsonSchema {
  const result: JsonSchema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'propertyNames' || isEmptyBound(keyword, value)) continue;
    if (data.has(keyword)) result[keyword] = value;
    else if (maps.has(keyword) && isSchema(value)) result[keyword] = plainMap(value, dropNull);
    else if (Array.isArray(value))
      result[keyword] = value.map((item) => (isSchema(item) ? plain(item, dropNull) : item));
    else result[keyword] = isSchema(value) ? plain(value, dropNull) : value;
  }
  return dropNull ? withPlainOptions(result) : result;
}

function plainMap(map: JsonSchema, dropNull: boolean): JsonSchema {
  return Object.fromEntries(
    Object.entries(map).map(([name, value]) => [name, isSchema(value) ? plain(value, dropNull) : value]),
  );
}

function withPlainOptions(schema: JsonSchema): JsonSchema {
  const { properties, required } = schema;
  if (!isSchema(properties)) return schema;
  const needed = new Set(Array.isArray(required) ? required : []);
  const entries = Object.entries(properties).map(([name, value]) => [
    name,
    isSchema(value) && !needed.has(name) ? withoutNull(value) : value,
  ]);
  return { ...schema, properties: Object.fromEntries(entries) };
}

/** The schema without its `null` alternative; of a single remaining alternative the words around it win. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const { anyOf, type, ...rest } = schema;
  if (Array.isArray(type)) {
    const types = type.filter((name) => name !== 'null');
    return { ...rest, type: types.length === 1 ? types[0] : types };
  }
  if (!Array.isArray(anyOf)) return schema;
  const isNull = (option: unknown) => isSchema(option) && option['type'] === 'null';
  if (!anyOf.some(isNull)) return schema;
  const options = anyOf.filter((option) => !isNull(option));
  const [only] = options;
  return options.length === 1 && isSchema(only) ? { ...only, ...rest } : { ...rest, anyOf: options };
}

function isEmptyBound(keyword: string, value: unknown): boolean {
  if (keyword === 'maximum') return value === Number.MAX_SAFE_INTEGER;
  return keyword === 'minimum' && value === Number.MIN_SAFE_INTEGER;
}
