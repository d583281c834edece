/**
 * JSON Schemas of tools, generated from the schemas that validate them.
 *
 * Agents pay for every word of a schema, many of their clients know only the plain part of JSON Schema, and some check a
 * call by it before they send it. So an optional field is shown as its type alone (`null` stays allowed, and counts as
 * absent), nothing is required, no other field is ruled out, bounds that nobody meets are left out, and so are
 * references, which many clients cannot follow: what is recursive is an object, and its field says which.
 */
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import { type JsonSchema, jsonSchemaOf } from '../../engine/contract/json-schema.ts';

export interface ObjectSchema {
  [keyword: string]: unknown;
  type: 'object';
}

/**
 * JSON Schema of a tool's arguments with every field but those that are `settled` by the tool. Nothing is required and
 * no other field ruled out: what is wrong is for us to say, since we know how to mend it.
 */
export function inputSchemaOf(body: OperationSpec['body'], settled: readonly string[] = []): ObjectSchema {
  if (body === undefined) return { type: 'object', properties: {} };
  const { properties: all } = plain(jsonSchemaOf(body, 'input'), true);
  const properties = isSchema(all) ? { ...all } : {};
  for (const field of settled) delete properties[field];
  return { type: 'object', properties };
}

/** JSON Schema of a tool's structured content: names and types alone. */
export function outputSchemaOf(output: OperationSpec['output']): ObjectSchema {
  const schema = plain(jsonSchemaOf(output, 'output'), false);
  if (schema['type'] !== 'object') throw new Error('the structured content of a tool is an object');
  return { ...schema, type: 'object' };
}

/** The schema with the types of its fields alone. */
export function outline({ properties }: ObjectSchema): ObjectSchema {
  const fields = Object.entries(isSchema(properties) ? properties : {}).map(([name, schema]) => [
    name,
    { type: isSchema(schema) ? schema['type'] : undefined },
  ]);
  return { type: 'object', properties: Object.fromEntries(fields) };
}

/** The kind of value that a field takes, as far as it is one. */
export interface FieldType {
  readonly type: 'array' | 'boolean' | 'number' | 'object' | 'other';
  readonly isRequired: boolean;
}

/** Every field of `body`. */
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

/** Keywords whose values are maps from names to schemas: their keys are not keywords. */
const maps: ReadonlySet<string> = new Set(['properties', '$defs']);
/** Keywords whose values are data, not schemas. */
const data: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'description']);

/** Keywords that an agent has no use for, and those by which a client would stop a call that we could mend. */
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

/** What the list says of its elements is enough. */
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

/** Alternatives that are types alone, as a list of types. */
function typesTogether(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema;
  const isType = (option: unknown) => isSchema(option) && Object.keys(option).join() === 'type';
  if (!Array.isArray(anyOf) || !anyOf.every(isType)) return schema;
  return { ...rest, type: anyOf.flatMap(({ type }: JsonSchema) => type) };
}

/** Blank texts count as absent where that is allowed, and nobody means as much as the upper bounds. */
function isIdle(keyword: string, value: unknown, isInput: boolean): boolean {
  if (keyword === 'maximum' || keyword === 'minimum') return !isInput || Math.abs(Number(value)) >= 100_000;
  return isInput ? keyword === 'default' && value === false : keyword === 'description';
}
