/**
 * For tests: a service on which every operation of the table can be called, with a language model behind it.
 *
 * Authentication is on and open for the bootstrap, `API_KEY` is the admin; the model's answers depend on the requested
 * kind and repeat words of the question, as models do.
 */
import type { Surroundings } from '../../testing/calls-under-test.ts';
import { type AskedRequest, type Reply, startScriptedProvider } from './scripted-provider.ts';
import type { Environment } from '../../base/config.ts';
import { startServiceUnderTest } from '../../testing/service-under-test.ts';

export interface EverythingUnderTest extends Surroundings {
  /** Words that are secret: keys and passwords. */
  readonly secrets: readonly string[];
  close(): Promise<void>;
}

/** `stem`: the prefix of every word and every secret: letters and digits. */
export async function startEverythingUnderTest(
  stem: string,
  environment: Environment = {},
): Promise<EverythingUnderTest> {
  const provider = await startScriptedProvider({ replies: answerOf });
  const [apiKey, password, llmKey] = [`${stem}-api-key-0`, `${stem}-password-0`, `${stem}-llm-key-0`];
  const service = await startServiceUnderTest({
    AUTH_ENABLED: 'true',
    API_KEY: apiKey,
    SERVICE_ADMIN_PASS: password,
    LLM_PROVIDER_B_API_KEY: llmKey,
    LLM_BASE_URL: provider.address,
    EXTRACTION_ENABLED: 'true',
    ...environment,
  });
  let words = 0;
  return {
    service,
    headers: { 'x-api-key': apiKey },
    word: () => `${stem}${++words}`,
    admin: { username: 'admin', password },
    secrets: [apiKey, password, llmKey],
    close: async () => {
      await service.close();
      await provider.close();
    },
  };
}

function answerOf({ input, schema }: AskedRequest): Reply {
  const asksFor = JSON.stringify(schema);
  if (asksFor.includes('"queries"')) return { json: { queries: [] } };
  if (asksFor.includes('"answer"')) return { json: { answer: 'so it is' } };
  const [, word = 'nobody'] = /(\w+) was here/.exec(input) ?? [];
  const fact = { predicate: `${word}_seen`, args: [word], negated: false, confidence: 0.5 };
  return { json: { facts: [{ ...fact, quote: `${word} was here` }], rules: [] } };
}
