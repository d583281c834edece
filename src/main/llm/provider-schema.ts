/**
 * A schema for providers: JSON Schema with the few keywords that all of them support.
 *
 * Every object requires all its properties and allows no others, as strict modes demand. Limits and patterns are left
 * out: the service validates the answer against the whole schema.
 */
import { z } from 'zod';
import { assert } from '../../engine/index.ts';

export interface ProviderSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, ProviderSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
  readonly items?: ProviderSchema;
  readonly anyOf?: readonly ProviderSchema[];
}

/** For a schema without recursion whose root is an object. */
export function providerSchema(schema: z.ZodType): ProviderSchema {
  const strict = strictly(z.toJSONSchema(schema, { target: 'draft-7', io: 'input' }));
  assert(strict.type === 'object', 'a provider is asked for an object');
  return strict;
}

type JsonSchema = z.core.JSONSchema.JSONSchema;

function strictly(schema: JsonSchema | boolean | readonly unknown[]): ProviderSchema {
  assert(isSchema(schema), 'a provider is asked for values of a known shape');
  assert(schema.$ref === undefined, 'a provider is asked for nothing that holds itself');
  const { type, description, properties, items } = schema;
  const values = schema.const === undefined ? schema.enum : [schema.const];
  const choices = schema.anyOf ?? schema.oneOf;
  return {
    ...(type === undefined ? {} : { type }),
    ...(description === undefined ? {} : { description }),
    ...(values === undefined ? {} : { enum: values }),
    ...(properties === undefined ? {} : strictProperties(properties)),
    ...(items === undefined ? {} : { items: strictly(items) }),
    ...(choices === undefined ? {} : { anyOf: choices.map(strictly) }),
  };
}

function isSchema(schema: JsonSchema | boolean | readonly unknown[]): schema is JsonSchema {
  return typeof schema === 'object' && !Array.isArray(schema);
}

function strictProperties(properties: Readonly<Record<string, JsonSchema | boolean>>): ProviderSchema {
  const entries = Object.entries(properties).map(([name, property]) => [name, strictly(property)] as const);
  return {
    properties: Object.fromEntries(entries),
    required: entries.map(([name]) => name),
    additionalProperties: false,
  };
}
