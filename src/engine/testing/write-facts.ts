/**
 * A process that tells facts to the engine of a folder (argument 1) until it is killed: batches of five, numbered after
 * the existing ones. It prints the number of every acknowledged batch, in order.
 */
import type { Caller } from '../base/caller.ts';
import { systemOrigin } from '../base/origin.ts';
import { factSchema, listFactsQuerySchema } from '../contract/facts.ts';
import { openEngine } from '../open-engine.ts';

const [, , folder = ''] = process.argv;
const caller: Caller = {
  credential: null,
  role: 'admin',
  databases: [],
  tenants: [],
  database: 'default',
  tenant: 'tenant',
  client: null,
  transaction: null,
  idempotency: null,
  requestId: 'writer',
  origin: systemOrigin,
  signal: new AbortController().signal,
};
const engine = await openEngine({ storageDir: folder });
const { total } = await engine.facts(caller, listFactsQuerySchema.parse({ limit: '1' }));
let next = total / 5;
let printed = next;
const answered = new Set<number>();
const write = async (): Promise<void> => {
  for (;;) {
    const batch = next++;
    const facts = [0, 1, 2, 3, 4].map((part) =>
      factSchema.parse({ predicate: 'written', args: [batch, part] }),
    );
    await engine.tellAll(caller, facts);
    answered.add(batch);
    for (; answered.delete(printed); printed++) process.stdout.write(`${printed}\n`);
  }
};
await Promise.all(Array.from({ length: 8 }, write));
