import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import type { Operation } from '../state/operation.ts';
import { OpenTransactions } from './open-transactions.ts';
import { newDraft, type Report } from '../state/report.ts';
import { DatabaseState } from '../state/state.ts';
import { refusal, startTime, testCaller } from '../testing/engine-fixtures.ts';
import { logRecord } from '../testing/log-fixtures.ts';

function open(limits: { ended?: number; bytes?: number; bytesOfTenant?: number } = {}): OpenTransactions {
  let ids = 0;
  const transactions = new OpenTransactions(new ManualClock(startTime), () => `id-${++ids}`, limits);
  onTestFinished(() => transactions.close());
  return transactions;
}

/** Reports an operation as `apply` does. */
function apply(transactions: OpenTransactions, database: string, operation: Operation): void {
  const draft = newDraft(new DatabaseState(database, 0, 7), null);
  const report: Report = { ...draft, outcome: { kind: 'committed', operations: 0, generation: 7 } };
  transactions.applied(logRecord(1, operation), report);
}

async function codeOf(transactions: OpenTransactions, id: string, changes: object = {}): Promise<string> {
  const wanted = Promise.resolve().then(() => transactions.require(testCaller(changes), id));
  return (await refusal(wanted)).code;
}

test.each<Operation>([
  { kind: 'nukeTenant', tenant: 'tenant' },
  { kind: 'deleteTenant', tenant: 'tenant' },
])('rolls back the transactions of a tenant that is nuked or deleted: %j', async (operation) => {
  const transactions = open();
  const { id } = transactions.begin(testCaller(), 3);
  const other = transactions.begin(testCaller({ tenant: 'other' }), 3);
  const elsewhere = transactions.begin(testCaller({ database: 'elsewhere' }), 3);
  apply(transactions, 'default', operation);
  expect(await codeOf(transactions, id)).toBe('Conflict');
  expect(transactions.require(testCaller({ tenant: 'other' }), other.id).status).toBe('open');
  expect(transactions.require(testCaller({ database: 'elsewhere' }), elsewhere.id).status).toBe('open');
});

test('rolls back all transactions of a database that is nuked', async () => {
  const transactions = open();
  const { id } = transactions.begin(testCaller({ tenant: 'other' }), 3);
  apply(transactions, 'default', { kind: 'nukeDatabase' });
  expect(await codeOf(transactions, id, { tenant: 'other' })).toBe('Conflict');
});

test('removes the transactions of a deleted database, ended ones too', async () => {
  const transactions = open();
  const { id } = transactions.begin(testCaller(), 3);
  const ended = transactions.begin(testCaller(), 3);
  transactions.end(ended, 'committed');
  apply(transactions, 'default', { kind: 'deleteDatabase' });
  expect(await codeOf(transactions, id)).toBe('TransactionNotFound');
  expect(await codeOf(transactions, ended.id)).toBe('TransactionNotFound');
});

test('remembers what died since the oldest open transaction of the tenant began', () => {
  const transactions = open();
  expect(transactions.rememberedSince('default', 'tenant')).toBe(Number.POSITIVE_INFINITY);
  const first = transactions.begin(testCaller(), 3);
  const second = transactions.begin(testCaller(), 5);
  expect(transactions.rememberedSince('default', 'tenant')).toBe(3);
  transactions.end(first, 'rolled_back');
  expect(transactions.rememberedSince('default', 'tenant')).toBe(5);
  expect(transactions.rememberedSince('default', 'other')).toBe(Number.POSITIVE_INFINITY);
  transactions.end(second, 'committed');
  expect(transactions.rememberedSince('default', 'tenant')).toBe(Number.POSITIVE_INFINITY);
});

test('remembers the latest ended transactions only', async () => {
  const transactions = open({ ended: 100 });
  const first = transactions.begin(testCaller(), 0);
  transactions.end(first, 'committed');
  expect(await codeOf(transactions, first.id)).toBe('Conflict');
  for (let count = 0; count < 100; count++)
    transactions.end(transactions.begin(testCaller(), 0), 'rolled_back');
  expect(await codeOf(transactions, first.id)).toBe('TransactionNotFound');
  expect(await codeOf(transactions, 'id-101')).toBe('Conflict');
});

test('reserves room for the open transactions of other tenants', async () => {
  const transactions = open({ bytes: 100_000, bytesOfTenant: 50_000 });
  const mine = transactions.begin(testCaller(), 0);
  const fact = { predicate: 'p', args: ['x'.repeat(20_000)], truthVal: true, scope: null };
  transactions.writing(mine, () => mine.writes.add({ kind: 'assert', fact }, 0));
  const more = (): void => transactions.refuseMore(testCaller(), 40_000);
  expect((await refusal(Promise.resolve().then(more))).message).toMatch(/of the tenant/);
  transactions.refuseMore({ ...testCaller(), tenant: 'other' }, 40_000);
  transactions.end(mine, 'rolled_back');
  more();
});

test('limits all open transactions together, and keeps a refused one open', async () => {
  const transactions = open({ bytes: 100_000 });
  const text = 'x'.repeat(11_000);
  const fact = { predicate: 'p', args: [text], truthVal: true, scope: null };
  const held = Array.from({ length: 8 }, () => transactions.begin(testCaller(), 0));
  for (const each of held) {
    transactions.refuseMore(testCaller(), text.length);
    transactions.writing(each, () => each.writes.add({ kind: 'assert', fact }, 0));
  }
  const refused = await refusal(
    Promise.resolve().then(() => transactions.refuseMore(testCaller(), text.length)),
  );
  expect([refused.status, refused.members['retryAfterSeconds']]).toEqual([429, 5]);
  transactions.end(held[0] as (typeof held)[0], 'rolled_back');
  transactions.refuseMore(testCaller(), text.length);
});
