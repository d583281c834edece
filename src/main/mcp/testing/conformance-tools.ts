/**
 * The tools that the official conformance suite calls by name, written after its descriptions of them.
 *
 * Those that request something from the client do it in the way of both generations: in a session by a request to the
 * client while the call runs, in the stateless revision by an answer that says what is needed, after which the client
 * calls again.
 */
import { setTimeout as pause } from 'node:timers/promises';
import {
  acceptedContent,
  type CallToolResult,
  type ClientCapabilities,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  type ElicitRequestFormParams,
  inputRequired,
  type InputRequiredResult,
  type InputRequests,
  type Tool,
} from '@modelcontextprotocol/server';
import type { SurfaceCall } from '../surface.ts';

type Given = Readonly<Record<string, unknown>>;

export interface ConformanceTool {
  readonly listing: Tool;
  run(call: SurfaceCall, given: Given): Promise<CallToolResult | InputRequiredResult>;
}

/** A picture of one red point. */
export const redPoint =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** A wave of no samples. */
const silence = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';

/** The state of a call between its rounds: signed, since it travels through the client. */
export const stateCodec = createRequestStateCodec<string>({
  key: new Uint8Array(32).fill(7),
  ttlSeconds: 600,
});

const noArguments: Tool['inputSchema'] = { type: 'object', properties: {}, additionalProperties: false };

function oneText(field: string): Tool['inputSchema'] {
  return { type: 'object', properties: { [field]: { type: 'string' } }, required: [field] };
}

function text(content: string): CallToolResult {
  return { content: [{ type: 'text', text: content }] };
}

function tool(
  name: string,
  description: string,
  run: ConformanceTool['run'],
  inputSchema: Tool['inputSchema'] = noArguments,
): ConformanceTool {
  return { listing: { name, description, inputSchema }, run };
}

/** Parsed from text, since an object literal with a field "then" would be taken for a promise. */
const conditional = JSON.parse(`{
  "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
  "then": { "required": ["phone"] },
  "else": { "required": ["email"] }
}`) as object;

const answering: readonly ConformanceTool[] = [
  tool('test_simple_text', 'Answers a text', async () => text('This is a simple text response for testing.')),
  tool('test_image_content', 'Answers a picture', async () => ({
    content: [{ type: 'image', data: redPoint, mimeType: 'image/png' }],
  })),
  tool('test_audio_content', 'Answers a sound', async () => ({
    content: [{ type: 'audio', data: silence, mimeType: 'audio/wav' }],
  })),
  tool('test_embedded_resource', 'Answers a document', async () => ({
    content: [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
  })),
  tool('test_multiple_content_types', 'Answers a text, a picture and a document', async () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: redPoint, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: JSON.stringify({ test: 'data', value: 123 }),
        },
      },
    ],
  })),
  tool('test_error_handling', 'Fails', async () => ({
    ...text('This tool intentionally returns an error for testing'),
    isError: true,
  })),
  tool(
    'json_schema_2020_12_tool',
    'Has an input schema with keywords of JSON Schema 2020-12',
    async (_call, given) => text(JSON.stringify(given)),
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      ...conditional,
      additionalProperties: false,
    },
  ),
];

/** Time between two messages of one call, in milliseconds, as the suite requires. */
const betweenMs = 50;

const speaking: readonly ConformanceTool[] = [
  tool('test_tool_with_logging', 'Logs three times', async ({ context }) => {
    await context.mcpReq.log('info', 'Tool execution started');
    await pause(betweenMs);
    await context.mcpReq.log('info', 'Tool processing data');
    await pause(betweenMs);
    await context.mcpReq.log('info', 'Tool execution completed');
    return text('Logged three messages');
  }),
  tool('test_logging_tool', 'Logs once', async ({ context }) => {
    await context.mcpReq.log('info', 'Tool execution started');
    return text('Logged, where the request asked for it');
  }),
  tool('test_tool_with_progress', 'Tells of its progress', async ({ context }) => {
    const progressToken = context.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progress > 0) await pause(betweenMs);
      if (progressToken !== undefined)
        await context.mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100 },
        });
    }
    return text('Done');
  }),
  tool('test_reconnection', 'Closes its stream before it answers, where the transport can', async (call) => {
    call.context.http?.closeSSE?.();
    await pause(betweenMs);
    return text('Reconnection test completed');
  }),
];

function elicitation(
  name: string,
  description: string,
  params: (given: Given) => ElicitRequestFormParams,
  inputSchema: Tool['inputSchema'] = noArguments,
): ConformanceTool {
  return tool(
    name,
    description,
    async ({ context }, given) => {
      const { action, content = {} } = await context.mcpReq.elicitInput(params(given));
      return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
    },
    inputSchema,
  );
}

const titled = (names: readonly string[]) =>
  names.map((title, index) => ({ const: `value${index + 1}`, title }));

const askingInSessions: readonly ConformanceTool[] = [
  tool(
    'test_sampling',
    "Asks the client's model",
    async ({ context }, { prompt }) => {
      const { content } = await context.mcpReq.requestSampling({
        messages: [{ role: 'user', content: { type: 'text', text: String(prompt) } }],
        maxTokens: 100,
      });
      return text(
        `LLM response: ${!Array.isArray(content) && content.type === 'text' ? content.text : JSON.stringify(content)}`,
      );
    },
    oneText('prompt'),
  ),
  elicitation(
    'test_elicitation',
    'Asks the user for a name and an address',
    ({ message }) => ({
      message: String(message),
      requestedSchema: {
        type: 'object',
        properties: {
          username: { type: 'string', description: "User's response" },
          email: { type: 'string', description: "User's email address" },
        },
        required: ['username', 'email'],
      },
    }),
    oneText('message'),
  ),
  elicitation('test_elicitation_sep1034_defaults', 'Asks the user, with a default for every kind', () => ({
    message: 'Please review the values',
    requestedSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      },
    },
  })),
  elicitation('test_elicitation_sep1330_enums', 'Asks the user to choose, in every way', () => ({
    message: 'Please choose',
    requestedSchema: {
      type: 'object',
      properties: {
        untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
        titledSingle: { type: 'string', oneOf: titled(['First Option', 'Second Option', 'Third Option']) },
        legacyEnum: {
          type: 'string',
          enum: ['opt1', 'opt2', 'opt3'],
          enumNames: ['Option One', 'Option Two', 'Option Three'],
        },
        untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
        titledMulti: {
          type: 'array',
          items: { anyOf: titled(['First Choice', 'Second Choice', 'Third Choice']) },
        },
      },
    },
  })),
];

/** A form of one field. */
export function form(
  field: string,
  type: { type: 'string' } | { type: 'boolean' },
): ElicitRequestFormParams['requestedSchema'] {
  return { type: 'object', properties: { [field]: type }, required: [field] };
}

const askName = (message: string) =>
  inputRequired.elicit({ message, requestedSchema: form('name', { type: 'string' }) });
const askModel = (question: string, maxTokens = 100) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: question } }],
    maxTokens,
  });

/** The user's input, if it is a text. */
export function fieldOf({ mcpReq }: SurfaceCall['context'], key: string, field: string): string | undefined {
  const value = acceptedContent(mcpReq.inputResponses, key)?.[field];
  return typeof value === 'string' ? value : undefined;
}

/** The client's capabilities in a request of the stateless revision; the SDK has checked them. */
interface CapabilitiesEnvelope {
  readonly [CLIENT_CAPABILITIES_META_KEY]: Pick<ClientCapabilities, 'elicitation' | 'sampling' | 'roots'>;
}

/** The client's input for this key; undefined if it sent none. */
function responseOf({ context }: SurfaceCall, key: string): unknown {
  const response = context.mcpReq.inputResponses?.[key];
  return typeof response === 'object' && response !== null ? response : undefined;
}

/** Requests the inputs until all have been answered, with its state stored by the client. */
function withState(name: string, description: string, inputs: InputRequests, answer: string) {
  return tool(name, description, async (call) => {
    const { inputResponses, requestState } = call.context.mcpReq;
    const isAnswered = Object.keys(inputs).every((key) => responseOf(call, key) !== undefined);
    if (inputResponses !== undefined && isAnswered && requestState<string>() === name) return text(answer);
    return inputRequired({ inputRequests: inputs, requestState: await stateCodec.mint(name, call.context) });
  });
}

const askingByAnswers: readonly ConformanceTool[] = [
  tool('test_input_required_result_elicitation', 'Asks for a name', async ({ context }) => {
    const name = fieldOf(context, 'user_name', 'name');
    if (name !== undefined) return text(`Hello, ${name}!`);
    return inputRequired({ inputRequests: { user_name: askName('What is your name?') } });
  }),
  tool('test_input_required_result_sampling', "Asks the client's model", async (call) => {
    const response = responseOf(call, 'capital_question');
    if (response !== undefined) return text(`The model says: ${JSON.stringify(response)}`);
    return inputRequired({ inputRequests: { capital_question: askModel('What is the capital of France?') } });
  }),
  tool('test_input_required_result_list_roots', "Asks for the client's folders", async (call) => {
    const response = responseOf(call, 'client_roots');
    if (response !== undefined) return text(`The folders are: ${JSON.stringify(response)}`);
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  }),
  withState(
    'test_input_required_result_request_state',
    'Keeps its state with the client',
    {
      confirm: inputRequired.elicit({
        message: 'Please confirm',
        requestedSchema: form('ok', { type: 'boolean' }),
      }),
    },
    'state-ok',
  ),
  withState(
    'test_input_required_result_tampered_state',
    'Refuses a state that is not its own',
    {
      confirm: inputRequired.elicit({
        message: 'Please confirm',
        requestedSchema: form('ok', { type: 'boolean' }),
      }),
    },
    'The state was untouched',
  ),
  withState(
    'test_input_required_result_multiple_inputs',
    'Asks for three things at once',
    {
      user_name: askName('What is your name?'),
      greeting: askModel('Generate a greeting', 50),
      client_roots: inputRequired.listRoots(),
    },
    'All three were answered',
  ),
  tool('test_input_required_result_multi_round', 'Asks twice, one after the other', async ({ context }) => {
    const state = context.mcpReq.requestState<string>();
    const name = fieldOf(context, 'step1', 'name');
    if (state === 'first' && name !== undefined)
      return inputRequired({
        inputRequests: {
          step2: inputRequired.elicit({
            message: 'Step 2: What is your favorite color?',
            requestedSchema: form('color', { type: 'string' }),
          }),
        },
        requestState: await stateCodec.mint(`second ${name}`, context),
      });
    const color = fieldOf(context, 'step2', 'color');
    if (state?.startsWith('second ') === true && color !== undefined)
      return text(`${state.slice('second '.length)} likes ${color}`);
    return inputRequired({
      inputRequests: { step1: askName('Step 1: What is your name?') },
      requestState: await stateCodec.mint('first', context),
    });
  }),
  tool(
    'test_input_required_result_capabilities',
    'Asks for what the client can give',
    async ({ context }) => {
      const { envelope, inputResponses } = context.mcpReq;
      if (inputResponses !== undefined) return text('Answered');
      const can = (envelope as CapabilitiesEnvelope)[CLIENT_CAPABILITIES_META_KEY];
      const inputRequests: InputRequests = {
        ...(can.elicitation === undefined ? {} : { name: askName('What is your name?') }),
        ...(can.sampling === undefined ? {} : { greeting: askModel('Generate a greeting') }),
        ...(can.roots === undefined ? {} : { folders: inputRequired.listRoots() }),
      };
      if (Object.keys(inputRequests).length === 0) return text('The client can give nothing');
      return inputRequired({ inputRequests });
    },
  ),
  tool('test_missing_capability', "Cannot work without the client's model", async (call) =>
    responseOf(call, 'greeting') === undefined
      ? inputRequired({ inputRequests: { greeting: askModel('Generate a greeting') } })
      : text('Answered'),
  ),
  tool('test_streaming_elicitation', 'Asks for a name in the course of a call', async (call) => {
    if (responseOf(call, 'user_name') !== undefined) return text('Answered');
    return inputRequired({ inputRequests: { user_name: askName('What is your name?') } });
  }),
];

export const conformanceTools: ReadonlyMap<string, ConformanceTool> = new Map(
  [...answering, ...speaking, ...askingInSessions, ...askingByAnswers].map((each) => [
    each.listing.name,
    each,
  ]),
);
