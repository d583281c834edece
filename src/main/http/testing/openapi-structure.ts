/**
 * For tests: the requirements of OpenAPI 3.1 for a document, as our own JSON Schema (2020-12) after the specification.
 *
 * It contains only what the description could use: callbacks, links, webhooks and XML are not included, and so refused.
 * What one object alone does not show (references, unique names) is left to the test that uses it.
 */

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: 'string', minLength: 1 };
const flag: Schema = { type: 'boolean' };
const part = (name: string): Schema => ({ $ref: `#/$defs/${name}` });
const mapOf = (values: Schema): Schema => ({ type: 'object', additionalProperties: values });
const listOf = (items: Schema): Schema => ({ type: 'array', items });

/** An object with these fields and extensions, and nothing else. */
function closed(properties: Record<string, Schema>, required: readonly string[], more: Schema = {}): Schema {
  return {
    type: 'object',
    properties,
    patternProperties: { '^x-': {} },
    additionalProperties: false,
    required,
    ...more,
  };
}

/** A reference into the components, or the object itself. */
function orReference(name: string, components: string): Schema {
  const reference = {
    type: 'object',
    properties: {
      $ref: { type: 'string', pattern: `^#/components/${components}/[A-Za-z0-9._-]+$` },
      summary: text,
      description: text,
    },
    required: ['$ref'],
    additionalProperties: false,
  };
  return { anyOf: [reference, part(name)] };
}

const notBoth = { not: { type: 'object', required: ['example', 'examples'] } };

const exampleFields = { example: {}, examples: mapOf(orReference('example', 'examples')) };

const operation = closed(
  {
    tags: listOf(text),
    summary: text,
    description: text,
    operationId: { type: 'string', pattern: '^[A-Za-z][A-Za-z0-9]*$' },
    parameters: listOf(orReference('parameter', 'parameters')),
    requestBody: orReference('requestBody', 'requestBodies'),
    responses: {
      type: 'object',
      patternProperties: { '^[1-5](?:\\d\\d|XX)$': orReference('response', 'responses'), '^x-': {} },
      additionalProperties: false,
      minProperties: 1,
    },
    deprecated: flag,
    security: listOf(part('securityRequirement')),
  },
  // Optional in the specification; here every operation has them.
  ['operationId', 'summary', 'description', 'tags', 'responses'],
);

const parameter = closed(
  {
    name: text,
    in: { enum: ['query', 'header', 'path', 'cookie'] },
    description: text,
    required: flag,
    deprecated: flag,
    style: { enum: ['matrix', 'label', 'form', 'simple', 'spaceDelimited', 'pipeDelimited', 'deepObject'] },
    explode: flag,
    schema: part('schema'),
    ...exampleFields,
  },
  ['name', 'in', 'schema'],
  {
    allOf: [
      notBoth,
      {
        anyOf: [
          {
            type: 'object',
            properties: { in: { const: 'path' }, required: { const: true } },
            required: ['required'],
          },
          { type: 'object', properties: { in: { enum: ['query', 'cookie'] } } },
          {
            type: 'object',
            properties: {
              in: { const: 'header' },
              name: { not: { enum: ['Accept', 'Content-Type', 'Authorization'] } },
            },
          },
        ],
      },
    ],
  },
);

export const openApiStructure: Schema = {
  ...part('document'),
  $defs: {
    document: closed(
      {
        openapi: { type: 'string', pattern: '^3\\.1\\.\\d+$' },
        info: closed(
          {
            title: text,
            summary: text,
            description: text,
            version: text,
            license: closed({ name: text, identifier: text }, ['name']),
          },
          ['title', 'version'],
        ),
        servers: listOf(closed({ url: text, description: text }, ['url'])),
        paths: {
          type: 'object',
          patternProperties: { '^/': part('pathItem') },
          additionalProperties: false,
        },
        components: closed(
          Object.fromEntries(
            Object.entries({
              schemas: part('schema'),
              responses: orReference('response', 'responses'),
              parameters: orReference('parameter', 'parameters'),
              headers: orReference('header', 'headers'),
              securitySchemes: part('securityScheme'),
            }).map(([name, schema]) => [
              name,
              { ...mapOf(schema), propertyNames: { type: 'string', pattern: '^[A-Za-z0-9._-]+$' } },
            ]),
          ),
          [],
        ),
        security: listOf(part('securityRequirement')),
        tags: listOf(closed({ name: text, description: text }, ['name'])),
      },
      ['openapi', 'info', 'paths'],
    ),
    pathItem: closed(
      Object.fromEntries(['get', 'put', 'post', 'delete', 'patch'].map((method) => [method, operation])),
      [],
    ),
    parameter,
    requestBody: closed({ description: text, content: part('content'), required: flag }, ['content']),
    content: {
      type: 'object',
      propertyNames: { type: 'string', pattern: '^[a-z]+/[a-z0-9.+-]+$' },
      additionalProperties: closed({ schema: part('schema'), ...exampleFields }, [], notBoth),
      minProperties: 1,
    },
    response: closed(
      {
        description: text,
        headers: mapOf(orReference('header', 'headers')),
        content: part('content'),
      },
      ['description'],
    ),
    header: closed(
      { description: text, required: flag, deprecated: flag, schema: part('schema'), ...exampleFields },
      ['schema'],
      notBoth,
    ),
    example: closed({ summary: text, description: text, value: {} }, ['value']),
    securityRequirement: mapOf(listOf(text)),
    securityScheme: {
      oneOf: [
        closed({ type: { const: 'http' }, scheme: text, bearerFormat: text, description: text }, [
          'type',
          'scheme',
        ]),
        closed(
          {
            type: { const: 'apiKey' },
            in: { enum: ['query', 'header', 'cookie'] },
            name: text,
            description: text,
          },
          ['type', 'in', 'name'],
        ),
      ],
    },
    // Whether it is one is checked when the validator compiles it.
    schema: { type: ['object', 'boolean'] },
  },
};
