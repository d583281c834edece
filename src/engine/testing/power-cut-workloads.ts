/**
 * The operations of an engine before the power cut: one run for each kind of write, and one of all. Each begins with an
 * empty engine, and waits for every answer through the run, which records it.
 */
import { updateKeySchema } from '../contract/authentication.ts';
import { forgetEntitySchema } from '../contract/history.ts';
import { forkInputSchema, mergeInputSchema } from '../contract/scopes.ts';
import type { FsyncMode } from '../log/log.ts';
import { day, factInput, type Fields, retractInput, ruleInput } from './engine-fixtures.ts';
import { consolidateIn, decayIn, restoreIn, summaryId } from './memory-calls.ts';
import type { RecordedRun } from './recorded-run.ts';

export interface Workload {
  readonly name: string;
  readonly fsync: FsyncMode;
  /** Of the folder; null: its files are not encrypted. */
  readonly key: string | null;
  readonly run: (run: RecordedRun) => Promise<void>;
}

const year = 366 * day;

function fact(text: string, fields: Fields = {}) {
  return { ...factInput(text, fields), ifGeneration: null };
}

async function tells(run: RecordedRun): Promise<void> {
  const { tell, forget } = run.session();
  for (let index = 0; index < 4; index++) {
    run.clock.advance(1000);
    await run.answered(tell(`p(${run.prng.below(3)}, x)`, { metadata: { index } }));
    await run.answered(tell(`-p(${index}, "${'long '.repeat(run.prng.below(150))}")`));
  }
  await run.answered(forget('p(0, x)'));
  await run.answered(tell('p(0, x)', { ttl: day, scope: 's' }));
}

async function batches(run: RecordedRun): Promise<void> {
  const { tellAll, forgetPattern } = run.session();
  for (let batch = 0; batch < 3; batch++) {
    const count = 2 + run.prng.below(30);
    await run.answered(tellAll(Array.from({ length: count }, (_, row) => `batch(${batch}, ${row})`)));
  }
  await run.answered(forgetPattern('batch(1, ?row)'));
  await run.answered(tellAll(['batch(1, 0)', '-batch(1, 1)', 'batch(2, 0)']));
}

async function rules(run: RecordedRun): Promise<void> {
  const { teach, changeRule, tell, engine, caller } = run.session();
  await run.answered(tell('edge(a, b)'));
  const { id } = await run.answered(teach('reach(?x, ?y) :- edge(?x, ?y)', { name: 'one' }));
  await run.answered(teach('reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z)'));
  await run.answered(teach('own(?x) :- edge(?x, ?_), not end(?x)', { scope: 's', enabled: false }));
  await run.answered(changeRule(id, { enabled: false, description: 'é' }));
  await run.refusedOrDone(teach('end(?x) :- edge(?x, ?_), not end(?x)'));
  await run.answered(engine.forgetRule(caller, id));
  await run.answered(teach('reach(?x, ?y) :- edge(?x, ?y)'));
}

async function transactions(run: RecordedRun): Promise<void> {
  const { tellAll, engine, caller } = run.session();
  await run.answered(tellAll(['p(a)', 'p(b)']));
  for (let round = 0; round < 3; round++) {
    const { id } = await engine.begin(caller);
    const within = engine.within({ ...caller, transaction: id });
    await within.forget(retractInput(round === 0 ? 'p(a)' : 'p(b)'));
    await within.tellAll(Array.from({ length: 4 + run.prng.below(9) }, (_, row) => factInput(`q(${row})`)));
    await within.teach(ruleInput({ text: `r${round}(?x) :- q(?x)` }));
    await within.tell(fact(`done(${round})`));
    if (round === 1) await run.answered(engine.rollback(caller, id));
    else await run.answered(engine.commit(caller, id, false));
  }
}

async function erasures(run: RecordedRun): Promise<void> {
  const { tell, tellAll, forget, engine, caller } = run.session();
  await run.answered(tellAll(['knows(a, secret)', 'knows(b, c)', 'secret(secret)']));
  await run.answered(engine.snapshot());
  await run.answered(forget('secret(secret)'));
  await run.answered(tell('knows(secret, b)', { scope: 's' }));
  const { tenant } = caller;
  const input = forgetEntitySchema.parse({ tenant, entity: 'secret' });
  await run.answered(engine.forgetEntity(caller, input));
  await run.answered(tell('knows(c, d)'));
  await run.answered(run.session({ tenant: 'gone' }).tell('p(a)'));
  await run.answered(engine.nukeTenant(caller, 'default', 'gone'));
  await run.answered(engine.snapshot());
}

async function scopes(run: RecordedRun): Promise<void> {
  const { tell, tellAll, teach, forget, engine, caller } = run.session();
  await run.answered(tellAll(['p(a)', 'p(b)'], { scope: 'base' }));
  await run.answered(teach('q(?x) :- p(?x)', { scope: 'base' }));
  await run.answered(engine.fork(caller, forkInputSchema.parse({ source: 'base', target: 'copy' })));
  await run.answered(tell('p(c)', { scope: 'copy' }));
  await run.answered(forget('p(a)', { scope: 'copy' }));
  await run.answered(tell('-p(b)', { scope: 'base' }));
  const strategy = run.prng.pick(['SOURCE_WINS', 'TARGET_WINS', 'KEEP_BOTH'] as const);
  const merge = mergeInputSchema.parse({ source: 'copy', target: 'base', strategy });
  await run.answered(engine.merge(caller, merge));
  await run.answered(engine.deleteScope(caller, 'copy'));
}

async function memory(run: RecordedRun): Promise<void> {
  const session = run.session();
  const visits = (who: string): string[] =>
    ['2024-01-01', '2024-01-02', '2024-01-03'].map((date) => `visited(${who}, ${date})`);
  await run.answered(session.tellAll([...visits('ann'), 'short(a)'], { ttl: year * 3 }));
  await run.answered(session.tell('gone(a)', { ttl: 5 }));
  await run.answered(consolidateIn(session));
  run.clock.advance(1000);
  await run.answered(restoreIn(session, await summaryId(session, 'visited_summary')));
  await run.answered(consolidateIn(session));
  run.clock.advance(year);
  await run.answered(session.tell('new(a)'));
  await run.answered(decayIn(session));
}

async function databases(run: RecordedRun): Promise<void> {
  const { engine, caller } = run.session();
  const other = run.session({ database: 'other', tenant: 't' });
  for (let round = 0; round < 2; round++) {
    await run.answered(engine.createDatabase(caller, 'other'));
    await run.answered(other.tellAll(['p(a)', 'p(b)']));
    await run.answered(other.teach('q(?x) :- p(?x)'));
    await run.answered(engine.createTenant(caller, 'other', 'second'));
    await run.answered(other.as({ tenant: 'second' }).tell('p(c)'));
    if (round === 0) await run.answered(engine.nukeTenant(caller, 'other', 't'));
    else await run.answered(engine.nukeDatabase(caller, 'other'));
    await run.answered(engine.deleteTenant(caller, 'other', 'second'));
    await run.answered(engine.deleteDatabase(caller, 'other'));
  }
  await run.answered(run.session().tell('p(a)'));
}

export async function keysAndOutcomes(run: RecordedRun): Promise<void> {
  const { engine, caller } = run.session();
  const keys = { databases: [], tenants: ['t'], description: null } as const;
  const create = (at: number) => {
    const key = { ...keys, prefix: `cor_${at}`, hash: `${at}`.padStart(64, '0'), role: 'writer' } as const;
    return run.answered(engine.keys.create(caller, key, at === 0 ? null : day));
  };
  const first = await create(0);
  await run.once((to, by) => to.tell(by, fact('p(a)')));
  await run.once((to, by) => to.tell(by, fact('p(a)')));
  const second = await create(1);
  await run.answered(
    engine.keys.update(caller, second.id, updateKeySchema.parse({ tenants: [], expiresAt: 'never' })),
  );
  await run.once((to, by) => to.tellAll(by, [factInput('p(b)'), factInput('p(c)')]));
  await run.answered(engine.keys.revoke(caller, first.id));
  await run.once((to, by) => to.teach(by, ruleInput({ text: 'q(?x) :- p(?x)' })));
  await run.once((to, by) => to.fork(by, forkInputSchema.parse({ source: null, target: 'all' })), {
    credential: second.id,
  });
  await run.once((to, by) => to.createTenant(by, 'default', 'second'));
}

/** Facts of many concurrent writers, which share frames. */
async function manyWriters(run: RecordedRun, writers = 6, each = 3): Promise<void> {
  const { tell, tellAll } = run.session();
  const write = async (writer: number): Promise<void> => {
    for (let index = 0; index < each; index++) {
      const text = `w${writer}(${index}, ${run.prng.below(2)})`;
      if (index === 1) await run.answered(tellAll([text, `-${text}`]));
      else await run.answered(tell(text));
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
}

async function snapshots(run: RecordedRun): Promise<void> {
  await tells(run);
  for (let round = 0; round < 2; round++) {
    const { tell, ask } = run.session();
    const taken = run.answered(run.engine.snapshot());
    await Promise.all([taken, manyWriters(run, 2, 2)]);
    await run.answered(tell(`between(${round})`));
    await ask('between(?x)');
    if (round === 0) await run.start();
  }
  await run.answered(run.engine.snapshot());
  await run.start();
  await run.answered(run.session().tell('after(a)'));
}

/** A full disk: for some writes in a row, for the first bytes of a segment, and for a snapshot. */
async function diskFull(run: RecordedRun): Promise<void> {
  const { tell } = run.session();
  await run.answered(tell('p(a)'));
  for (const written of [0, 40, run.prng.below(200)]) {
    run.disk.faults = (step, bytes) =>
      step === 'write' ? { code: 'ENOSPC', written: Math.min(written, bytes - 1) } : null;
    for (let index = 0; index < 2; index++) await run.refusedOrDone(tell(`refused(${index})`));
    await run.refusedOrDone(run.engine.snapshot());
    run.disk.faults = () => null;
    await run.answered(tell(`p("${'x'.repeat(run.prng.below(1500))}")`));
  }
  run.disk.faults = (step) => (step === 'rename' ? { code: 'ENOSPC' } : null);
  await run.refusedOrDone(run.engine.snapshot());
  run.disk.faults = () => null;
  await run.answered(run.engine.snapshot());
  await run.answered(tell('last(a)'));
}

const parts = [tells, batches, rules, transactions, scopes, memory, databases, erasures, keysAndOutcomes];

/** The operations of the other runs, several of them in sequence, with starts and snapshots between. */
export async function mixed(run: RecordedRun): Promise<void> {
  const left = [...parts];
  for (let count = 0; count < 3; count++) {
    const [part] = left.splice(run.prng.below(left.length), 1);
    await part?.(run);
    if (run.prng.chance(0.4)) await run.answered(run.engine.snapshot());
    if (run.prng.chance(0.4)) await run.start();
  }
}

/** Files are synced late or never: single writes, many at once, a pause, and a snapshot between. */
async function lazily(run: RecordedRun): Promise<void> {
  const { tell } = run.session();
  await run.answered(tell('p(a)'));
  await manyWriters(run, 3, 2);
  await run.rest();
  for (const letter of 'abcd') await run.answered(tell(`q(${letter})`));
  // Some concurrent writes are in the snapshot but in no file that was synced.
  const taken = run.answered(run.engine.snapshot());
  await Promise.all([taken, manyWriters(run, 3, 3)]);
  await run.answered(tell('p(b)'));
  await manyWriters(run, 2, 2);
  await run.start();
  await run.answered(run.session().tell('p(c)'));
}

const folderKey = 'ab'.repeat(32);

const isLong = process.env['LONG'] === '1';

/** An encrypted folder differs only in its files: frames, those that replaced others, and snapshots. */
const encrypted = isLong ? [diskFull, snapshots, mixed] : [diskFull];

export const workloads: readonly Workload[] = [
  ...[...parts, manyWriters, snapshots, diskFull, mixed].map((run) => workload(run, 'always', null)),
  ...encrypted.map((run) => workload(run, 'always', folderKey)),
  workload(lazily, 'interval', null),
  ...(isLong ? [workload(lazily, 'interval', folderKey)] : []),
  workload(lazily, 'never', null),
];

function workload(
  run: (recorded: RecordedRun) => Promise<void>,
  fsync: FsyncMode,
  key: string | null,
): Workload {
  return { name: run.name, fsync, key, run };
}
