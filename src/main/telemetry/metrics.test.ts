import { expect, it } from 'vitest';
import { serving } from '../../engine/index.ts';
import { createMetrics, type MetricSources } from './metrics.ts';

const nothingYet: MetricSources = {
  counters: () => null,
  figures: () => null,
  traffic: () => null,
  node: () => null,
  passedOn: () => null,
  replication: () => null,
  scheduler: serving,
  isStorageReady: () => true,
  uptimeMs: () => 0,
};

it('counts calls of language models and their tokens by provider', async () => {
  const metrics = createMetrics(nothingYet, []);
  metrics.llmCallDone('openai', 1500, 30);
  metrics.llmCallDone('openai', 500, 0);
  const text = await metrics.text();
  expect(text).toContain('service_llm_call_duration_seconds_sum{provider="openai"} 2\n');
  expect(text).toContain('service_llm_call_duration_seconds_count{provider="openai"} 2\n');
  expect(text).toContain('service_llm_tokens_used{provider="openai"} 30\n');
  expect(text).toContain('service_llm_tokens_used{provider="google"} 0\n');
});
