import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createLanguageModel } from './create-language-model.ts';
import { startScriptedProvider } from './testing/scripted-provider.ts';
import { parseConfig } from '../config.ts';

const schema = z.strictObject({
  facts: z.array(
    z.strictObject({
      predicate: z.string(),
      args: z.array(z.string()),
      confidence: z.number().min(0).max(1),
    }),
  ),
});
const good = { facts: [{ predicate: 'p', args: ['a'], confidence: 0.5 }] };

describe.each(['anthropic', 'openai', 'google', 'local'] as const)('%s', (name) => {
  it.each([undefined, 'claude-3-haiku-20240307', 'gpt-x'])('answers %s', async (model) => {
    const provider = await startScriptedProvider({ replies: [{ json: good }], models: ['abc'] });
    const env: Record<string, string> = {
      anthropic: { ANTHROPIC_API_KEY: 'k', LLM_BASE_URL: provider.address },
      openai: { OPENAI_API_KEY: 'k', LLM_BASE_URL: provider.address },
      google: { GEMINI_API_KEY: 'k', LLM_BASE_URL: provider.address },
      local: { LOCAL_LLM_BASE_URL: provider.address },
    }[name] as never;
    if (model) env['LLM_MODEL'] = model;
    const calls: unknown[] = [];
    const m = createLanguageModel(parseConfig(env), {
      onCall: (c) => calls.push(c),
      now: Date.now,
      pause: async () => {},
      random: () => 0.5,
    });
    const value = await m!.complete({
      name: 'extraction',
      instructions: 'inst',
      input: 'inp',
      schema,
      requestId: 'r',
      signal: new AbortController().signal,
    });
    expect(value).toEqual(good);
    await provider.close();
  });
});
