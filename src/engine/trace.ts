import type { BrowseContext } from './browse.ts';
import type { TraceInput, Trace } from './contract/explanation.ts';

export async function trace(_context: BrowseContext, _input: TraceInput): Promise<Trace> {
  throw new Error('to be written');
}
