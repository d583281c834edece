import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { serving } from '../base/serving.ts';
import { Slices } from '../base/slices.ts';
import { TokenCounter } from '../base/token-counter.ts';
import { TokenTable } from '../base/token-table.ts';

const published = 'gpt-tokenizer/data/o200k_base.tiktoken';

/** The token counter of this thread. Its table, a file of the package, is read in slices when it is first needed. */
export const shippedTokens = new TokenCounter(async () => {
  const slices = new Slices(serving.pauseOf(null, 'token table'));
  const file = await readFile(createRequire(import.meta.url).resolve(published));
  return TokenTable.read(file, () => slices.breathe());
});
