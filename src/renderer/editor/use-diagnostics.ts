/** Live diagnostics of a text, from a worker shared by all editors. */
import { useEffect, useState } from 'react';
import type { Diagnostic } from '../../engine/contract/rules.ts';
import DiagnoseWorker from './diagnose.worker.ts?worker';
import type { CheckedAgainst, DiagnoseAnswer, DiagnoseRequest } from '../../editing/diagnose-text.ts';
import { type Knowledge, useKnowledge } from './knowledge.ts';
import type { TextMode } from '../../editing/read-text.ts';

/** Delay after the last keystroke, in milliseconds. */
const pauseMs = 30;

let worker: Worker | null = null;
let lastId = 0;
/** The knowledge last sent to the worker; most texts are checked against the same. */
let told: Knowledge | null = null;
const waiting = new Map<number, (diagnostics: readonly Diagnostic[]) => void>();

function startWorker(): Worker {
  const started = new DiagnoseWorker();
  started.onmessage = (event: MessageEvent<DiagnoseAnswer>) => {
    waiting.get(event.data.id)?.(event.data.diagnostics);
    waiting.delete(event.data.id);
  };
  return started;
}

function checkedAgainst({ predicates, rules }: Knowledge): CheckedAgainst {
  return {
    predicates: predicates.map(({ name, arity, declaration }) => ({
      name,
      arity,
      names: declaration?.arguments.map((argument) => argument.name) ?? null,
    })),
    rules: rules.map(({ id, head, body, scope }) => ({ id, rule: { head, body }, scope })),
  };
}

function tell(message: DiagnoseRequest): void {
  worker ??= startWorker();
  worker.postMessage(message);
}

function request(
  { text, mode, instead }: Pick<Extract<DiagnoseRequest, { kind: 'text' }>, 'text' | 'mode' | 'instead'>,
  knowledge: Knowledge,
  onAnswer: (diagnostics: readonly Diagnostic[]) => void,
): () => void {
  if (told?.predicates !== knowledge.predicates || told.rules !== knowledge.rules) {
    tell({ kind: 'knowledge', knowledge: checkedAgainst(knowledge) });
    told = knowledge;
  }
  lastId += 1;
  const id = lastId;
  waiting.set(id, onAnswer);
  tell({ kind: 'text', id, text, mode, instead });
  return () => waiting.delete(id);
}

/** Diagnostics of a text. */
export interface Diagnosed {
  readonly diagnostics: readonly Diagnostic[];
  /** The text they belong to. */
  readonly of: string;
}

const none: Diagnosed = { diagnostics: [], of: '' };

/**
 * Returns the diagnostics of the text; those of the previous text until the new ones arrive. `instead` is the id of
 * the stored rule that the text would replace.
 */
export function useDiagnostics(text: string, mode: TextMode, instead: string | null = null): Diagnosed {
  const knowledge = useKnowledge();
  const [diagnosed, setDiagnosed] = useState(none);
  useEffect(() => {
    let stop: () => void = () => undefined;
    const timer = setTimeout(() => {
      stop = request({ text, mode, instead }, knowledge, (diagnostics) =>
        setDiagnosed({ diagnostics, of: text }),
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [text, mode, instead, knowledge]);
  return diagnosed;
}
