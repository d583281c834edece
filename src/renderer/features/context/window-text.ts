/** A window as it is copied: what an agent gets that asks by the same request, and nothing that only the inspector has. */
import type { ContextWindow } from '../../../engine/contract/context.ts';
import type { WindowRequest } from './read-form.ts';
import { atomOf } from './window-rows.ts';

/** The answer as JSON. What was left out is no part of it: it is listed only where that is asked for. */
export function windowAsJson(window: ContextWindow): string {
  const { omitted: _omitted, omittedComplete: _omittedComplete, ...answer } = window;
  return JSON.stringify(answer, null, 2);
}

/** The facts, one a line, in order; then, after an empty line, the rules. Each is a statement of the language. */
export function windowAsText({ entries, relevantRules }: ContextWindow): string {
  const facts = entries.map((entry) => `${atomOf(entry)}.`);
  const rules = relevantRules.map((rule) => `${rule}.`);
  return [...facts, ...(facts.length > 0 && rules.length > 0 ? [''] : []), ...rules].join('\n');
}

/** The body of POST /context/optimize that gives the window. `session`: where it is to be kept. */
export function requestAsJson(request: WindowRequest, session: string | undefined): string {
  return JSON.stringify(session === undefined ? request : { ...request, sessionId: session }, null, 2);
}
