/**
 * A process with little memory: asks an explosive question again and again, each time with one that is small after it, and
 * prints what each is answered.
 */
import { systemClock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import type { Caller } from '../base/caller.ts';
import { systemOrigin } from '../base/origin.ts';
import { factInputSchema } from '../contract/facts.ts';
import { askInputSchema } from '../contract/inference.ts';
import { ruleInputSchema } from '../contract/rules.ts';
import { openEngine } from '../open-engine.ts';

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
  requestId: 'request',
  origin: systemOrigin,
  signal: new AbortController().signal,
};

const engine = await openEngine({ storageDir: null, clock: systemClock, memoryBudgetBytes: 96 * 2 ** 20 });
const edges = Array.from({ length: 3000 }, (_, at) => [`n${at}`, `n${(at * 7) % 3000}`]);
await engine.tellAll(
  caller,
  edges.map((args) => factInputSchema.parse({ predicate: 'e', args })),
);
for (const text of [
  'all(?a, ?b, ?c, ?d) :- e(?a, ?b), e(?c, ?d), ?a != ?d',
  'n(?x) :- e(?x, n0)',
  'count(0) :- e(n0, n0)',
  'count(?y) :- count(?x), ?y = ?x + 1',
])
  await engine.teach(caller, ruleInputSchema.parse({ text }));

async function answer(text: string): Promise<string> {
  try {
    const input = askInputSchema.parse({ text, timeoutMs: 600_000, maxDerivations: 1_000_000_000 });
    return `${(await engine.ask(caller, input)).count} answers`;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return `${error.status} ${String(error.members['limit'])}`;
  }
}

for (const text of ['all(?a, ?b, ?c, ?d)', 'count(?x)', 'e(?a, ?b), e(?c, ?d), ?a != ?d', 'n(?x)'])
  process.stdout.write(`${await answer(text)}\n`);
await engine.close();
