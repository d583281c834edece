/** What the address of the Agents view says: the part that is shown, the filters of the log, what is open in it. */
import { type AgentProgram, agentPrograms } from '../../../engine/contract/agent-setup.ts';
import type { CallFilter } from './call-log.ts';

export const agentParts = ['calls', 'clients', 'connect', 'try'] as const;
export type AgentPart = (typeof agentParts)[number];

export interface AgentsSearch {
  /** Absent: the log of calls. */
  part?: AgentPart | undefined;
  /** Filters of the log: the name of a client, of a tool, how calls ended, a text in them. */
  client?: string | undefined;
  tool?: string | undefined;
  outcome?: 'ok' | 'error' | undefined;
  q?: string | undefined;
  /** Id of the call that is open beside the log. */
  call?: string | undefined;
  /** The program that is configured; absent: the first. */
  program?: AgentProgram | undefined;
  /** The tool that is tried; absent: the first. */
  trying?: string | undefined;
  /** Id of the call whose arguments the form takes up. */
  from?: string | undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function oneOf<Value extends string>(values: readonly Value[], value: unknown): Value | undefined {
  return values.find((known) => known === value);
}

/** Reads search parameters; what is not understood is dropped. */
export function agentsSearchOf(search: Record<string, unknown>): AgentsSearch {
  const found: AgentsSearch = {
    part: oneOf(agentParts, search['part']),
    client: text(search['client']),
    tool: text(search['tool']),
    outcome: oneOf(['ok', 'error'] as const, search['outcome']),
    q: text(search['q']),
    call: text(search['call']),
    program: oneOf(agentPrograms, search['program']),
    trying: text(search['trying']),
    from: text(search['from']),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

/** The filter of the log that the address says. */
export function filterOf({ client, tool, outcome, q }: AgentsSearch): CallFilter {
  return { client: client ?? null, tool: tool ?? null, outcome: outcome ?? null, text: q ?? '' };
}

/** Takes every filter of the log away. */
export const noFilter = { client: undefined, tool: undefined, outcome: undefined, q: undefined } as const;
