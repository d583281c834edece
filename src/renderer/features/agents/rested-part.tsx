/** Which past answers rested on what an agent told, looked for when asked to. */
import { Button } from '@mantine/core';
import { IconBulb, IconUserSearch } from '@tabler/icons-react';
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import type { Proof } from '../../../engine/contract/inference.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useSession, type WorkbenchSession } from '../../api/session.tsx';
import { useRun } from '../../api/use-run.ts';
import { CodeText } from '../../editor/code-text.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatAmount, formatTime } from '../../ui/format.ts';
import { ListGrid } from '../../ui/list-grid.tsx';
import { EmptyState, PaneProblem, Running } from '../../ui/notices.tsx';
import type { AgentsSearch } from './agents-search.ts';
import { momentOfCall, replayOf } from './ask-replay.ts';
import { clientNameOf, type LoadedCallLog } from './call-log.ts';
import { findRested, MAX_ASKED, type Rested, type RestedAnswer } from './rested.ts';

const columns: readonly Column<RestedAnswer>[] = [
  {
    id: 'time',
    title: 'Time',
    width: 192,
    cell: ({ call }) => <span className="number">{formatTime(call.time)}</span>,
  },
  { id: 'by', title: 'Asked by', width: 120, most: 200, cell: ({ call }) => clientNameOf(call) },
  {
    id: 'question',
    title: 'Question',
    width: 180,
    most: 360,
    cell: ({ question }) => <CodeText isLine text={question} />,
  },
  {
    id: 'on',
    title: 'Rested on',
    width: 240,
    most: 720,
    cell: ({ on }) => (
      <span title={on.join('\n')}>
        <CodeText isLine text={on[0] ?? ''} />
        {on.length > 1 && <span className="dim"> and {on.length - 1} more</span>}
      </span>
    ),
  },
];

/** Statuses of a question that cannot be answered then: malformed now, beyond a limit, or no longer known. */
const refusals: ReadonlySet<number> = new Set([400, 404, 408, 409, 410, 422, 504]);

/** The proofs of a question as they were when it was asked; null if the service refuses, as for what was forgotten. */
async function proofThen(
  { call }: WorkbenchSession,
  record: ToolCallRecord,
  signal: AbortSignal,
): Promise<Proof | null> {
  const replay = replayOf(record);
  const { asKnown } = momentOfCall(record);
  if (replay?.kind !== 'question' || asKnown === undefined) return null;
  const { scope, unscoped } = replay.space;
  const body = {
    text: replay.question,
    ...(scope === undefined ? {} : { scope }),
    ...(unscoped === undefined ? {} : { unscoped: true as const }),
    asKnown,
    withProof: true,
    limit: 100,
    timeoutMs: 10_000,
  };
  try {
    return (await call('ask', { body }, { signal })).proof ?? null;
  } catch (error) {
    // Refused or too long: counted, and said below the list. Anything else ends the search.
    const { status } = apiFailureOf(error);
    if (status !== null && refusals.has(status)) return null;
    throw error;
  }
}

function Limits({ found, client }: { found: Rested; client: string }) {
  const { told, unread, asked, left } = found;
  return (
    <p className="dim no-margin padded-8">
      {formatAmount(told, 'fact or rule', 'facts and rules')} told by {client} and{' '}
      {formatAmount(asked, 'question')} asked since, as far as the log goes, in this tenant. Each question was
      proved again with what was known when it began: one proof for each of its first 100 answers. Others may
      have told the same.
      {unread > 0 && ` ${formatAmount(unread, 'call')} of it could not be read.`}
      {left > 0 &&
        ` ${formatAmount(left, 'question')} could not be proved, or came before the last ${MAX_ASKED}.`}
    </p>
  );
}

interface RestedPartProps {
  search: AgentsSearch;
  onSearch: (part: Partial<AgentsSearch>) => void;
  log: LoadedCallLog;
}

/** The answers of all agents that rested on what the chosen one told. */
export function RestedPart({ search, onSearch, log }: RestedPartProps) {
  const session = useSession();
  const { state, start, cancel } = useRun<{ readonly client: string; readonly found: Rested }>();
  const { client } = search;
  if (client === undefined)
    return (
      <EmptyState icon={<IconUserSearch size={30} stroke={1.3} aria-hidden />} title="Which agent?">
        Choose a client above. Then you see which past answers rested on the facts and rules that it told.
      </EmptyState>
    );
  const look = () =>
    start(async (signal) => {
      const { database, tenant } = session.endpoint;
      const all = await log.readAll();
      const calls = all.filter((call) => call.database === database && call.tenant === tenant);
      const found = await findRested(calls, client, (call) => proofThen(session, call, signal));
      return { client, found };
    });
  const result = state.result?.client === client ? state.result.found : null;
  if (state.runningSince !== null)
    return <Running what="Proving past answers again" since={state.runningSince} onCancel={cancel} />;
  if (state.failure !== null) return <PaneProblem failure={state.failure} onRetry={look} />;
  if (result === null)
    return (
      <EmptyState
        icon={<IconBulb size={30} stroke={1.3} aria-hidden />}
        title={`Which answers rested on what ${client} told?`}
        actions={<Button onClick={look}>Look for answers</Button>}
      >
        Every question in the log that was asked afterwards is proved again with what was known then.
      </EmptyState>
    );
  return (
    <div className="flex-column full-height">
      <div className="rest-height">
        {result.answers.length === 0 ? (
          <EmptyState title="None">No answer in the log rested on what {client} told.</EmptyState>
        ) : (
          <ListGrid
            label="Answers that rested on it"
            columns={columns}
            rows={result.answers}
            isSelected={({ call }) => call.id === search.call}
            onSelect={({ call }) => onSearch({ call: call.id })}
          />
        )}
      </div>
      <Limits found={result} client={client} />
    </div>
  );
}
