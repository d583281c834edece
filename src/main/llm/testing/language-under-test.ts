/** For tests: the whole service over HTTP, with a scripted provider of language models behind it. */
import { onTestFinished } from 'vitest';
import type { Environment } from '../../base/config.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../../testing/service-under-test.ts';
import {
  type AskedRequest,
  type Reply,
  type ScriptedProvider,
  startScriptedProvider,
} from './scripted-provider.ts';

export interface LanguageUnderTest {
  readonly service: ServiceUnderTest;
  readonly provider: ScriptedProvider;
  /** The data given to the model, question by question. */
  inputs(): Record<string, unknown>[];
}

export async function startLanguageUnderTest(
  replies: readonly [Reply, ...Reply[]] | ((request: AskedRequest) => Reply),
  environment: Environment = {},
): Promise<LanguageUnderTest> {
  const provider = await startScriptedProvider({ replies });
  const service = await startServiceUnderTest({
    LOCAL_LLM_BASE_URL: provider.address,
    LLM_MODEL: 'scripted',
    EXTRACTION_ENABLED: 'true',
    ...environment,
  });
  onTestFinished(async () => {
    await service.close();
    await provider.close();
  });
  const inputs = (): Record<string, unknown>[] =>
    provider.asked.map(({ input }) => JSON.parse(input) as Record<string, unknown>);
  return { service, provider, inputs };
}

/** A fact as a model proposes it. */
export function proposal(predicate: string, args: unknown[], quote: string, more: object = {}): object {
  return { predicate, args, negated: false, confidence: 0.9, quote, ...more };
}

/** A model's answer to a request for facts. */
export function found(facts: object[], rules: string[] = []): Reply {
  return { json: { facts, rules } };
}
