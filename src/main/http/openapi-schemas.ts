/**
 * The JSON Schemas of the description: taken from the contract, with recursive ones moved to the components.
 *
 * The generator writes recursive schemas as definitions inside of each schema that uses them. The document has each of
 * them once, under its own name.
 */
import { type JsonSchema, jsonSchemaOf } from '../../engine/contract/json-schema.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';

/** A part of the document. */
export type Described = Record<string, unknown>;

/** The schemas and responses that operations share; filled while they are described. */
export interface Components {
  readonly schemas: Record<string, JsonSchema>;
  readonly responses: Record<string, Described>;
}

/** The JSON Schema of `schema`, with its definitions moved to the shared components. */
export function described(
  schema: OperationSpec['output'],
  direction: 'input' | 'output',
  components: Components,
): JsonSchema {
  const { $defs, ...rest } = jsonSchemaOf(schema, direction);
  if ($defs === undefined) return rest;
  const parts = Object.entries($defs as Record<string, JsonSchema>);
  const names = new Map(
    parts.map(([key, part]) => [`#/$defs/${key}`, `#/components/schemas/${recursiveName(part, direction)}`]),
  );
  for (const [key, part] of parts) {
    const name = recursiveName(part, direction);
    const shared = pointed(part, names) as JsonSchema;
    const known = components.schemas[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(shared))
      throw new Error(`two recursive schemas would be ${name}: give ${key} a name of its own`);
    components.schemas[name] = shared;
  }
  return pointed(rest, names) as JsonSchema;
}

/** A reference to a component's schema. */
export function refersTo(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** The text with a capital first letter. */
export function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** The recursive schemas of the contract: literals of a rule's body, as input and as output, plans, and any JSON. */
function recursiveName(part: JsonSchema, direction: 'input' | 'output'): string {
  if (Object.hasOwn((part['properties'] as JsonSchema | undefined) ?? {}, 'estimatedRows')) return 'PlanStep';
  if (!JSON.stringify(part).includes('"aggregate"')) return 'JsonValue';
  return direction === 'input' ? 'Literal' : 'StoredLiteral';
}

/** The value with its references replaced according to the map. */
function pointed(value: unknown, references: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => pointed(item, references));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) =>
      key === '$ref' && typeof inner === 'string'
        ? [key, references.get(inner) ?? inner]
        : [key, pointed(inner, references)],
    ),
  );
}
