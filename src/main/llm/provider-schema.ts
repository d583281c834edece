/**
 * A schema as providers take it: JSON Schema, with the few keywords that all of them know.
 *
 * Every object names all its properties as required and allows no others, which is what their strict modes want. Limits
 * of length and size and patterns are left out: the answer is held against the whole schema here.
 */
import type { JSONSchema7 } from '@ai-sdk/provider';
import { z } from 'zod';
import { assert } from '../../engine/index.ts';

/** Of a schema without recursion, whose root is an object. */
export function providerSchema(schema: z.ZodType): JSONSchema7 {
  const whole = z.toJSONSchema(schema, { target: 'draft-7', io: 'input' });
  const strict = strictly(whole as JSONSchema7);
  assert(strict.type === 'object', 'a provider is asked for an object');
  return strict;
}

function strictly(schema: JSONSchema7): JSONSchema7 {
  assert(schema.$ref === undefined, 'a provider is asked for nothing that holds itself');
  const { type, description, properties, items, anyOf, oneOf } = schema;
  const strict: JSONSchema7 = {};
  if (type !== undefined) strict.type = type;
  if (description !== undefined) strict.description = description;
  if (schema.const !== undefined) strict.enum = [schema.const];
  if (schema.enum !== undefined) strict.enum = schema.enum;
  if (properties !== undefined) {
    strict.properties = Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, definedStrictly(property)]),
    );
    strict.required = Object.keys(properties);
    strict.additionalProperties = false;
  }
  if (items !== undefined) {
    assert(!Array.isArray(items), 'a provider is asked for arrays of one kind of item');
    strict.items = definedStrictly(items);
  }
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) strict.anyOf = choices.map(definedStrictly);
  return strict;
}

function definedStrictly(schema: JSONSchema7 | boolean): JSONSchema7 {
  assert(typeof schema === 'object', 'a provider is asked for values of a known shape');
  return strictly(schema);
}
