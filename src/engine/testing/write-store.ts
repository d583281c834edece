/**
 * A process that tells facts `wrote(NAME, N)` to a database of a store (arguments: its URL, NAME, and the database, which it
 * creates; default: `default`) with eight writers until it is killed or another node has the log. It prints `open` once it has the log, and for each fact, by the outcome: `+N` stored, `-N` refused, `?N`
 * unknown.
 */
import { systemClock } from '../base/clock.ts';
import { systemOrigin } from '../base/origin.ts';
import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import { factSchema } from '../contract/facts.ts';
import { openEngine } from '../open-engine.ts';

const [, , storeUrl = '', name = '', database = 'default'] = process.argv;
const caller: Caller = {
  credential: null,
  role: 'admin',
  databases: [],
  tenants: [],
  database,
  tenant: 'tenant',
  client: null,
  transaction: null,
  idempotency: null,
  requestId: 'writer',
  origin: systemOrigin,
  signal: new AbortController().signal,
};
const engine = await openEngine({
  storageDir: null,
  storeUrl,
  clock: systemClock,
});
const isOwner = (): boolean => engine.node(database)?.role === 'owner';
if (!engine.hasDatabase(database)) await engine.createDatabase(caller, database);
while (!isOwner()) await new Promise((resolve) => setTimeout(resolve, 20));
process.stdout.write('open\n');
let next = 0;
const outcomeOf = (error: unknown): string => {
  if (error instanceof EngineError && error.code === 'NoOwner') return '-';
  if (error instanceof EngineError && error.code === 'OutcomeUnknown') return '?';
  throw error;
};
const write = async (): Promise<void> => {
  while (isOwner()) {
    const number = next++;
    const fact = factSchema.parse({ predicate: 'wrote', args: [name, number] });
    const outcome = await engine.tellAll(caller, [fact]).then(() => '+', outcomeOf);
    process.stdout.write(`${outcome}${number}\n`);
    if (outcome !== '+') await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
await Promise.all(Array.from({ length: 8 }, write));
process.stdout.write('lost\n');
process.exit(1);
