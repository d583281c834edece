/** The sample knowledge bases that ship with the service, as static files beside the workbench. */
import type { Sample, SampleEntry } from '../../engine/contract/samples.ts';
import { fetchJson } from './client.ts';

/** The samples there are. */
export async function fetchSamples(signal?: AbortSignal): Promise<SampleEntry[]> {
  const options = signal === undefined ? {} : { signal };
  return (await fetchJson('/samples/index.json', options)) as SampleEntry[];
}

export async function readSample(entry: SampleEntry): Promise<Sample> {
  return (await fetchJson(`/samples/${encodeURIComponent(entry.file)}`)) as Sample;
}
