/**
 * Failures in the conformance suite, and why each is intended. The list is exact: a test fails when one of these begins
 * to pass, and when anything else fails. docs/mcp.md has it for readers.
 */
import type { Revision } from './conformance-run.ts';

const noTasks =
  'the extension "tasks" is not offered: no operation runs for so long that it is left and come back to';
const noMirrors = 'no tool has an argument that is repeated in a header, so that there is nothing to check';
const noResuming =
  'a stream that is cut is not resumed: a client that goes away ends its call, and nothing is kept for it';

/** Scenarios that fail. The revision requires none of them. */
export const failing: Readonly<Record<Revision, Readonly<Record<string, string>>>> = {
  '2025-11-25': {},
  '2026-07-28': {
    'tasks-lifecycle': noTasks,
    'tasks-capability-negotiation': noTasks,
    'tasks-wire-fields': noTasks,
    'tasks-request-state-removal': noTasks,
    'tasks-mrtr-input': noTasks,
    'tasks-request-headers': noTasks,
    'tasks-dispatch-and-envelope': noTasks,
    'tasks-required-task-error': noTasks,
    'tasks-mrtr-composition': noTasks,
    'http-custom-header-server-validation': noMirrors,
  },
};

/** Checks that warn: recommended but not required. */
export const warning: Readonly<Record<Revision, Readonly<Record<string, string>>>> = {
  '2025-11-25': {
    'server-sse-priming-event': noResuming,
    'server-sse-retry-field': noResuming,
  },
  '2026-07-28': {},
};
