/**
 * JSON Schemas of tools, generated from the schemas that validate them.
 *
 * Agents pay for every word of a schema, many clients support only the basic part of JSON Schema, and some check a call
 * against it before they send it. So an optional field is shown as its type alone (`null` is still allowed, and counts
 * as absent), nothing is required, other fields are not ruled out, and bounds that nobody reaches are left out. So are
 * references, which many clients cannot follow: a recursive part is shown as an object, and the description of its
 * field explains it.
 */
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import { type JsonSchema, jsonSchemaOf } from '../../engine/contract/json-schema.ts';

export interface ObjectSchema {
  [keyword: string]: unknown;
  type: 'object';
}

/**
 * JSON Schema of a tool's arguments with every field except those that the tool sets itself (`settled`). Nothing is
 * required and no other field ruled out: the service reports errors itself, since it knows how to correct them.
 */
export function inputSchemaOf(body: OperationSpec['body'], settled: readonly string[] = []): ObjectSchema {
  if (body === undefined) return { type: 'object', properties: {} };
  const { properties: all } = plain(jsonSchemaOf(body, 'input'), true);
  const properties = isSchema(all) ? { ...all } : {};
  for (const field of settled) delete properties[field];
  return { type: 'object', properties };
}

/** JSON Schema of a tool's structured content: names and types only. */
export function outputSchemaOf(output: OperationSpec['output']): ObjectSchema {
  const schema = plain(jsonSchemaOf(output, 'output'), false);
  if (schema['type'] !== 'object') throw new Error('the structured content of a tool is an object');
  return { ...schema, type: 'object' };
}

/** The schema reduced to the types of its fields. */
export function outline({ properties }: ObjectSchema): ObjectSchema {
  const fields = Object.entries(isSchema(properties) ? properties : {}).map(([name, schema]) => [
    name,
    { type: isSchema(schema) ? schema['type'] : undefined },
  ]);
  return { type: 'object', properties: Object.fromEntries(fields) };
}

/** The type of value that a field takes, if it is a single one. */
export interface FieldType {
  readonly type: 'array' | 'boolean' | 'number' | 'object' | 'other';
  readonly isRequired: boolean;
}

/** The type of every field of `body`. */
export function fieldTypesOf(body: OperationSpec['body']): ReadonlyMap<string, FieldType> {
  if (body === undefined) return new Map();
  const { required: names } = jsonSchemaOf(body, 'input');
  const required = new Set(Array.isArray(names) ? names : []);
  const { properties } = inputSchemaOf(body);
  return new Map(
    Object.entries(isSchema(properties) ? properties : {}).map(([name, schema]) => {
      const isRequired = required.has(name);
      const type = isSchema(schema) ? schema['type'] : undefined;
      if (type === 'integer') return [name, { type: 'number', isRequired }];
      const isNamed = type === 'array' || type === 'boolean' || type === 'number' || type === 'object';
      return [name, { type: isNamed ? type : 'other', isRequired }];
    }),
  );
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Keywords whose values map names to schemas: their keys are not keywords. */
const maps: ReadonlySet<string> = new Set(['properties', '$defs']);
/** Keywords whose values are data, not schemas. */
const data: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'description']);

/**
 * Keywords that an agent does not need, and those that would make a client stop a call that the service could correct.
 */
const unused: ReadonlySet<string> = new Set([
  'required',
  'additionalProperties',
  'propertyNames',
  'examples',
  'maxItems',
  'minLength',
  'maxLength',
]);

function plain(schema: JsonSchema, isInput: boolean): JsonSchema {
  if (isInput && '$ref' in schema) return { type: 'object' };
  const result: JsonSchema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (unused.has(keyword) || isIdle(keyword, value, isInput)) continue;
    if (data.has(keyword)) result[keyword] = value;
    else if (keyword === 'items' && isSchema(value) && 'description' in schema)
      result[keyword] = plain(withoutDescription(value), isInput);
    else if (maps.has(keyword) && isSchema(value)) result[keyword] = plainMap(value, isInput);
    else if (Array.isArray(value))
      result[keyword] = value.map((item) => (isSchema(item) ? plain(item, isInput) : item));
    else result[keyword] = isSchema(value) ? plain(value, isInput) : value;
  }
  return isInput ? withPlainOptions(result) : result;
}

/** The description of the list is enough for its elements. */
function withoutDescription({ description: _, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

function plainMap(map: JsonSchema, isInput: boolean): JsonSchema {
  return Object.fromEntries(
    Object.entries(map).map(([name, value]) => [name, isSchema(value) ? plain(value, isInput) : value]),
  );
}

function withPlainOptions(schema: JsonSchema): JsonSchema {
  const { properties } = schema;
  if (!isSchema(properties)) return schema;
  const entries = Object.entries(properties).map(([name, value]) => [
    name,
    isSchema(value) ? typesTogether(withoutNull(value)) : value,
  ]);
  return { ...schema, properties: Object.fromEntries(entries) };
}

/** The schema without its `null` alternative; if a single alternative remains, the outer description wins. */
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

/** Alternatives that are only types, as a list of types. */
function typesTogether(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema;
  const isType = (option: unknown) => isSchema(option) && Object.keys(option).join() === 'type';
  if (!Array.isArray(anyOf) || !anyOf.every(isType)) return schema;
  return { ...rest, type: anyOf.flatMap(({ type }: JsonSchema) => type) };
}

/** Blank texts count as absent in optional fields, and nobody reaches the upper bounds. */
function isIdle(keyword: string, value: unknown, isInput: boolean): boolean {
  if (keyword === 'maximum' || keyword === 'minimum') return !isInput || Math.abs(Number(value)) >= 100_000;
  return isInput ? keyword === 'default' && value === false : keyword === 'description';
}
