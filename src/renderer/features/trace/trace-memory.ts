/** The state of the trace view, kept in this window over a reload, for the last question. */
import { useState } from 'react';
import { tracePorts } from '../../../engine/contract/explanation.ts';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';
import { allEvents, type EventFilter } from './trace-rows.ts';

/** Parts of the view. */
export const traceParts = ['rules', 'subgoals', 'events'] as const;
/** A part of the view. */
export type TracePart = (typeof traceParts)[number];

/** Shown part, filter and event. */
export interface Looking {
  readonly part: TracePart;
  readonly filter: EventFilter;
  /** Number of the shown event; null: the first. */
  readonly seq: number | null;
}

interface Remembered {
  readonly question: string;
  readonly looking: Looking;
}

const storageKey = 'corollary.trace';
const atFirst: Looking = { part: 'rules', filter: allEvents, seq: null };

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function readFilter(value: unknown): EventFilter {
  if (typeof value !== 'object' || value === null) return allEvents;
  const { ruleId, predicate, port } = value as Record<string, unknown>;
  return {
    ruleId: textOrNull(ruleId),
    predicate: textOrNull(predicate),
    port: tracePorts.find((known) => known === port) ?? null,
  };
}

/** Returns a stored state; null if invalid. */
export function readRemembered(value: unknown): Remembered | null {
  if (typeof value !== 'object' || value === null) return null;
  const { question, looking } = value as Record<string, unknown>;
  if (typeof question !== 'string' || typeof looking !== 'object' || looking === null) return null;
  const { part, filter, seq } = looking as Record<string, unknown>;
  return {
    question,
    looking: {
      part: traceParts.find((known) => known === part) ?? 'rules',
      filter: readFilter(filter),
      seq: typeof seq === 'number' ? seq : null,
    },
  };
}

/** Returns the state for a question, and its setter. */
export function useLooking(question: string): [Looking, (next: Looking) => void] {
  const [state, setState] = useState<Remembered>(() => {
    const last = readStoredState(storageKey, readRemembered, { question, looking: atFirst }, sessionStorage);
    return last.question === question ? last : { question, looking: atFirst };
  });
  const looking = state.question === question ? state.looking : atFirst;
  function look(next: Looking): void {
    const remembered = { question, looking: next };
    writeStored(storageKey, remembered, sessionStorage);
    setState(remembered);
  }
  return [looking, look];
}
