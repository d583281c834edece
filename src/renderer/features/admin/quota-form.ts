/** The quota of a database or tenant as a form of texts, one field for each limit. */
import {
  noQuota,
  type Quota,
  type QuotaName,
  quotaNames,
  type QuotaState,
} from '../../../engine/contract/quotas.ts';
import { formatCount } from '../../ui/format.ts';

/** What is limited: a database, or one of its tenants. */
export interface QuotaTarget {
  readonly database: string;
  /** null: all tenants of the database together. */
  readonly tenant: string | null;
}

/** The texts of the fields; empty: no limit. */
export type QuotaTexts = Readonly<Record<QuotaName, string>>;

/** How the fields are labelled, and what they limit. */
export const quotaLabels: Readonly<Record<QuotaName, { readonly label: string; readonly hint: string }>> = {
  facts: { label: 'Facts', hint: 'Stored facts, in all scopes' },
  bytes: { label: 'Bytes', hint: 'UTF-8 bytes of the facts and their metadata' },
  runningQuestions: { label: 'Questions at once', hint: 'More are refused until one has ended' },
  questionsPerMinute: { label: 'Questions a minute', hint: 'More are refused until the next minute' },
  openTransactions: { label: 'Open transactions', hint: 'More are refused until one has ended' },
};

/** The texts of a quota. */
export function quotaTextsOf(quota: Quota): QuotaTexts {
  return mapped((name) => (quota[name] === null ? '' : String(quota[name])));
}

/** The quota of the texts, or the problem of each field that is no limit. */
export function readQuota(
  texts: QuotaTexts,
): { readonly quota: Quota } | { readonly problems: Partial<Record<QuotaName, string>> } {
  const problems: Partial<Record<QuotaName, string>> = {};
  const quota: Record<QuotaName, number | null> = { ...noQuota };
  for (const name of quotaNames) {
    const text = texts[name].trim();
    if (text === '') continue;
    if (/^\d{1,15}$/.test(text)) quota[name] = Number(text);
    else problems[name] = 'a whole number, or nothing for no limit';
  }
  return Object.keys(problems).length > 0 ? { problems } : { quota };
}

/** What is in use of a limit, in words. */
export function inUse({ use }: QuotaState, name: QuotaName): string {
  return `${formatCount(use[name])} in use`;
}

function mapped(textOf: (name: QuotaName) => string): QuotaTexts {
  const texts: Record<QuotaName, string> = {
    facts: '',
    bytes: '',
    runningQuestions: '',
    questionsPerMinute: '',
    openTransactions: '',
  };
  for (const name of quotaNames) texts[name] = textOf(name);
  return texts;
}
