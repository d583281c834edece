/**
 * The language model that the configuration names, with its tries, pauses and limits.
 *
 * One question is at most three calls, all within LLM_TIMEOUT_MS: what may pass (a rate limit, a failing provider, a
 * broken connection) is tried again after a pause that doubles and is spread by chance, or that the provider asked for;
 * a bad answer is shown to the model once, with what is wrong with it, to be mended, and after that asked for afresh.
 * What trying again cannot help is refused at once. Whatever else goes wrong, the caller gets LlmProviderException.
 */
import type { z } from 'zod';
import { EngineError } from '../../engine/index.ts';
import type { ProviderName } from '../../engine/contract/extraction.ts';
import type { LanguageModel, ModelRequest } from './language-model.ts';
import { firstModelOf } from './offered-models.ts';
import { type CallResult, callProvider, type Question, type Repair, type Tokens } from './provider-call.ts';
import type { ProviderFailure } from './provider-failure.ts';
import { providerSchema } from './provider-schema.ts';
import {
  configuredProvider,
  type LanguageSettings,
  type Provider,
  type ProviderClient,
} from './providers.ts';
import { readAnswer } from './read-answer.ts';

/** One finished call, for metrics and the log. Carries nothing of what was asked or answered. */
export interface ProviderCall {
  readonly provider: ProviderName;
  readonly model: string;
  readonly name: ModelRequest<z.ZodType>['name'];
  readonly requestId: string;
  /** `accepted`, `ended` by its signal or the time limit, or in a word or two what failed. */
  readonly outcome: string;
  readonly elapsedMs: number;
  readonly tokens: Tokens;
}

export interface ModelEffects {
  onCall(call: ProviderCall): void;
  /** Epoch milliseconds. */
  now(): number;
  /** Resolves after `ms`, or at once when the signal ends it. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
  /** From 0 inclusive to 1 exclusive. */
  random(): number;
}

/** A model without LLM_MODEL, at a local address that has not yet been asked which it offers. */
const unnamedModel = 'default';
const maxCalls = 3;
const firstPauseMs = 500;

/** null where no provider is configured. */
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
    // Loading the library is no time of the provider's.
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
    schema: Question['schema'],
    { repair, temperature, client, signal }: Way & { client: ProviderClient; signal: AbortSignal },
  ): Promise<Tried<z.output<Schema>>> {
    const model = this.#model;
    const { instructions, input } = request;
    const question: Question = { name, instructions, input, schema, model, repair, temperature };
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
    // Only now is it known that the temperature was what it did not take.
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

  /** Waits before a call that may go better later; refuses where there is no time left for it. */
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

  /** Whether the address offers a model that has not just been refused; it is used from now on. */
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
type Way = Pick<Question, 'repair' | 'temperature'>;

type Tried<Value> =
  | { readonly kind: 'accepted'; readonly value: Value }
  | { readonly kind: 'failure'; readonly failure: ProviderFailure; readonly repair: Repair | null }
  | { readonly kind: 'ended' };

const noTokens: Tokens = { input: 0, output: 0 };
