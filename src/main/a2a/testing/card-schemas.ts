/**
 * For tests: the agent cards of A2A 0.3 and 1.0 as JSON Schema, after the specifications.
 *
 * As strict as possible: what is required there is required and not empty, and no field is unknown. Features that our
 * cards lack (OAuth, signatures, extensions) are not allowed.
 */
const text = { type: 'string', minLength: 1 };
const texts = { type: 'array', items: text };
const address = { type: 'string', pattern: '^https?://[^/?#@\\s]+/\\S*$' };

function record(required: Record<string, unknown>, optional: Record<string, unknown> = {}): object {
  return {
    type: 'object',
    required: Object.keys(required),
    properties: { ...required, ...optional },
    additionalProperties: false,
  };
}

function mapOf(schema: object): object {
  return { type: 'object', minProperties: 1, additionalProperties: schema };
}

const named = { name: text, description: text, version: text };
const modes = { defaultInputModes: texts, defaultOutputModes: texts };
const skill = { id: text, name: text, description: text, tags: texts };
const skills = {
  type: 'array',
  minItems: 1,
  items: record(skill, { examples: texts, inputModes: texts, outputModes: texts }),
};

/** In 0.3 a scheme has its `type`, as in OpenAPI. */
export const earlierCardSchema = record(
  {
    ...named,
    ...modes,
    protocolVersion: { const: '0.3.0' },
    url: address,
    skills,
    capabilities: record(
      {},
      {
        streaming: { type: 'boolean' },
        pushNotifications: { type: 'boolean' },
        stateTransitionHistory: { type: 'boolean' },
      },
    ),
  },
  {
    preferredTransport: { enum: ['JSONRPC', 'GRPC', 'HTTP+JSON'] },
    additionalInterfaces: {
      type: 'array',
      items: record({ url: address, transport: { enum: ['JSONRPC', 'GRPC', 'HTTP+JSON'] } }),
    },
    securitySchemes: mapOf({
      oneOf: [
        record({ type: { const: 'http' }, scheme: text }, { description: text, bearerFormat: text }),
        record(
          { type: { const: 'apiKey' }, in: { enum: ['cookie', 'header', 'query'] }, name: text },
          { description: text },
        ),
      ],
    }),
    security: { type: 'array', minItems: 1, items: mapOf(texts) },
    supportsAuthenticatedExtendedCard: { type: 'boolean' },
  },
);

/** In 1.0, which is Protocol Buffers, the name of the field identifies the scheme. */
export const cardSchema = record(
  {
    ...named,
    ...modes,
    skills,
    capabilities: record(
      {},
      {
        streaming: { type: 'boolean' },
        pushNotifications: { type: 'boolean' },
        extendedAgentCard: { type: 'boolean' },
      },
    ),
    supportedInterfaces: {
      type: 'array',
      minItems: 1,
      items: record({
        url: address,
        protocolBinding: { enum: ['JSONRPC', 'GRPC', 'HTTP+JSON'] },
        protocolVersion: { type: 'string', pattern: '^\\d+\\.\\d+$' },
      }),
    },
  },
  {
    securitySchemes: mapOf({
      oneOf: [
        record({
          httpAuthSecurityScheme: record({ scheme: text }, { description: text, bearerFormat: text }),
        }),
        record({
          apiKeySecurityScheme: record(
            { location: { enum: ['cookie', 'header', 'query'] }, name: text },
            { description: text },
          ),
        }),
      ],
    }),
    securityRequirements: {
      type: 'array',
      minItems: 1,
      items: record({ schemes: mapOf(record({}, { list: texts })) }),
    },
  },
);
