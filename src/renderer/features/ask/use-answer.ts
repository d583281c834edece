/**
 * Asking one question at a time, with a cancel that says when it has cancelled.
 *
 * A new question ends the one that runs. While one runs, the answer before stays, so that nothing flickers. An
 * answer is not asked for again behind one's back unless it is quick and the owner says so.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import { renderAtom } from '../../../engine/logic/print.ts';
import { noteGeneration } from '../../api/live.ts';
import { type Failure, failureOf, isCancelled } from '../../api/problem.ts';
import { noteAsked } from '../../api/questions.ts';
import { type Session, useSession } from '../../api/session.tsx';
import { scopeFieldsOf } from '../../api/space.ts';
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

export interface AskState {
  readonly runningSince: number | null;
  readonly answer: ShownAnswer | null;
  readonly failure: Failure | null;
  /** Milliseconds after which the last question was cancelled. */
  readonly cancelledAfter: number | null;
}

const idle: AskState = { runningSince: null, answer: null, failure: null, cancelledAfter: null };

function wrong(title: string, detail: string): Failure {
  return { code: 'ValidationException', status: null, title, detail, requestId: '', errors: [] };
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
  readonly state: AskState;
  ask(text: string, isStoredOnly: boolean, limit: number): void;
  cancel(): void;
}

export function useAnswer(): Asking {
  const session = useSession();
  const [state, setState] = useState<AskState>(idle);
  const running = useRef<{ controller: AbortController; since: number } | null>(null);
  useEffect(() => () => running.current?.controller.abort(), []);

  const ask = useCallback(
    (text: string, isStoredOnly: boolean, limit: number) => {
      running.current?.controller.abort();
      running.current = null;
      const read = readQuestion(text);
      if (!read.ok) {
        setState({ ...idle, failure: wrong('The question cannot be read', read.message) });
        return;
      }
      const { question } = read;
      if (isStoredOnly && question.atom === null) {
        const detail =
          'Stored facts are looked up by one atom, such as parent(alice, ?child). Ask with inference for conjunctions, comparisons and negation.';
        setState({ ...idle, failure: wrong('More than one atom', detail) });
        return;
      }
      const controller = new AbortController();
      const mine = { controller, since: performance.now() };
      running.current = mine;
      setState((before) => ({ ...before, runningSince: mine.since, cancelledAfter: null }));
      const asked = (isStoredOnly ? askStored : askInferred)(session, question, limit, controller.signal);
      asked.then(
        (answer) => {
          if (running.current !== mine) return;
          running.current = null;
          noteAsked(session.space, question.text, answer.results.length);
          setState({ ...idle, answer });
        },
        (error: unknown) => {
          if (running.current !== mine) return;
          running.current = null;
          if (isCancelled(error)) setState({ ...idle, cancelledAfter: performance.now() - mine.since });
          else setState({ ...idle, failure: failureOf(error) });
        },
      );
    },
    [session],
  );

  const cancel = useCallback(() => running.current?.controller.abort(), []);
  return { state, ask, cancel };
}
