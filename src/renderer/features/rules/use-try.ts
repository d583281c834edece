/** Trial of the editor's text, shortly after each change while its panel is open; nothing is stored. */
import { useDebouncedValue } from '@mantine/hooks';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useSession } from '../../api/session.tsx';
import { type Run, useRun } from '../../api/use-run.ts';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';
import { ruleTrialRequestOf, type RuleTrialResult, triedOf, type RuleTrial } from './trying.ts';

const openKey = 'corollary.rules.try';
const pauseMs = 500;

/** Returns whether the panel is open, and the setter; survives a restart. */
export function useTryIsOpen(): [boolean, (isOpen: boolean) => void] {
  const [isOpen, setIsOpen] = useState(() =>
    readStoredState(openKey, (value) => (typeof value === 'boolean' ? value : null), false),
  );
  const set = useCallback((next: boolean) => {
    writeStored(openKey, next);
    setIsOpen(next);
  }, []);
  return [isOpen, set];
}

/** A running or finished trial. */
export interface Trying extends Run<RuleTrialResult> {
  /** False if the text contains nothing to try. */
  readonly isReady: boolean;
  again(): void;
}

/** Runs the trial. `hasErrors`: the checker rejects the text, so it is not sent. */
export function useTry({ text, scope, instead }: RuleTrial, hasErrors: boolean): Trying {
  const { call } = useSession();
  const scopeText = JSON.stringify(scope);
  const run = useRun<RuleTrialResult>();
  const { start, clear } = run;
  const wanted = useMemo(() => {
    const trial = { text, scope: JSON.parse(scopeText) as RuleTrial['scope'], instead };
    const request = hasErrors ? null : ruleTrialRequestOf(trial);
    return request === null ? null : JSON.stringify(request);
  }, [text, scopeText, instead, hasErrors]);
  const [settled] = useDebouncedValue(wanted, pauseMs);
  const again = useCallback(() => {
    if (settled === null) return;
    const body = JSON.parse(settled) as NonNullable<ReturnType<typeof ruleTrialRequestOf>>;
    start(async (signal) => triedOf(await call('whatIf', { body }, { signal })));
  }, [call, settled, start]);
  useEffect(() => {
    if (settled === null) clear();
    else again();
  }, [again, clear, settled]);
  return { ...run, isReady: wanted !== null, again };
}
