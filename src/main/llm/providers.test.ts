import { describe, expect, it } from 'vitest';
import { parseConfig } from '../base/config.ts';
import { configuredProvider } from './providers.ts';
import { good, startModelUnderTest } from './testing/model-under-test.ts';

describe('of several providers', () => {
  const all = {
    LOCAL_LLM_BASE_URL: 'http://127.0.0.1:11434',
    LLM_PROVIDER_A_API_KEY: 'a',
    LLM_PROVIDER_B_API_KEY: 'b',
    LLM_PROVIDER_C_API_KEY: 'c',
  };

  it('the local one is chosen first, then A, B and C', () => {
    const order = ['local', 'anthropic', 'openai', 'google'];
    const entries = Object.entries(all);
    for (const [index, name] of order.entries()) {
      const environment = Object.fromEntries(entries.slice(index));
      expect(configuredProvider(parseConfig(environment))?.name).toBe(name);
    }
    expect(configuredProvider(parseConfig({ LLM_BASE_URL: 'http://a.example', LLM_MODEL: 'm' }))).toBeNull();
  });

  it('each has its default address and model', () => {
    const usual = ([name, value]: [string, string]) => {
      const provider = configuredProvider(parseConfig({ [name]: value }));
      return [provider?.address, provider?.model];
    };
    expect(Object.entries(all).map(usual)).toEqual([
      ['http://127.0.0.1:11434/v1', null],
      ['https://api.anthropic.com/v1', 'claude-haiku-4-5'],
      ['https://api.openai.com/v1', 'gpt-4.1-mini'],
      ['https://generativelanguage.googleapis.com/v1beta', 'gemini-flash-latest'],
    ]);
  });
});

describe('the address of a provider', () => {
  it.each([
    ['local', '', '/v1/chat/completions'],
    ['local', '/', '/v1/chat/completions'],
    ['local', '/v1', '/v1/chat/completions'],
    ['local', '/v1/', '/v1/chat/completions'],
    ['local', '/proxy/llm', '/proxy/llm/chat/completions'],
    ['openai', '', '/v1/chat/completions'],
    ['openai', '/api/v2', '/api/v2/chat/completions'],
    ['anthropic', '', '/v1/messages'],
    ['anthropic', '/anthropic/v1/', '/anthropic/v1/messages'],
    ['google', '', '/v1beta/models/m:generateContent'],
    ['google', '/google', '/google/models/m:generateContent'],
  ] as const)('of %s that ends in "%s" is called at %s', async (name, path, asked) => {
    const first = await startModelUnderTest(name, { replies: [{ json: good }] });
    try {
      const variable = name === 'local' ? 'LOCAL_LLM_BASE_URL' : 'LLM_BASE_URL';
      const environment = { [variable]: first.provider.address + path, LLM_MODEL: 'm' };
      const { ask, provider } = await startModelUnderTest(name, { replies: [{ json: good }] }, environment);
      await provider.close();
      expect(await ask()).toEqual(good);
      expect(first.provider.paths).toEqual([asked]);
    } finally {
      await first.provider.close();
    }
  });
});
