/**
 * The contents of the folders in `stored-folders/`: this same sequence of operations wrote them, in the version that
 * made the format final, and every later version opens them. They are never rewritten; a version that changes the
 * format adds its own.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ManualClock } from '../base/clock.ts';
import type { Engine } from '../operations/engine.ts';
import { openEngine } from '../open-engine.ts';
import { factInput, retractInput, ruleInput, startTime, testCaller } from './engine-fixtures.ts';

/** Of the encrypted one. */
export const storedFolderKey = '00112233445566778899aabbccddeeff'.repeat(2);

/** The write with an idempotency key, which can be repeated. */
export const storedFolderIdempotency = { key: 'once', fingerprint: 'print', space: 'space' };

/**
 * Writes the folder's contents: a part that a snapshot covers, and a part after it; the engine ends without a snapshot.
 */
export async function playStoredFolder(storageDir: string, encryptionKey: string | null): Promise<void> {
  const clock = new ManualClock(startTime);
  const engine = await openEngine({ storageDir, encryptionKey, clock });
  const caller = testCaller({ requestId: 'stored' });
  const tell = (text: string, fields = {}, as = caller) =>
    engine.tell(as, { ...factInput(text, fields), ifGeneration: null });
  await tell('parent(alice, bob)', { metadata: { source: 'the register' } });
  await tell('parent(bob, "Zoë 🌍")', { validUntil: startTime + 86_400_000 * 36_500 });
  await tell('-parent(carol, bob)', { scope: 'plan' });
  await engine.teach(caller, ruleInput({ text: 'ancestor(?x, ?y) :- parent(?x, ?y).', name: 'base' }));
  await tell('gone(fact)');
  await engine.forget(caller, retractInput('gone(fact)'));
  await engine.keys.create(
    caller,
    {
      prefix: 'cor_1234',
      hash: 'ab'.repeat(32),
      role: 'reader',
      databases: [],
      tenants: ['tenant'],
      description: 'kept',
    },
    null,
  );
  await engine.createDatabase(caller, 'second');
  await tell('other(database)', {}, testCaller({ database: 'second', tenant: 'another' }));
  await engine.snapshot();
  clock.advance(1000);
  await tell('parent(dora, emil)', {}, { ...caller, idempotency: storedFolderIdempotency });
  await engine.teach(caller, ruleInput({ text: 'ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z).' }));
  await engine.forget(caller, retractInput('parent(bob, "Zoë 🌍")'));
  await tell('parent(bob, fred)');
  await engine.close(0);
}

/** Everything that an engine reports of such a folder after opening it, except what is created anew each time. */
export async function toldOfStoredFolder(engine: Engine): Promise<unknown> {
  const caller = testCaller();
  const second = testCaller({ database: 'second', tenant: 'another' });
  const { listFactsQuerySchema } = await import('../contract/facts.ts');
  const all = listFactsQuerySchema.parse({});
  const repeated = await engine.tell(
    { ...caller, idempotency: storedFolderIdempotency },
    { ...factInput('parent(dora, emil)'), ifGeneration: null },
  );
  const facts = [...(await engine.facts(caller, all)).facts, ...(await engine.facts(second, all)).facts];
  const rules = await engine.rules(caller);
  return {
    facts: facts.map(({ id, predicate, args, truthVal, scope, validUntil, metadata, createdAt }) => ({
      id,
      predicate,
      args,
      truthVal,
      scope,
      validUntil,
      metadata,
      createdAt,
    })),
    rules: rules.map(({ id, text, name }) => ({ id, text, name })),
    keys: engine.keys.withPrefix('cor_1234').map(({ role, tenants, hash }) => ({ role, tenants, hash })),
    databases: (await engine.databases(caller)).databases.map(({ name, facts: count }) => ({ name, count })),
    repeated,
    position: engine.storageState().position,
    // The next generation, and so the next id, is the one after those written.
    next: await engine.tell(caller, { ...factInput('next(fact)'), ifGeneration: null }),
  };
}

/** The files of a stored folder. */
export async function storedFolderFiles(name: 'plain' | 'encrypted'): Promise<Map<string, Uint8Array>> {
  const folder = join(import.meta.dirname, 'stored-folders', name);
  const files = new Map<string, Uint8Array>();
  for (const file of await readdir(folder))
    files.set(file, new Uint8Array(await readFile(join(folder, file))));
  return files;
}
