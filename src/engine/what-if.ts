import type { BrowseContext } from './browse.ts';
import type { WhatIfInput, WhatIfResult } from './contract/explanation.ts';

export async function whatIf(_context: BrowseContext, _input: WhatIfInput): Promise<WhatIfResult> {
  throw new Error('to be written');
}
