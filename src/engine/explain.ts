import type { BrowseContext } from './browse.ts';
import type { ExplainInput, Explanation } from './contract/explanation.ts';

export async function explain(_context: BrowseContext, _input: ExplainInput): Promise<Explanation> {
  throw new Error('to be written');
}
