import { unaskedOf } from '../../api/question-search.ts';

/** The forms in which answers are shown, in the order in which they are offered. */
export const answerForms = ['table', 'text', 'json', 'graph', 'chart', 'pivot'] as const;
export type AnswerForm = (typeof answerForms)[number];

/** Reads a form; null for anything else. */
export function answerFormOf(value: unknown): AnswerForm | null {
  return answerForms.find((form) => form === value) ?? null;
}

/** The search parameters of the Ask view: the answered question, and what is open beside it. */
export interface AskSearch {
  /** The tab; `newTab` asks for an empty one. An unknown id opens in a suitable tab. */
  tab?: string | undefined;
  question?: string | undefined;
  /** The question is filled in and waits to be asked: see `UnaskedSearch`. */
  unasked?: 'true' | undefined;
  /** The question is read as plain words, even where it could be a goal. */
  words?: 'true' | undefined;
  /** Stored facts only, without inference. */
  stored?: 'true' | undefined;
  /** The sort of the answers as `answer-order.ts` writes it; absent: unsorted. */
  sort?: string | undefined;
  /** The form of the answers; absent: the user's habit. */
  as?: AnswerForm | undefined;
  /** The settings of a graph, chart or pivot table, as `answer-forms.ts` writes them. */
  axes?: string | undefined;
  /** The rendered answer whose proof is open. */
  why?: string | undefined;
  /** The expected but missing answer whose explanation is open. */
  whyNot?: string | undefined;
  /** The trace is open. */
  trace?: 'true' | undefined;
  /** The plan is open. */
  plan?: 'true' | undefined;
}

/** What asking opens beside the answers. */
export type AskBeside = Pick<AskSearch, 'trace' | 'plan'>;

/** The `tab` parameter that opens an empty tab. */
export const newTab = 'new';

/** Closes everything beside the answers. */
export const nothingBeside = {
  why: undefined,
  whyNot: undefined,
  trace: undefined,
  plan: undefined,
} as const;

/** Reads search parameters; drops those it does not understand. */
export function askSearchOf(search: Record<string, unknown>): AskSearch {
  const { tab, question, words, stored, sort, axes, why, whyNot, trace, plan } = search;
  const form = answerFormOf(search['as']);
  return {
    ...(typeof tab === 'string' && /^[a-z0-9]{1,16}$/.test(tab) ? { tab } : {}),
    ...(typeof question === 'string' && question !== '' ? { question } : {}),
    ...unaskedOf(search),
    ...(words === 'true' ? { words: 'true' } : {}),
    ...(stored === 'true' ? { stored: 'true' } : {}),
    ...(typeof sort === 'string' && sort !== '' ? { sort } : {}),
    ...(form === null ? {} : { as: form }),
    ...(typeof axes === 'string' && axes !== '' ? { axes } : {}),
    ...(typeof why === 'string' && why !== '' ? { why } : {}),
    ...(typeof whyNot === 'string' && whyNot !== '' ? { whyNot } : {}),
    ...(trace === 'true' ? { trace: 'true' } : {}),
    ...(plan === 'true' ? { plan: 'true' } : {}),
  };
}
