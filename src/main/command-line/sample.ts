/** Loading a sample knowledge base into a running service, through the API like anyone. */
import type { FactsOutcome } from '../../engine/contract/facts.ts';
import type { RuleOutcome } from '../../engine/contract/rules.ts';
import type { Sample, SampleEntry } from '../../engine/contract/samples.ts';
import { UsageError } from './arguments.ts';
import type { Client } from './client.ts';

/** Lines that name and describe the samples the service ships. */
export async function listSamples(client: Client): Promise<string[]> {
  const samples = await entries(client);
  return samples.flatMap(({ id, title, description }) => [`${id}  ${title}`, `    ${description}`]);
}

/** Loads the sample and answers lines that say what was stored and what to ask. */
export async function loadSample(client: Client, name: string, scope: string | null): Promise<string[]> {
  const samples = await entries(client);
  const entry = samples.find(({ id }) => id === name);
  if (entry === undefined)
    throw new UsageError(`there is no sample "${name}"; there are ${samples.map(({ id }) => id).join(', ')}`);
  const { facts, rules, questions } = (await client.get(`/samples/${entry.file}`)) as Sample;
  const within = (item: object): object => (scope === null ? item : { ...item, scope });
  const stored = (await client.post('/assert/facts', { facts: facts.map(within) })) as FactsOutcome;
  let taught = 0;
  for (const rule of rules) {
    const outcome = (await client.post('/teach', within(rule))) as RuleOutcome;
    if (outcome.status === 'asserted') taught++;
  }
  return [
    `${entry.title}: ${stored.asserted} facts and ${taught} rules are new, of ${facts.length} and ${rules.length}.`,
    'Ask, for example:',
    ...questions.map((question) => `  ${question}`),
  ];
}

async function entries(client: Client): Promise<readonly SampleEntry[]> {
  return (await client.get('/samples/index.json')) as readonly SampleEntry[];
}
