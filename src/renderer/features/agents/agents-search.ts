/** The search parameters of the Agents view: the part shown, the filters of the log, and the selection. */
import type { AgentProgram } from '../../../engine/contract/agent-setup.ts';
import type { CallFilter } from './call-log.ts';

/** The parts of the view, in order. */
export const agentParts = ['calls', 'clients', 'connect', 'try'] as const;
export type AgentPart = (typeof agentParts)[number];

/** What the address of the Agents view contains. */
export interface AgentsSearch {
  /** Absent: the log of calls. */
  part?: AgentPart | undefined;
  /** Filters of the log: client name, tool name, outcome, and text anywhere in the call. */
  client?: string | undefined;
  tool?: string | undefined;
  outcome?: 'ok' | 'error' | undefined;
  q?: string | undefined;
  /** `time` shows the calls of one session along the time, `answers` the answers that rested on what the client told. */
  as?: 'time' | 'answers' | undefined;
  /** Id of the first call of the session shown along the time; absent: the newest session. */
  session?: string | undefined;
  /** Id of the call shown beside the log. */
  call?: string | undefined;
  /** The program being configured; absent: the first. */
  program?: AgentProgram | undefined;
  /** The tool being tried; absent: the first. */
  trying?: string | undefined;
  /** Id of the call whose arguments fill the form. */
  from?: string | undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function oneOf<Value extends string>(values: readonly Value[], value: unknown): Value | undefined {
  return values.find((known) => known === value);
}

/** The programs by name alone: what the view knows of each is fetched with it. */
const programs: Readonly<Record<AgentProgram, true>> = {
  'claude-desktop': true,
  'claude-code': true,
  cursor: true,
  'vs-code': true,
  codex: true,
  'other-http': true,
  'other-stdio': true,
};

function programOf(value: unknown): AgentProgram | undefined {
  return typeof value === 'string' && Object.hasOwn(programs, value) ? (value as AgentProgram) : undefined;
}

/** Reads search parameters; drops those it does not understand. */
export function agentsSearchOf(search: Record<string, unknown>): AgentsSearch {
  const found: AgentsSearch = {
    part: oneOf(agentParts, search['part']),
    client: text(search['client']),
    tool: text(search['tool']),
    outcome: oneOf(['ok', 'error'] as const, search['outcome']),
    q: text(search['q']),
    as: oneOf(['time', 'answers'] as const, search['as']),
    session: text(search['session']),
    call: text(search['call']),
    program: programOf(search['program']),
    trying: text(search['trying']),
    from: text(search['from']),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

/** The log filter in the address. */
export function filterOf({ client, tool, outcome, q }: AgentsSearch): CallFilter {
  return { client: client ?? null, tool: tool ?? null, outcome: outcome ?? null, text: q ?? '' };
}

/** Removes every filter of the log. */
export const noFilter = { client: undefined, tool: undefined, outcome: undefined, q: undefined } as const;
