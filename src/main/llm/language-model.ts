import type { z } from 'zod';
import type { ProviderName } from '../../engine/contract/extraction.ts';

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

export interface ModelRequest<Schema extends z.ZodType> {
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
