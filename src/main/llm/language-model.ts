import type { z } from 'zod';
import type { ProviderName } from '../../engine/contract/extraction.ts';

/**
 * A language model behind one of the providers, asked for JSON of a schema.
 *
 * Every call resolves with what the schema accepts, or is refused with LlmProviderException, whose detail and body name
 * the provider and never the key. Calls are tried again where that can help, and end with the signal: then they reject
 * with an AbortError, which is no failure of the provider. A key that the provider put into its answer is taken out of
 * it.
 */
export interface LanguageModel {
  readonly provider: ProviderName;
  /** As the provider names it. Of a local address without LLM_MODEL it may change once, with the first call. */
  readonly model: string;
  complete<Schema extends z.ZodType>(request: ModelRequest<Schema>): Promise<z.output<Schema>>;
}

export interface ModelRequest<Schema extends z.ZodType> {
  /** A short name of what is asked for, shown to the provider beside the schema. */
  readonly name: 'extraction' | 'planning' | 'wording';
  /** What it is to do. Nothing that a user wrote stands in it. */
  readonly instructions: string;
  /** What it is to do it with: data, never instructions. */
  readonly input: string;
  /** Of an object. All its properties are asked for, and no others. */
  readonly schema: Schema;
  /** The request that it is for, in the lines of the log. */
  readonly requestId: string;
  readonly signal: AbortSignal;
}
