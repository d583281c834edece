/**
 * One call of a provider: sends the question in its format once, and returns a value or a failure.
 *
 * The client library writes and reads the provider's format. It sends through `sendOnce`, at most once, so that status,
 * size, redirects and the end are decided here and not in the library. Errors of the library are dropped: they contain
 * the request.
 */
import type {
  LanguageModelV3CallOptions,
  LanguageModelV3GenerateResult,
  LanguageModelV3Prompt,
} from '@ai-sdk/provider';
import { isWithinJsonLimits } from './json-limits.ts';
import {
  answeredTooMuch,
  cutShort,
  declined,
  notItsFormat,
  notOfTheSchema,
  type ProviderFailure,
  refusedWith,
  retryAfterMs,
  unreachable,
} from './provider-failure.ts';
import type { Provider, ProviderClient } from './providers.ts';
import { sendOnce, type SendOutcome } from './send-once.ts';
import { z } from 'zod';
import { assert } from '../../engine/index.ts';

export interface ModelQuestion {
  readonly name: string;
  readonly instructions: string;
  readonly input: string;
  readonly schema: ProviderSchema;
  readonly model: string;
  /** null: the model's own. */
  readonly temperature: number | null;
  /** The earlier answer to correct; null: this is the first attempt. */
  readonly repair: Repair | null;
}

export interface Repair {
  readonly answer: string;
  readonly complaint: string;
}

export interface Tokens {
  readonly input: number;
  readonly output: number;
}

export type CallResult =
  /** `ifBad`: the failure if the text is not what was asked for. */
  | { readonly kind: 'text'; readonly text: string; readonly ifBad: ProviderFailure; readonly tokens: Tokens }
  | { readonly kind: 'failure'; readonly failure: ProviderFailure; readonly tokens: Tokens }
  /** The signal aborted it. */
  | { readonly kind: 'ended' };

const noTokens: Tokens = { input: 0, output: 0 };

/** Never rejects. `now` in epoch milliseconds, for a Retry-After that is a date. */
export async function callProvider(
  provider: Provider,
  client: ProviderClient,
  question: ModelQuestion,
  { signal, now }: { signal: AbortSignal; now: () => number },
): Promise<CallResult> {
  let isSent = false;
  let sent: SendOutcome | null = null;
  const send: typeof globalThis.fetch = async (address, init = {}) => {
    // A library that retried by itself would bypass the decisions made here.
    if (isSent || typeof address !== 'string' || typeof init.body !== 'string')
      throw new Error('one request a call');
    isSent = true;
    sent = await sendOnce(address, {
      method: 'POST',
      headers: Object.fromEntries(new Headers(init.headers)),
      body: init.body,
      signal,
    });
    if (sent.kind !== 'answered' || !isSuccess(sent.status)) throw new Error('no answer');
    const body = sent.body.toString();
    if (!isWithinJsonLimits(body)) sent = { kind: 'too large' };
    if (sent.kind === 'too large') throw new Error('too much of an answer');
    return new Response(body, { headers: { 'content-type': 'application/json' } });
  };
  const model = client(question.model, send);
  const options = optionsOf(provider, question);
  let result: LanguageModelV3GenerateResult | null = null;
  try {
    result = await model.doGenerate(options);
  } catch {
    // `sent` says what went wrong; if its status is a success, the answer did not have the provider's format.
  }
  if (result !== null) return read(provider, result);
  if (signal.aborted) return { kind: 'ended' };
  return { kind: 'failure', failure: failureOf(provider, question, sent, now()), tokens: noTokens };
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function failureOf(
  provider: Provider,
  question: ModelQuestion,
  sent: SendOutcome | null,
  now: number,
): ProviderFailure {
  if (sent === null || sent.kind === 'ended') return notItsFormat(provider);
  if (sent.kind === 'unreachable') return unreachable(provider, sent.code);
  if (sent.kind === 'too large') return answeredTooMuch(provider);
  if (isSuccess(sent.status)) return notItsFormat(provider);
  const answer = {
    status: sent.status,
    body: sent.body.toString('utf8', 0, readForSigns),
    retryAfterMs: retryAfterMs(sent.retryAfter, now),
  };
  return refusedWith(provider, answer, {
    model: question.model,
    hasTemperature: question.temperature !== null,
  });
}

/** Bytes of an error's body that are searched for signs of what is wrong. */
const readForSigns = 65_536;

function optionsOf(provider: Provider, question: ModelQuestion): LanguageModelV3CallOptions {
  const { name, schema, temperature } = question;
  return {
    prompt: promptOf(provider, question),
    // Our types are read-only, the library's are not; neither side writes to them.
    responseFormat: { type: 'json', schema, name } as LanguageModelV3CallOptions['responseFormat'] & object,
    providerOptions: provider.options,
    ...(temperature === null ? {} : { temperature }),
    ...(provider.maxOutputTokens === null ? {} : { maxOutputTokens: provider.maxOutputTokens }),
  };
}

/** Maximum characters of a bad answer that is shown to the model again. */
const maxShownAnswer = 20_000;

function promptOf(
  provider: Provider,
  { instructions, input, schema, repair }: ModelQuestion,
): LanguageModelV3Prompt {
  // Servers of local models enforce the schema, but do not show it to the model.
  const shown = `${instructions}\n\nAnswer with one JSON object of this JSON Schema, and nothing else:\n`;
  const system = provider.name === 'local' ? shown + JSON.stringify(schema) : instructions;
  const prompt: LanguageModelV3Prompt = [
    { role: 'system', content: system },
    { role: 'user', content: [{ type: 'text', text: input }] },
  ];
  if (repair === null) return prompt;
  const answer = repair.answer.slice(0, maxShownAnswer).trim();
  const request = `That answer could not be used:\n${repair.complaint}\nAnswer what was asked again, with one JSON object of the schema and nothing else.`;
  prompt.push(
    { role: 'assistant', content: [{ type: 'text', text: answer === '' ? '(nothing)' : answer }] },
    { role: 'user', content: [{ type: 'text', text: request }] },
  );
  return prompt;
}

function read(provider: Provider, result: LanguageModelV3GenerateResult): CallResult {
  const { content, finishReason, usage } = result;
  const tokens = { input: counted(usage.inputTokens.total), output: counted(usage.outputTokens.total) };
  if (finishReason.unified === 'content-filter')
    return { kind: 'failure', failure: declined(provider), tokens };
  // The answer is text, or the arguments of a tool if the provider answers through one.
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const tool = content.find((part) => part.type === 'tool-call');
  const ifBad = finishReason.unified === 'length' ? cutShort(provider) : notOfTheSchema(provider);
  return { kind: 'text', text: tool?.input ?? texts.join(''), ifBad, tokens };
}

/** A count from a provider, which may be anything. */
function counted(tokens: unknown): number {
  return typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens > 0 ? tokens : 0;
}

interface ProviderSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, ProviderSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
  readonly items?: ProviderSchema;
  readonly anyOf?: readonly ProviderSchema[];
}

/**
 * A schema for providers: JSON Schema with the few keywords that all of them support. For a schema without recursion
 * whose root is an object.
 *
 * Every object requires all its properties and allows no others, as strict modes demand. Limits and patterns are left
 * out: the service validates the answer against the whole schema.
 */
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
