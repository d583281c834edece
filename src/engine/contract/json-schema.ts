/** JSON Schema (2020-12) of the contract's schemas, for the OpenAPI document and the MCP tools. */
import { z } from 'zod';

/** A JSON Schema object; references inside it are `#/$defs/…`. */
export type JsonSchema = Record<string, unknown>;

/**
 * The JSON Schema of what a client sends (`input`) or gets (`output`). Checks that JSON Schema cannot say
 * (such as "one of text and head") are left to the validation itself. A schema in `names` is a definition of that name.
 */
export function jsonSchemaOf(
  schema: z.ZodType,
  direction: 'input' | 'output',
  names?: ReadonlyMap<unknown, string>,
): JsonSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io: direction,
    unrepresentable: 'any',
    ...(names === undefined ? {} : { metadata: registryOf(names) }),
    // Of a schema that fills in its default while it parses, the generator forgets the default.
    override: ({ zodSchema, jsonSchema }) => {
      const fallback = z.globalRegistry.get(zodSchema)?.['default'];
      if (fallback !== undefined) jsonSchema.default = fallback;
    },
  });
  return rest;
}

/** What is said of each schema, and its name beside it. */
function registryOf(names: ReadonlyMap<unknown, string>): z.core.$ZodRegistry<z.GlobalMeta> {
  const registry = z.registry<z.GlobalMeta>();
  registry.get = (schema) => {
    const id = names.get(schema);
    const said = z.globalRegistry.get(schema);
    return id === undefined ? said : { ...said, id };
  };
  return registry;
}
