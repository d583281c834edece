/** Group commit over a store that cannot tell at once whether it stored a frame. */
import { expect, test } from 'vitest';
import { doubtfulLog } from '../testing/doubtful-log.ts';
import { refusal } from '../testing/engine-fixtures.ts';
import { logRecord } from '../testing/log-fixtures.ts';

test.each([true, false])(
  'while a frame is in doubt all else is refused; then its appends get its outcome (stored: %s)',
  async (isStored) => {
    const { log, fail, answer } = await doubtfulLog();
    await log.append([logRecord(1)]);
    fail(isStored);
    const doubts: unknown[] = [];
    let committed = 0;
    const inDoubt = log.append([logRecord(2)], () => void committed++, {
      doubted: (error) => void doubts.push(error.code),
    });
    const outcome = inDoubt.then(
      () => 'stored',
      (error: { code: string }) => error.code,
    );
    await expect.poll(() => doubts).toEqual(['OutcomeUnknown']);
    expect(log.status()).toBe('failed');
    expect((await refusal(log.append([logRecord(3)]))).code).toBe('NoOwner');
    expect((await refusal(log.room())).code).toBe('NoOwner');
    expect(committed).toBe(0);
    // What is stored may be shown elsewhere: no strong read may be answered without it.
    const confirmed = log.confirm().then(() => committed);
    answer();
    expect(await confirmed).toBe(isStored ? 1 : 0);
    expect(await outcome).toBe(isStored ? 'stored' : 'NoOwner');
    expect([committed, log.lastSequence, log.nextSequence]).toEqual(isStored ? [1, 2, 3] : [0, 1, 2]);
    await log.room();
    await log.append([logRecord(log.nextSequence)]);
    expect(log.status()).toBe('ready');
  },
);
