/** JSON Schema (2020-12) of the contract's schemas, for the OpenAPI document and the MCP tools. */
import { z } from 'zod';

/** A JSON Schema object; references inside it are `#/$defs/…`. */
export type JsonSchema = Record<string, unknown>;

/**
 * The JSON Schema of what a client sends (`input`) or receives (`output`). Checks that JSON Schema cannot express (such
 * as "one of text and head") are left to validation. A schema in `names` becomes a definition of that name.
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
    // The generator drops the default of a schema that fills it in while parsing.
    override: ({ zodSchema, jsonSchema }) => {
      const fallback = z.globalRegistry.get(zodSchema)?.['default'];
      if (fallback !== undefined) jsonSchema.default = fallback;
    },
  });
  return rest;
}

/** A registry with each schema's metadata and its name. */
function registryOf(names: ReadonlyMap<unknown, string>): z.core.$ZodRegistry<z.GlobalMeta> {
  const registry = z.registry<z.GlobalMeta>();
  registry.get = (schema) => {
    const id = names.get(schema);
    const said = z.globalRegistry.get(schema);
    return id === undefined ? said : { ...said, id };
  };
  return registry;
}
