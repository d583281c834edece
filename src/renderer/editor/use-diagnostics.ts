/** Live diagnostics of a text, from a worker that all editors share. */
import { useEffect, useMemo, useState } from 'react';
import type { Diagnostic } from '../../engine/contract/rules.ts';
import DiagnoseWorker from './diagnose.worker.ts?worker';
import type { CheckedAgainst, DiagnoseAnswer, DiagnoseRequest, TextMode } from './diagnose-text.ts';
import { type Knowledge, useKnowledge } from './knowledge.ts';

/** How long after the last key the text is looked at, in milliseconds. */
const pauseMs = 150;

let worker: Worker | null = null;
let lastId = 0;
const waiting = new Map<number, (diagnostics: readonly Diagnostic[]) => void>();

function startWorker(): Worker {
  const started = new DiagnoseWorker();
  started.onmessage = (event: MessageEvent<DiagnoseAnswer>) => {
    waiting.get(event.data.id)?.(event.data.diagnostics);
    waiting.delete(event.data.id);
  };
  return started;
}

function request(
  text: string,
  mode: TextMode,
  knowledge: CheckedAgainst,
  onAnswer: (diagnostics: readonly Diagnostic[]) => void,
): () => void {
  worker ??= startWorker();
  lastId += 1;
  const id = lastId;
  waiting.set(id, onAnswer);
  const message: DiagnoseRequest = { id, text, mode, knowledge };
  worker.postMessage(message);
  return () => waiting.delete(id);
}

function checkedAgainst({ predicates, rules }: Knowledge): CheckedAgainst {
  return {
    predicates: predicates.map(({ name, arity }) => ({ name, arity })),
    rules: rules.map(({ head, body, scope }) => ({ rule: { head, body }, scope })),
  };
}

const none: readonly Diagnostic[] = [];

/** What is wrong with the text now; the answer for the text before until the new one is there. */
export function useDiagnostics(text: string, mode: TextMode): readonly Diagnostic[] {
  const known = useKnowledge();
  const knowledge = useMemo(() => checkedAgainst(known), [known]);
  const [diagnostics, setDiagnostics] = useState(none);
  useEffect(() => {
    let stop: () => void = () => undefined;
    const timer = setTimeout(() => {
      stop = request(text, mode, knowledge, setDiagnostics);
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [text, mode, knowledge]);
  return diagnostics;
}
