/** Selects the window of the address again whenever it changes; cancels the previous run. */
import { useCallback, useEffect, useMemo } from 'react';
import type { ContextWindow } from '../../../engine/contract/context.ts';
import { noteGeneration } from '../../api/live.ts';
import { useSession } from '../../api/session.tsx';
import { type Run, useRun } from '../../api/use-run.ts';
import { type WindowFields, windowFieldsOf } from './context-search.ts';
import { inspecting, readForm, type WindowRequest } from './read-form.ts';

/** A window with the request that selected it. */
export interface ChosenWindow {
  readonly window: ContextWindow;
  /** As an agent would send it. */
  readonly request: WindowRequest;
  readonly fields: WindowFields;
  readonly elapsedMs: number;
}

/** The window of the address, and its progress. */
export function useWindow(search: WindowFields): Run<ChosenWindow> & { again(): void } {
  const { call, space } = useSession();
  const { scope } = space;
  const run = useRun<ChosenWindow>();
  const { start, clear } = run;
  // The session only stores windows: it does not change the selection.
  const key = JSON.stringify({ ...windowFieldsOf({ ...search }), session: undefined });
  const fields = useMemo(() => windowFieldsOf(JSON.parse(key) as Record<string, unknown>), [key]);
  const again = useCallback(() => {
    const { request } = readForm(fields, scope);
    if (request === null) {
      clear();
      return;
    }
    start(async (signal) => {
      const since = performance.now();
      const window = await call('optimizeContext', { body: inspecting(request) }, { signal });
      noteGeneration(window.knowledgeGeneration);
      return { window, request, fields, elapsedMs: performance.now() - since };
    });
  }, [call, scope, start, clear, fields]);
  useEffect(() => again(), [again]);
  return { ...run, again };
}
