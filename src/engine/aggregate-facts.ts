import type { BrowseContext } from './browse.ts';
import type { AggregateInput, AggregateResult } from './contract/explanation.ts';

export async function aggregateFacts(
  _context: BrowseContext,
  _input: AggregateInput,
): Promise<AggregateResult> {
  throw new Error('to be written');
}
