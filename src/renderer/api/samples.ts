/** The sample knowledge bases that ship with the service, as static files beside the workbench. */
import type { StoredRule } from '../../engine/contract/rules.ts';
import { fetchJson, newRequestId } from './client.ts';

export interface SampleEntry {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly file: string;
}

export interface Sample {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** Facts as POST /assert/facts takes them. */
  readonly facts: readonly unknown[];
  readonly rules: readonly (Pick<StoredRule, 'text'> & Partial<Pick<StoredRule, 'name' | 'description'>>)[];
  /** Questions worth asking, in the grammar. */
  readonly questions: readonly string[];
}

/** The samples there are. */
export async function listSamples(signal?: AbortSignal): Promise<SampleEntry[]> {
  const init = signal === undefined ? {} : { signal };
  return (await fetchJson('/samples/index.json', init, newRequestId())) as SampleEntry[];
}

export async function readSample(entry: SampleEntry): Promise<Sample> {
  return (await fetchJson(`/samples/${encodeURIComponent(entry.file)}`, {}, newRequestId())) as Sample;
}
