import { describe, expect, it } from 'vitest';
import { noQuota } from '../../../engine/contract/quotas.ts';
import { quotaTextsOf, readQuota, inUse } from './quota-form.ts';

describe('the form of a quota', () => {
  it('shows every limit as text and reads it back', () => {
    const quota = { ...noQuota, facts: 100_000, runningQuestions: 0 };
    const texts = quotaTextsOf(quota);
    expect(texts).toMatchObject({ facts: '100000', bytes: '', runningQuestions: '0' });
    expect(readQuota(texts)).toEqual({ quota });
  });

  it('names each field that is no limit', () => {
    const texts = { ...quotaTextsOf(noQuota), facts: ' 12 ', bytes: '1.5', openTransactions: '-1' };
    expect(readQuota(texts)).toEqual({
      problems: {
        bytes: 'a whole number, or nothing for no limit',
        openTransactions: 'a whole number, or nothing for no limit',
      },
    });
  });

  it('says what is in use', () => {
    const use = { facts: 1200, bytes: 5, runningQuestions: 0, questionsPerMinute: 0, openTransactions: 0 };
    expect(inUse({ quota: noQuota, use }, 'facts')).toBe('1,200 in use');
  });
});
