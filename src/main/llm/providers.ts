/**
 * The providers: which one is configured, with which address, key and model, and the client library for its format.
 *
 * The libraries are loaded with the first call, so a service without a provider does not load them. They get address,
 * key and the function that sends, and read nothing from the environment.
 */
import type { LanguageModelV3, SharedV3ProviderOptions } from '@ai-sdk/provider';
import type { ProviderName } from '../../engine/contract/extraction.ts';
import type { Config } from '../base/config.ts';

export type LanguageSettings = Pick<
  Config,
  | 'anthropicApiKey'
  | 'openaiApiKey'
  | 'googleApiKey'
  | 'localLlmBaseUrl'
  | 'llmBaseUrl'
  | 'llmModel'
  | 'llmTemperature'
  | 'llmTimeoutMs'
>;

/** One configured provider. */
export interface Provider {
  readonly name: ProviderName;
  /** Its name in a sentence. */
  readonly label: string;
  /** Paths of its API are appended to this address; no trailing slash. */
  readonly address: string;
  /** null: no key is sent. */
  readonly key: string | null;
  /** null: the first one that the address offers. */
  readonly model: string | null;
  /** Names of variables, for messages that say what to check. */
  readonly keyVariables: string | null;
  readonly addressVariable: string;
  /** Maximum tokens of an answer, if its API requires one. */
  readonly maxOutputTokens: number | null;
  readonly options: SharedV3ProviderOptions;
  /** Loads the client library. */
  load(): Promise<ProviderClient>;
}

/** Speaks the provider's format; sends everything through `fetch`. */
export type ProviderClient = (model: string, fetch: typeof globalThis.fetch) => LanguageModelV3;

/** The default models: quick enough for LLM_TIMEOUT_MS, and with a temperature. */
const defaultModels = {
  anthropic: 'claude-haiku-4-5',
  openai: 'gpt-4.1-mini',
  google: 'gemini-flash-latest',
} as const;

/** The first configured one of local, A, B, C; null if there is none. */
export function configuredProvider(settings: LanguageSettings): Provider | null {
  const { localLlmBaseUrl, anthropicApiKey, openaiApiKey, googleApiKey } = settings;
  if (localLlmBaseUrl !== null) return local(localLlmBaseUrl, settings);
  if (anthropicApiKey !== null) return anthropic(anthropicApiKey, settings);
  if (openaiApiKey !== null) return openai(openaiApiKey, settings);
  if (googleApiKey !== null) return google(googleApiKey, settings);
  return null;
}

function local(baseUrl: string, { llmModel }: LanguageSettings): Provider {
  const address = prefixed(baseUrl, '/v1');
  return {
    name: 'local',
    label: 'the local model',
    address,
    key: null,
    model: llmModel,
    keyVariables: null,
    addressVariable: 'LOCAL_LLM_BASE_URL',
    maxOutputTokens: null,
    // A local model is asked in the plainest form, whatever its name suggests.
    options: { openai: { forceReasoning: false, systemMessageMode: 'system' } },
    async load() {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return (model, fetch) => createOpenAI({ baseURL: address, apiKey: 'none', fetch }).chat(model);
    },
  };
}

function anthropic(key: string, { llmBaseUrl, llmModel }: LanguageSettings): Provider {
  const address = llmBaseUrl === null ? 'https://api.anthropic.com/v1' : prefixed(llmBaseUrl, '/v1');
  return {
    name: 'anthropic',
    label: 'Anthropic',
    address,
    key,
    model: llmModel ?? defaultModels.anthropic,
    keyVariables: 'LLM_PROVIDER_A_API_KEY or ANTHROPIC_API_KEY',
    addressVariable: 'LLM_BASE_URL',
    maxOutputTokens: 16_000,
    options: {},
    async load() {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return (model, fetch) => createAnthropic({ baseURL: address, apiKey: key, fetch }).chat(model);
    },
  };
}

function openai(key: string, { llmBaseUrl, llmModel }: LanguageSettings): Provider {
  const address = llmBaseUrl === null ? 'https://api.openai.com/v1' : prefixed(llmBaseUrl, '/v1');
  return {
    name: 'openai',
    label: 'OpenAI',
    address,
    key,
    model: llmModel ?? defaultModels.openai,
    keyVariables: 'LLM_PROVIDER_B_API_KEY or OPENAI_API_KEY',
    addressVariable: 'LLM_BASE_URL',
    maxOutputTokens: null,
    options: {},
    async load() {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return (model, fetch) => createOpenAI({ baseURL: address, apiKey: key, fetch }).chat(model);
    },
  };
}

function google(key: string, { llmBaseUrl, llmModel }: LanguageSettings): Provider {
  const usual = 'https://generativelanguage.googleapis.com/v1beta';
  const address = llmBaseUrl === null ? usual : prefixed(llmBaseUrl, '/v1beta');
  return {
    name: 'google',
    label: 'Google',
    address,
    key,
    model: llmModel ?? defaultModels.google,
    keyVariables: 'LLM_PROVIDER_C_API_KEY or GEMINI_API_KEY',
    addressVariable: 'LLM_BASE_URL',
    maxOutputTokens: null,
    options: {},
    async load() {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      return (model, fetch) => createGoogleGenerativeAI({ baseURL: address, apiKey: key, fetch }).chat(model);
    },
  };
}

/** The address with `prefix` if it has no path, else as it is; without a trailing slash. */
function prefixed(address: string, prefix: string): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname === '/' ? prefix : pathname.replace(/\/+$/, '')}`;
}
