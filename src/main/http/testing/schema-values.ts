/**
 * Values of a JSON Schema, and values that violate it slightly or completely.
 *
 * Fields get plausible values by their names, so that a good part of the requests is accepted and has an effect; the
 * rest comes from the schema alone. What JSON cannot express (a duplicate key, a truncated text) is done to the text.
 */
import type { JsonSchema } from '../../../engine/contract/json-schema.ts';
import type { Chance } from './chance.ts';

/** Values by the name of the field; used instead of the schema about three times in four. */
export type Plausible = Readonly<Record<string, readonly unknown[]>>;

export function valueOf(chance: Chance, schema: JsonSchema, plausible: Plausible): unknown {
  const definitions = (schema['$defs'] ?? {}) as Record<string, JsonSchema>;
  return made({ chance, definitions, plausible }, schema, '', 0);
}

interface Making {
  readonly chance: Chance;
  readonly definitions: Record<string, JsonSchema>;
  readonly plausible: Plausible;
}

function made(making: Making, schema: JsonSchema, name: string, depth: number): unknown {
  const { chance, definitions, plausible } = making;
  const known = plausible[name];
  if (known !== undefined && known.length > 0 && chance.is(0.75)) return chance.pick(known);
  const { $ref: reference, anyOf, oneOf, enum: words, const: only } = schema;
  if (typeof reference === 'string')
    return made(making, definitions[reference.replace('#/$defs/', '')] ?? {}, name, depth);
  const choices = (anyOf ?? oneOf) as JsonSchema[] | undefined;
  if (choices !== undefined) return made(making, chance.pick(choices), name, depth);
  if (Array.isArray(words)) return chance.pick(words as unknown[]);
  if (only !== undefined) return only;
  switch (schema['type']) {
    case 'object':
      return objectOf(making, schema, depth);
    case 'array': {
      const length = depth > 6 ? Number(schema['minItems'] ?? 0) : chance.below(4);
      const item = (schema['items'] ?? {}) as JsonSchema;
      return Array.from({ length: Math.max(length, Number(schema['minItems'] ?? 0)) }, () =>
        made(making, item, name === 'args' ? 'arg' : name, depth + 1),
      );
    }
    case 'integer':
    case 'number':
      return numberOf(chance, schema);
    case 'boolean':
      return chance.is(0.5);
    case 'null':
      return null;
    case 'string':
      return chance.pick(texts);
    default:
      return chance.pick<unknown>(['x', 1, true, null, { deep: [1, { er: 'é' }] }]);
  }
}

function objectOf(making: Making, schema: JsonSchema, depth: number): Record<string, unknown> {
  const { chance } = making;
  const required = new Set((schema['required'] ?? []) as string[]);
  const entries: [string, unknown][] = [];
  for (const [key, value] of Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>))
    if (required.has(key) || chance.is(0.3)) entries.push([key, made(making, value, key, depth + 1)]);
  const further = schema['additionalProperties'];
  if (typeof further === 'object' && further !== null)
    for (let count = chance.below(3); count > 0; count--)
      entries.push([chance.pick(texts), made(making, further as JsonSchema, '', depth + 1)]);
  return Object.fromEntries(entries);
}

function numberOf(chance: Chance, { minimum, maximum }: JsonSchema): number {
  const least = Math.max(Number(minimum ?? 0), -1000);
  const most = Math.min(Number(maximum ?? 1000), 1000);
  return chance.pick([least, most, least + chance.below(Math.max(1, Math.floor(most - least)) + 1)]);
}

export const texts = [
  'a',
  'alice',
  'a b',
  'ünï',
  '日本',
  '\u{1F600}',
  'x'.repeat(300),
  "it's",
  '"quoted"',
  'back\\slash',
  'p(a)',
  '?x',
  '100%',
  '1e3',
  'constructor',
] as const;

/** Values that hardly any field accepts. */
export const hostileValues: readonly unknown[] = [
  null,
  true,
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'x\udfff',
  '\u2028',
  '\ufeff',
  '\u202e',
  '?',
  '?_',
  '? x',
  '..',
  '%00',
  '__proto__',
  'hasOwnProperty',
  'x'.repeat(20_000),
  -1,
  0,
  -0,
  1.5,
  1e308,
  5e-324,
  2 ** 53,
  -(2 ** 53),
  8.64e15 + 1,
  [],
  [[]],
  [null],
  {},
  { length: 3 },
  { length: { toString: 1 } },
  { toString: 1, constructor: { prototype: {} } },
  Array.from({ length: 300 }, (_, index) => index),
  nested(40),
  nested(70),
];

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** The value with one part replaced, removed or added. */
export function mutated(chance: Chance, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || chance.is(0.15)) return chance.pick(hostileValues);
  if (Array.isArray(value)) {
    const items: unknown[] = [...(value as unknown[])];
    if (items.length === 0 || chance.is(0.2)) return [...items, chance.pick(hostileValues)];
    const at = chance.below(items.length);
    if (chance.is(0.2)) items.splice(at, 1);
    else items[at] = mutated(chance, items[at]);
    return items;
  }
  const fields: Record<string, unknown> = { ...value };
  const keys = Object.keys(fields);
  if (keys.length === 0 || chance.is(0.2))
    fields[chance.pick(['extra', 'Predicate', '', '\u0000', 'constructor', 'toString', '日本'])] =
      chance.pick(hostileValues);
  else {
    const key = chance.pick(keys);
    if (chance.is(0.2)) delete fields[key];
    else fields[key] = mutated(chance, fields[key]);
  }
  return fields;
}

/** The text of a JSON body, sometimes broken. */
export function mutatedText(chance: Chance, text: string): string | Uint8Array {
  switch (chance.below(9)) {
    case 0:
      return text.slice(0, chance.below(text.length + 1));
    case 1:
      return `${text}${chance.pick(['}', ']', 'null', '\u0000', ',', text])}`;
    case 2:
      return text.replace('{', '{"__proto__":{"polluted":1},');
    case 3:
      return text.replace('{', `${text.slice(0, -1)},`);
    case 4:
      return `\ufeff${text}`;
    case 5:
      return Buffer.from(text, 'utf16le');
    case 6:
      return Buffer.from(`${text}\u00ff`, 'latin1');
    case 7:
      return text.replace(/\d+/, chance.pick(['1e400', '-', '00', '0x10', '1'.repeat(400), 'NaN']));
    default:
      return `${'['.repeat(chance.below(200))}${text}`;
  }
}
