/**
 * A process that tells facts to the engine of a folder (argument 1), one after the other, until one is refused. It
 * prints the outcome as one line of JSON. If the folder contains a file `filler`, it is then removed, and the process
 * tries for five seconds whether writes work again.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EngineError } from '../base/errors.ts';
import { listFactsQuerySchema } from '../contract/facts.ts';
import { openEngine } from '../open-engine.ts';
import { factInput, testCaller } from './engine-fixtures.ts';

const [, , folder = ''] = process.argv;
const caller = testCaller();
const engine = await openEngine({ storageDir: folder });
const tell = (number: number): Promise<unknown> =>
  engine.tell(caller, { ...factInput(`told(${number}, "${'x'.repeat(200)}")`), ifGeneration: null });
let answered = 0;
let refused: { code: string; message: string } | null = null;
while (refused === null && answered < 5000)
  try {
    await tell(answered);
    answered++;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    refused = { code: error.code, message: error.message };
  }
const readable = (await engine.facts(caller, listFactsQuerySchema.parse({ limit: '1' }))).total;
const filler = join(folder, 'filler');
let isReady = false;
if (existsSync(filler)) {
  rmSync(filler);
  for (let tries = 0; tries < 50 && !isReady; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    isReady = engine.storage() === 'ready';
  }
}
const isWritable = await tell(answered).then(
  () => true,
  () => false,
);
await engine.close(0);
const again = await openEngine({ storageDir: folder });
const { total: found } = await again.facts(caller, listFactsQuerySchema.parse({ limit: '1' }));
await again.close(0);
process.stdout.write(`${JSON.stringify({ answered, refused, readable, isReady, isWritable, found })}\n`);
