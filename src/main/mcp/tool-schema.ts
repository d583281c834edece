/**
 * JSON Schemas of tools, generated from the schemas that validate them.
 *
 * Agents pay for every word of a schema, and many of their clients know only the plain part of JSON Schema. So
 * what the generator writes is cut down without changing what it accepts where it matters: an optional field is
 * shown as its type alone (`null` stays allowed, and counts as absent), bounds that nobody meets are left out, and so are
 * references, which many clients cannot follow: what is recursive is an object, and its field says which. An answer
 * may get fields that are not there yet, so its schema does not close objects.
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
  const { $defs: _recursive, ...schema } = plain(jsonSchemaOf(body, 'input'), true);
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

/** Keywords that an agent has no use for. */
const unused: ReadonlySet<string> = new Set([
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
  const { properties, required } = schema;
  if (!isSchema(properties)) return schema;
  const needed = new Set(Array.isArray(required) ? required : []);
  const entries = Object.entries(properties).map(([name, value]) => [
    name,
    isSchema(value) && !needed.has(name) ? typesTogether(withoutNull(value)) : value,
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
  return isInput
    ? keyword === 'default' && value === false
    : keyword === 'additionalProperties' && value === false;
}
