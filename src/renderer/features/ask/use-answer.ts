/**
 * Asking one question at a time, with a cancel that says when it has cancelled.
 *
 * A new question ends the one that runs. While one runs, the answer before stays, so that nothing flickers. An
 * answer is not asked for again behind one's back unless it is quick and the owner says so.
 */
import { useCallback } from 'react';
import { renderAtom } from '../../../engine/logic/print.ts';
import { noteGeneration } from '../../api/live.ts';
import { refusedQuestion } from '../../api/question-text.ts';
import { noteAsked } from '../../api/questions.ts';
import { type Session, useSession } from '../../api/session.tsx';
import { scopeFieldsOf } from '../../api/space.ts';
import { type RunState, useRun } from '../../api/use-run.ts';
import { bindingsOf, type Question, readQuestion } from './question.ts';

export interface ShownAnswer {
  readonly question: Question;
  readonly isStoredOnly: boolean;
  readonly results: readonly string[];
  readonly bindings: readonly Readonly<Record<string, string>>[];
  readonly truncated: boolean;
  /** null for stored facts, whose answer does not carry it. */
  readonly generation: number | null;
  /** Milliseconds: the service's own for inference, there and back for stored facts. */
  readonly elapsedMs: number;
}

async function askStored(
  { call, space }: Session,
  question: Question,
  limit: number,
  signal: AbortSignal,
): Promise<ShownAnswer> {
  const { atom } = question;
  if (atom === null) throw new Error('a question of stored facts is one atom');
  const since = performance.now();
  const facts = await call(
    'query',
    {
      body: {
        predicate: atom.predicate,
        args: atom.args,
        truthVal: !atom.negated,
        ...scopeFieldsOf(space.scope),
        // One more than is shown tells whether there is more.
        limit: Math.min(100_000, limit + 1),
      },
    },
    { signal },
  );
  const shown = facts.slice(0, limit);
  return {
    question,
    isStoredOnly: true,
    results: shown.map((fact) =>
      renderAtom({ predicate: fact.predicate, args: fact.args, negated: !fact.truthVal }),
    ),
    bindings: shown.map((fact) => bindingsOf(atom, fact.args)),
    truncated: facts.length > limit,
    generation: null,
    elapsedMs: performance.now() - since,
  };
}

async function askInferred(
  { call, space }: Session,
  question: Question,
  limit: number,
  signal: AbortSignal,
): Promise<ShownAnswer> {
  const body = { text: question.text, ...scopeFieldsOf(space.scope), limit, timeoutMs: 60_000 };
  const { results, bindings, truncated, generation, elapsedMs } = await call('ask', { body }, { signal });
  noteGeneration(generation);
  return { question, isStoredOnly: false, results, bindings, truncated, generation, elapsedMs };
}

export interface Asking {
  readonly state: RunState<ShownAnswer>;
  ask(text: string, isStoredOnly: boolean, limit: number): void;
  cancel(): void;
}

/** The question in the text; throws the failure to show where it is none that can be sent. */
function questionOf(text: string, isStoredOnly: boolean): Question {
  const read = readQuestion(text);
  if (!read.ok) throw refusedQuestion('The question cannot be read', read.message);
  if (isStoredOnly && read.question.atom === null)
    throw refusedQuestion(
      'More than one atom',
      'Stored facts are looked up by one atom, such as parent(alice, ?child). Ask with inference for conjunctions, comparisons and negation.',
    );
  return read.question;
}

export function useAnswer(): Asking {
  const session = useSession();
  const { state, start, cancel } = useRun<ShownAnswer>();
  const ask = useCallback(
    (text: string, isStoredOnly: boolean, limit: number) =>
      start(async (signal) => {
        const question = questionOf(text, isStoredOnly);
        const answer = await (isStoredOnly ? askStored : askInferred)(session, question, limit, signal);
        if (!signal.aborted) noteAsked(session.space, question.text, answer.results.length);
        return answer;
      }),
    [session, start],
  );
  return { state, ask, cancel };
}
