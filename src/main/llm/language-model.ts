/**
 * The configured language model, with its retries, pauses and limits.
 *
 * One question takes at most three calls, all within LLM_TIMEOUT_MS. A transient failure (a rate limit, a failing
 * provider, a broken connection) is retried after a pause that doubles, with jitter, or after the pause that the
 * provider asks for. A bad answer is shown to the model once, with what is wrong with it, and after that asked for
 * afresh. A failure that a retry cannot resolve is refused at once. The caller gets every other failure as
 * LlmProviderException.
 */
import { z } from 'zod';
import type { ProviderName } from '../../engine/contract/extraction.ts';
import { readAs } from '../../engine/contract/validation.ts';
import { EngineError } from '../../engine/index.ts';
import { isWithinJsonLimits, maxJsonValues } from './json-limits.ts';
import {
  callProvider,
  type CallResult,
  type ModelQuestion,
  providerSchema,
  type Repair,
  type Tokens,
} from './provider-call.ts';
import type { ProviderFailure } from './provider-failure.ts';
import {
  configuredProvider,
  type LanguageSettings,
  type Provider,
  type ProviderClient,
} from './providers.ts';
import { sendOnce } from './send-once.ts';
import { setTimeout as resolveAfter } from 'node:timers/promises';

/**
 * A language model of one of the providers, asked for JSON of a schema.
 *
 * Every call resolves with a value that the schema accepts, or is refused with LlmProviderException, whose detail and
 * body name the provider and never the key. Calls are retried if that can help. When the signal aborts they reject with
 * an AbortError, which is not a failure of the provider. If the provider's answer contains the key, it is removed.
 */
export interface LanguageModel {
  readonly provider: ProviderName;
  /** The provider's name for it. For a local address without LLM_MODEL it may change once, with the first call. */
  readonly model: string;
  complete<Schema extends z.ZodType>(request: ModelRequest<Schema>): Promise<z.output<Schema>>;
}

interface ModelRequest<Schema extends z.ZodType> {
  /** A short name of the task, shown to the provider beside the schema. */
  readonly name: 'extraction' | 'planning' | 'wording';
  /** What the model is to do. Contains nothing that a user wrote. */
  readonly instructions: string;
  /** The material: data, never instructions. */
  readonly input: string;
  /** Of an object. All its properties are required, and no others allowed. */
  readonly schema: Schema;
  /** The request it belongs to, for the log. */
  readonly requestId: string;
  readonly signal: AbortSignal;
}

/** One finished call, for metrics and the log. Contains nothing of the question or the answer. */
export interface ProviderCall {
  readonly provider: ProviderName;
  readonly model: string;
  readonly name: ModelRequest<z.ZodType>['name'];
  readonly requestId: string;
  /** `accepted`, `ended` by its signal or the time limit, or the failure in a word or two. */
  readonly outcome: string;
  readonly elapsedMs: number;
  readonly tokens: Tokens;
}

interface ModelEffects {
  onCall(call: ProviderCall): void;
  /** Epoch milliseconds. */
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
  /** From 0 inclusive to 1 exclusive. */
  random(): number;
}

/** A model without LLM_MODEL, at a local address whose models are not known yet. */
const unnamedModel = 'default';
const maxCalls = 3;
const firstPauseMs = 500;

/** Creates the configured model; null if no provider is configured. */
export function createLanguageModel(settings: LanguageSettings, effects: ModelEffects): LanguageModel | null {
  const provider = configuredProvider(settings);
  return provider === null ? null : new ConfiguredModel(provider, settings, effects);
}

class ConfiguredModel implements LanguageModel {
  readonly provider: ProviderName;
  readonly #provider: Provider;
  readonly #timeoutMs: number;
  readonly #effects: ModelEffects;
  #client: ProviderClient | null = null;
  #model: string;
  /** null once the provider has refused it for this model. */
  #temperature: number | null;

  constructor(provider: Provider, settings: LanguageSettings, effects: ModelEffects) {
    this.provider = provider.name;
    this.#provider = provider;
    this.#timeoutMs = settings.llmTimeoutMs;
    this.#effects = effects;
    this.#model = provider.model ?? unnamedModel;
    this.#temperature = settings.llmTemperature;
  }

  get model(): string {
    return this.#model;
  }

  async complete<Schema extends z.ZodType>(request: ModelRequest<Schema>): Promise<z.output<Schema>> {
    // Loading the library does not count as the provider's time.
    this.#client ??= await this.#provider.load();
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), this.#timeoutMs);
    try {
      return await this.#tryAll(request, this.#client, AbortSignal.any([request.signal, timeout.signal]));
    } finally {
      clearTimeout(timer);
    }
  }

  async #tryAll<Schema extends z.ZodType>(
    request: ModelRequest<Schema>,
    client: ProviderClient,
    signal: AbortSignal,
  ): Promise<z.output<Schema>> {
    const schema = providerSchema(request.schema);
    const endsAt = this.#effects.now() + this.#timeoutMs;
    let way: Way = { repair: null, temperature: this.#temperature };
    let mayRepair = true;
    let last: ProviderFailure | null = null;
    for (let calls = 1; ; calls += 1) {
      if (signal.aborted) throw this.#ended(request.signal, last);
      const tried = await this.#try(request, schema, { ...way, client, signal });
      if (tried.kind === 'accepted') return tried.value;
      if (tried.kind === 'ended') throw this.#ended(request.signal, last);
      last = tried.failure;
      if (calls === maxCalls) throw this.#refusal(last.detail);
      switch (last.retry) {
        case 'never':
          throw this.#refusal(last.detail);
        case 'later':
          await this.#pause(last, { calls, endsAt, signal });
          break;
        case 'asked-anew':
          way = { ...way, repair: mayRepair ? tried.repair : null };
          mayRepair = false;
          break;
        case 'without-temperature':
          way = { ...way, temperature: null };
          break;
        case 'with-another-model':
          if (!(await this.#takeOfferedModel(signal))) throw this.#refusal(last.detail);
          break;
      }
    }
  }

  async #try<Schema extends z.ZodType>(
    { name, requestId, ...request }: ModelRequest<Schema>,
    schema: ModelQuestion['schema'],
    { repair, temperature, client, signal }: Way & { client: ProviderClient; signal: AbortSignal },
  ): Promise<Tried<z.output<Schema>>> {
    const model = this.#model;
    const { instructions, input } = request;
    const question: ModelQuestion = { name, instructions, input, schema, model, repair, temperature };
    const startedAt = performance.now();
    const result = await callProvider(this.#provider, client, question, { signal, now: this.#effects.now });
    const elapsedMs = performance.now() - startedAt;
    const tried = this.#judge(result, request.schema);
    this.#effects.onCall({
      provider: this.provider,
      model,
      name,
      requestId,
      elapsedMs,
      outcome: tried.kind === 'failure' ? tried.failure.outcome : tried.kind,
      tokens: result.kind === 'ended' ? noTokens : result.tokens,
    });
    // Only now is it clear that the provider had refused the temperature.
    if (result.kind === 'text') this.#temperature = temperature;
    return tried;
  }

  #judge<Schema extends z.ZodType>(result: CallResult, schema: Schema): Tried<z.output<Schema>> {
    if (result.kind !== 'text') return result.kind === 'ended' ? result : { ...result, repair: null };
    const answer = readAnswer(result.text, schema, this.#provider.key);
    return answer.isAccepted
      ? { kind: 'accepted', value: answer.value }
      : {
          kind: 'failure',
          failure: result.ifBad,
          repair: { answer: result.text, complaint: answer.complaint },
        };
  }

  /** Waits before a retry; refuses if there is no time left for it. */
  async #pause(
    { retryAfterMs, detail }: ProviderFailure,
    { calls, endsAt, signal }: { calls: number; endsAt: number; signal: AbortSignal },
  ): Promise<void> {
    const left = endsAt - this.#effects.now();
    const doubled = firstPauseMs * 2 ** (calls - 1);
    const usual = Math.min(doubled * (0.5 + this.#effects.random() / 2), left / 2);
    if (retryAfterMs !== null && retryAfterMs >= left) {
      const seconds = Math.ceil(retryAfterMs / 1000);
      throw this.#refusal(`${detail}; it asks to wait ${seconds} s, longer than LLM_TIMEOUT_MS leaves`);
    }
    await this.#effects.pause(Math.max(usual, retryAfterMs ?? 0), signal);
  }

  /** Whether the address offers a model other than the refused one; if so, uses it from now on. */
  async #takeOfferedModel(signal: AbortSignal): Promise<boolean> {
    const offered = await firstModelOf(this.#provider.address, signal);
    if (offered === null || offered === this.#model) return signal.aborted;
    this.#model = offered;
    return true;
  }

  #ended(caller: AbortSignal, last: ProviderFailure | null): Error {
    if (caller.aborted) return new DOMException('the client has gone', 'AbortError');
    const before = last === null ? '' : `; before that, ${last.detail}`;
    return this.#refusal(
      `${this.#provider.label} did not answer within LLM_TIMEOUT_MS (${this.#timeoutMs} ms)${before}`,
    );
  }

  #refusal(detail: string): EngineError {
    return new EngineError('LlmProviderException', detail, { provider: this.provider });
  }
}

/** How one call differs from the others of its question. */
type Way = Pick<ModelQuestion, 'repair' | 'temperature'>;

type Tried<Value> =
  | { readonly kind: 'accepted'; readonly value: Value }
  | { readonly kind: 'failure'; readonly failure: ProviderFailure; readonly repair: Repair | null }
  | { readonly kind: 'ended' };

const noTokens: Tokens = { input: 0, output: 0 };

const listSchema = z.object({ data: z.array(z.object({ id: z.string().regex(/^[\x21-\x7e]{1,256}$/) })) });

/**
 * The first model in the list of an OpenAI-compatible address that is not for embeddings; null if there is none, or no
 * answer.
 */
async function firstModelOf(address: string, signal: AbortSignal): Promise<string | null> {
  const sent = await sendOnce(`${address}/models`, { method: 'GET', headers: {}, body: null, signal });
  if (sent.kind !== 'answered' || sent.status !== 200) return null;
  const list = readAs(listSchema, jsonOf(sent.body.toString()));
  return list.data?.data.find(({ id }) => !/embed/i.test(id))?.id ?? null;
}

function jsonOf(text: string): unknown {
  if (!isWithinJsonLimits(text)) return null;
  try {
    return JSON.parse(text);
  } catch {
    // The schema too rejects anything but a list of models.
    return null;
  }
}

/** The outcome of parsing an answer of a model. */

type ReadAnswer<Value> =
  | { readonly isAccepted: true; readonly value: Value }
  | { readonly isAccepted: false; readonly complaint: string };

/** Shorter keys are not secrets of any provider, and would match many words. */
const minKeyLength = 8;
const noObject = `The answer is not one complete JSON object of at most ${maxJsonValues} values.`;
const maxComplaints = 10;
const maxComplaintLength = 300;

/**
 * Parses a model's answer as JSON of a schema.
 *
 * Models put fences, thoughts and polite words around JSON; those are skipped. The provider's key is removed from every
 * text before anything else sees it, however the JSON escaped it. Errors are described in words for the model, so that
 * it can correct its answer; nobody else sees them.
 */
function readAnswer<Schema extends z.ZodType>(
  text: string,
  schema: Schema,
  key: string | null,
): ReadAnswer<z.output<Schema>> {
  const json = parseAround(text);
  if (json === undefined) return { isAccepted: false, complaint: noObject };
  const { value } = key === null || key.length < minKeyLength ? { value: json } : without(key, json);
  const result = readAs(schema, value);
  return result.success
    ? { isAccepted: true, value: result.data }
    : { isAccepted: false, complaint: complaintOf(result.error) };
}

/** The JSON object in a text: the whole text, the contents of a fence, or from the first brace to the last. */
function parseAround(text: string): object | undefined {
  const trimmed = text.trim();
  return parseObject(trimmed) ?? parseObject(fenced(trimmed)) ?? parseObject(braced(trimmed));
}

function parseObject(text: string): object | undefined {
  if (!text.startsWith('{') || !isWithinJsonLimits(text)) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    // Not JSON: the next reading is tried, and the model is told if none fits.
    return undefined;
  }
}

function fenced(text: string): string {
  const start = text.indexOf('```');
  const line = start < 0 ? -1 : text.indexOf('\n', start);
  const end = line < 0 ? -1 : text.lastIndexOf('```');
  return end > line ? text.slice(line + 1, end).trim() : '';
}

function braced(text: string): string {
  const thought = text.lastIndexOf('</think>');
  const start = text.indexOf('{', Math.max(0, thought));
  return start < 0 ? '' : text.slice(start, text.lastIndexOf('}') + 1);
}

/** The same JSON without the key in any text; members whose name contains it are left out. */
function without(key: string, json: unknown): { value: unknown } {
  const root = { value: json };
  const waiting: object[] = [root];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const holder = next as Record<string, unknown>;
    for (const [name, value] of Object.entries(holder)) {
      const kept = typeof value === 'string' ? value.replaceAll(key, '[key]') : value;
      if (name.includes(key)) delete holder[name];
      else if (kept !== value) holder[name] = kept;
      if (typeof value === 'object' && value !== null) waiting.push(value);
    }
  }
  return root;
}

function complaintOf(error: z.ZodError): string {
  const shown = error.issues.slice(0, maxComplaints).map(({ path, message }) => {
    const place = path.map(String).join('.');
    return `- ${place === '' ? 'the whole' : place}: ${message}`.slice(0, maxComplaintLength);
  });
  const left = error.issues.length - shown.length;
  return [...shown, ...(left > 0 ? [`- and ${left} more`] : [])].join('\n');
}

/** Resolves after `ms`, or at once when the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await resolveAfter(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
