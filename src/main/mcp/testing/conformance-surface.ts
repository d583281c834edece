/**
 * The server content that the official conformance suite requires, in place of the knowledge base. The rest of the
 * service is unchanged: the suite must test our transports, sessions and authentication.
 */
import {
  type GetPromptResult,
  inputRequired,
  type InputRequiredResult,
  type Prompt,
  type Resource,
} from '@modelcontextprotocol/server';
import { EngineError } from '../../../engine/index.ts';
import type { McpSurface, SurfaceCall } from '../surface.ts';
import { conformanceTools, fieldOf, form, redPoint, stateCodec } from './conformance-tools.ts';

type Contents = { uri: string; mimeType: string } & ({ text: string } | { blob: string });

const resources: readonly (Resource & { contents: Contents })[] = [
  {
    uri: 'test://static-text',
    name: 'static-text',
    description: 'A text',
    mimeType: 'text/plain',
    contents: {
      uri: 'test://static-text',
      mimeType: 'text/plain',
      text: 'This is the content of the static text resource.',
    },
  },
  {
    uri: 'test://static-binary',
    name: 'static-binary',
    description: 'A picture',
    mimeType: 'image/png',
    contents: { uri: 'test://static-binary', mimeType: 'image/png', blob: redPoint },
  },
  {
    uri: 'test://watched-resource',
    name: 'watched-resource',
    description: 'A text to subscribe to',
    mimeType: 'text/plain',
    contents: { uri: 'test://watched-resource', mimeType: 'text/plain', text: 'Watched.' },
  },
];

const templateAddress = /^test:\/\/template\/([^/]+)\/data$/;

function contentsAt(uri: string): Contents | null {
  const id = templateAddress.exec(uri)?.[1];
  if (id !== undefined)
    return {
      uri,
      mimeType: 'application/json',
      text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    };
  return resources.find((resource) => resource.uri === uri)?.contents ?? null;
}

interface ConformancePrompt extends Prompt {
  get(
    call: SurfaceCall,
    given: Readonly<Record<string, string>>,
  ): GetPromptResult['messages'] | InputRequiredResult;
}

function said(text: string): GetPromptResult['messages'][number] {
  return { role: 'user', content: { type: 'text', text } };
}

const prompts: readonly ConformancePrompt[] = [
  {
    name: 'test_simple_prompt',
    description: 'A prompt without arguments',
    get: () => [said('This is a simple prompt for testing.')],
  },
  {
    name: 'test_prompt_with_arguments',
    description: 'A prompt with two arguments',
    arguments: [
      { name: 'arg1', description: 'First test argument', required: true },
      { name: 'arg2', description: 'Second test argument', required: true },
    ],
    get: (_call, { arg1 = '', arg2 = '' }) => [said(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'A prompt that holds a document',
    arguments: [{ name: 'resourceUri', description: 'URI of the resource to embed', required: true }],
    get: (_call, { resourceUri = '' }) => [
      {
        role: 'user',
        content: {
          type: 'resource',
          resource: {
            uri: resourceUri,
            mimeType: 'text/plain',
            text: 'Embedded resource content for testing.',
          },
        },
      },
      said('Please process the embedded resource above.'),
    ],
  },
  {
    name: 'test_prompt_with_image',
    description: 'A prompt that holds a picture',
    get: () => [
      { role: 'user', content: { type: 'image', data: redPoint, mimeType: 'image/png' } },
      said('Please analyze the image above.'),
    ],
  },
  {
    name: 'test_input_required_result_prompt',
    description: 'A prompt that asks for what it is about',
    get({ context }) {
      const given = fieldOf(context, 'user_context', 'context');
      if (given !== undefined) return [said(`The context is ${given}`)];
      const message = 'What context should the prompt use?';
      const requestedSchema = form('context', { type: 'string' });
      return inputRequired({
        inputRequests: { user_context: inputRequired.elicit({ message, requestedSchema }) },
      });
    },
  },
];

export const conformanceSurface: McpSurface = {
  options: {
    capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} },
    requestState: { verify: stateCodec.verify },
  },
  listTools: () => [...conformanceTools.values()].map(({ listing }) => listing),
  async callTool(call, name, given) {
    const tool = conformanceTools.get(name);
    if (tool !== undefined) return tool.run(call, given);
    return { content: [{ type: 'text', text: `There is no tool ${name}` }], isError: true };
  },
  listResources: async (_call, cursor) =>
    cursor === undefined ? { resources: resources.map(({ contents: _, ...listing }) => listing) } : null,
  listResourceTemplates: () => [
    {
      uriTemplate: 'test://template/{id}/data',
      name: 'template',
      description: 'A document for every id',
      mimeType: 'application/json',
    },
  ],
  async readResource(_call, uri) {
    const contents = contentsAt(uri);
    return contents === null ? null : { contents: [contents] };
  },
  listPrompts: () => prompts.map(({ get: _, ...listing }) => listing),
  async getPrompt(call, name, given) {
    const prompt = prompts.find((candidate) => candidate.name === name);
    if (prompt === undefined) return null;
    for (const { name: argument, required } of prompt.arguments ?? [])
      if (required === true && given[argument] === undefined)
        throw new EngineError('ValidationException', `the prompt ${name} needs the argument ${argument}`);
    const messages = prompt.get(call, given);
    return Array.isArray(messages) ? { messages } : messages;
  },
  complete: async () => ({ completion: { values: ['paris', 'park', 'party'], total: 3, hasMore: false } }),
};
