/**
 * For tests: a language model of each provider that talks to a scripted one, without waiting and without randomness.
 */
import { z } from 'zod';
import type { ProviderName } from '../../../engine/contract/extraction.ts';
import { present } from '../../../engine/index.ts';
import { type Environment, parseConfig } from '../../base/config.ts';
import { createLanguageModel, type LanguageModel, type ProviderCall } from '../language-model.ts';
import { type Script, type ScriptedProvider, startScriptedProvider } from './scripted-provider.ts';

export const secretKey = 'sk-secret/KEY"0123456789';

export const schema = z.strictObject({
  facts: z.array(
    z.strictObject({
      predicate: z.string().min(1),
      args: z.array(z.string()),
      confidence: z.number().min(0).max(1),
    }),
  ),
});
export const good = { facts: [{ predicate: 'likes', args: ['ann', 'bob'], confidence: 0.5 }] };

export interface ModelUnderTest {
  readonly provider: ScriptedProvider;
  readonly model: LanguageModel;
  /** Finished calls, in order. */
  readonly calls: ProviderCall[];
  /** Requested pauses, in milliseconds; none is waited for. */
  readonly pauses: number[];
  ask(signal?: AbortSignal): Promise<z.output<typeof schema>>;
}

/** Variables that configure a provider with its key, at the given address. */
export function environmentOf(name: ProviderName, address: string): Environment {
  if (name === 'local') return { LOCAL_LLM_BASE_URL: address };
  const letter = { anthropic: 'A', openai: 'B', google: 'C' }[name];
  return { [`LLM_PROVIDER_${letter}_API_KEY`]: secretKey, LLM_BASE_URL: address };
}

/** The current time of its clock, in epoch milliseconds. */
export const frozenNow = Date.UTC(2030, 0, 1);

export async function startModelUnderTest(
  name: ProviderName,
  script: Script,
  environment: Environment = {},
): Promise<ModelUnderTest> {
  const provider = await startScriptedProvider(script);
  const calls: ProviderCall[] = [];
  const pauses: number[] = [];
  const config = parseConfig({ ...environmentOf(name, provider.address), ...environment });
  const model = createLanguageModel(config, {
    onCall: (call) => calls.push(call),
    now: () => frozenNow,
    pause: (ms) => {
      pauses.push(ms);
      return Promise.resolve();
    },
    random: () => 0.5,
  });
  const asked = present(model, 'no provider is configured');
  return {
    provider,
    model: asked,
    calls,
    pauses,
    ask: (signal = new AbortController().signal) =>
      asked.complete({
        name: 'extraction',
        instructions: 'Find the facts.',
        input: 'Ann likes Bob.',
        schema,
        requestId: 'r1',
        signal,
      }),
  };
}
