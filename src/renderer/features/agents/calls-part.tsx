/**
 * The live log of tool calls: newest first, filtered, paused, exported.
 *
 * A search covers everything the service remembers: it loads older calls until there are none left.
 */
import { Button, Menu, SegmentedControl, Select } from '@mantine/core';
import {
  IconDownload,
  IconFilterOff,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlugConnected,
  IconTool,
} from '@tabler/icons-react';
import { useEffect, useMemo, useState } from 'react';
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import { apiFailureOf, isCancelled } from '../../api/problem.ts';
import { useSession } from '../../api/session.tsx';
import { DataGrid } from '../../ui/data-grid.tsx';
import { download } from '../../ui/download.ts';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { Banner, EmptyState, Loading, PaneProblem } from '../../ui/notices.tsx';
import { notifyDone, notifyFailure } from '../../ui/notify.tsx';
import { TextFilter } from '../../ui/text-filter.tsx';
import { type AgentsSearch, filterOf, noFilter } from './agents-search.ts';
import { callColumns, callsTable, choosableCallColumns, useShownCallColumns } from './call-detail.tsx';
import { ChooseColumns } from '../../ui/choose-columns.tsx';
import {
  callFile,
  callFileName,
  type CallFormat,
  callFormats,
  clientNameOf,
  countSince,
  type HeldCalls,
  isFiltering,
  type LoadedCallLog,
  passes,
  pausedCalls,
} from './call-log.ts';
import styles from './agents.module.css';
import { RestedPart } from './rested-part.tsx';
import { TimeLine } from './time-line.tsx';

/** The calls loaded when the log was paused; null: not paused. */
export type Paused = readonly ToolCallRecord[] | null;

interface Shown {
  readonly rows: readonly ToolCallRecord[];
  /** Filtered calls that came after the pause. */
  readonly waiting: number;
  /** How many of the rows came since the log was opened. */
  readonly leading: number;
}

function shownOf(held: HeldCalls, paused: Paused, search: AgentsSearch): Shown {
  const filter = filterOf(search);
  const { shown, newer } =
    paused === null ? { shown: held.calls, newer: [] } : pausedCalls(held.calls, paused);
  const pass = (calls: readonly ToolCallRecord[]) =>
    isFiltering(filter) ? calls.filter((call) => passes(call, filter)) : calls;
  const rows = pass(shown);
  return { rows, waiting: pass(newer).length, leading: countSince(rows, held.calls, held.anchor) };
}

/** What the log of calls takes. */
export interface CallsPartProps {
  search: AgentsSearch;
  onSearch: (part: Partial<AgentsSearch>) => void;
  log: LoadedCallLog;
  paused: Paused;
  onPaused: (paused: Paused) => void;
  /** The names of the service's tools. */
  tools: readonly string[];
}

/** The values sorted by code point, with the chosen one included. */
function choicesOf(values: readonly string[], chosen: string | undefined): string[] {
  return [...new Set(chosen === undefined ? values : [...values, chosen])].sort();
}

function Filters({ search, onSearch, held, tools }: CallsPartProps & { held: HeldCalls }) {
  const names = useMemo(() => held.calls.map(clientNameOf), [held.calls]);
  const called = useMemo(() => held.calls.map(({ tool }) => tool), [held.calls]);
  return (
    <>
      <Select
        aria-label="Client"
        placeholder="All clients"
        w={128}
        clearable
        searchable
        data={choicesOf(names, search.client)}
        value={search.client ?? null}
        onChange={(client) => onSearch({ client: client ?? undefined })}
      />
      <Select
        aria-label="Tool"
        placeholder="All tools"
        w={112}
        clearable
        data={choicesOf([...tools, ...called], search.tool)}
        value={search.tool ?? null}
        onChange={(tool) => onSearch({ tool: tool ?? undefined })}
      />
      <Select
        aria-label="Outcome"
        placeholder="Any outcome"
        w={118}
        clearable
        data={[
          { value: 'ok', label: 'ok' },
          { value: 'error', label: 'error' },
        ]}
        value={search.outcome ?? null}
        onChange={(outcome) =>
          onSearch({ outcome: outcome === 'ok' || outcome === 'error' ? outcome : undefined })
        }
      />
      <TextFilter
        label="Text in the calls"
        width={150}
        value={search.q ?? ''}
        onValue={(q) => onSearch({ q: q === '' ? undefined : q })}
      />
    </>
  );
}

function ExportMenu({ search, log, paused }: Pick<CallsPartProps, 'search' | 'log' | 'paused'>) {
  const [isBusy, setBusy] = useState(false);
  async function save(format: CallFormat): Promise<void> {
    setBusy(true);
    try {
      const calls = await log.readAll();
      const { rows } = shownOf({ calls, isWhole: true, anchor: null }, paused, search);
      download(callFileName(format, Date.now()), callFile(rows, format));
      notifyDone(`Exported ${formatAmount(rows.length, 'call')}`);
    } catch (error) {
      if (!isCancelled(error)) notifyFailure(apiFailureOf(error));
    }
    setBusy(false);
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" loading={isBusy} leftSection={<IconDownload size={14} aria-hidden />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {(['ndjson', 'json'] as const).map((format) => (
          <Menu.Item key={format} onClick={() => void save(format)}>
            As {callFormats[format]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function countText({ calls, isWhole }: HeldCalls, rows: number, isFiltered: boolean): string {
  const total = `${formatCount(calls.length)}${isWhole ? '' : '+'} ${calls.length === 1 ? 'call' : 'calls'}`;
  return isFiltered ? `${formatCount(rows)} of ${total}` : total;
}

function Toolbar({ held, shown, ...props }: CallsPartProps & { held: HeldCalls; shown: Shown }) {
  const { search, onSearch, log, paused, onPaused } = props;
  const isFiltered = isFiltering(filterOf(search));
  const shownColumns = useShownCallColumns(shown.rows, useSession().endpoint);
  return (
    <div className={`flex-row gap-6 ${styles.toolbar}`}>
      <Filters {...props} held={held} />
      {isFiltered && (
        <Button
          variant="subtle"
          color="gray"
          leftSection={<IconFilterOff size={14} aria-hidden />}
          onClick={() => onSearch(noFilter)}
        >
          All calls
        </Button>
      )}
      <span className={styles.gap} />
      <span className="dim number">
        {isFiltered && !held.isWhole && 'Looking further back… '}
        {countText(held, shown.rows.length, isFiltered)}
      </span>
      {search.as === undefined && (
        <ChooseColumns
          table={callsTable}
          columns={choosableCallColumns}
          shown={shownColumns}
          norm="Where calls differ"
        />
      )}
      <SegmentedControl
        aria-label="Show calls as"
        value={search.as ?? 'list'}
        onChange={(value) =>
          onSearch({
            as: value === 'time' || value === 'answers' ? value : undefined,
            session: undefined,
          })
        }
        data={[
          { value: 'list', label: 'List' },
          { value: 'time', label: 'Time line' },
          { value: 'answers', label: 'Rested on it' },
        ]}
      />
      {paused === null ? (
        <Button
          variant="default"
          leftSection={<IconPlayerPause size={14} aria-hidden />}
          onClick={() => onPaused(held.calls)}
        >
          Pause
        </Button>
      ) : (
        <Button leftSection={<IconPlayerPlay size={14} aria-hidden />} onClick={() => onPaused(null)}>
          Resume{shown.waiting > 0 && ` (${formatCount(shown.waiting)} new)`}
        </Button>
      )}
      <ExportMenu search={search} log={log} paused={paused} />
    </div>
  );
}

function NoCalls({ onSearch, isPaused }: Pick<CallsPartProps, 'onSearch'> & { isPaused: boolean }) {
  if (isPaused) return <EmptyState title="Paused before the first call" />;
  return (
    <EmptyState
      icon={<IconPlugConnected size={30} stroke={1.3} aria-hidden />}
      title="No agent has called yet"
      actions={
        <>
          <Button
            leftSection={<IconPlugConnected size={14} aria-hidden />}
            onClick={() => onSearch({ part: 'connect' })}
          >
            Connect an agent
          </Button>
          <Button
            variant="default"
            leftSection={<IconTool size={14} aria-hidden />}
            onClick={() => onSearch({ part: 'try' })}
          >
            Try a tool
          </Button>
        </>
      }
    >
      Every tool call is listed here as it happens, with its arguments and its result. The service remembers
      the last 10,000, through restarts too.
    </EmptyState>
  );
}

function NoMatch({ onSearch, isWhole }: Pick<CallsPartProps, 'onSearch'> & { isWhole: boolean }) {
  if (!isWhole) return <Loading />;
  return (
    <EmptyState
      title="No call matches"
      actions={
        <Button variant="default" onClick={() => onSearch(noFilter)}>
          Show all calls
        </Button>
      }
    >
      No call that the service remembers passes the filters.
    </EmptyState>
  );
}

function Rows({ held, shown, ...props }: CallsPartProps & { held: HeldCalls; shown: Shown }) {
  const { search, onSearch, log, paused } = props;
  const { endpoint } = useSession();
  const { rows, leading } = shown;
  const shownColumns = useShownCallColumns(rows, endpoint);
  const columns = useMemo(() => callColumns(shownColumns), [shownColumns]);
  if (rows.length === 0)
    return isFiltering(filterOf(search)) ? (
      <NoMatch onSearch={onSearch} isWhole={held.isWhole} />
    ) : (
      <NoCalls onSearch={onSearch} isPaused={paused !== null} />
    );
  if (search.as === 'time') return <TimeLine calls={rows} search={search} onSearch={onSearch} />;
  const position = search.call === undefined ? -1 : rows.findIndex(({ id }) => id === search.call);
  const open = (index: number) => {
    const id = rows[index]?.id;
    if (id !== undefined && id !== search.call) onSearch({ call: id });
  };
  return (
    <DataGrid
      label="Tool calls"
      columns={columns}
      // One extra row, which loads older calls when scrolled to.
      count={rows.length + (held.isWhole ? 0 : 1)}
      rowAt={(index) => rows[index]}
      selected={position < 0 ? null : position}
      onSelect={open}
      onOpen={open}
      leading={leading}
      onVisible={(_first, last) => {
        if (last > rows.length && !held.isWhole) log.readOlder();
      }}
    />
  );
}

/** Shown above a log that could not be updated. */
function NotCurrent({ log }: { log: LoadedCallLog }) {
  if (log.failure === null) return null;
  return (
    <Banner
      action={
        <Button size="compact-xs" variant="default" onClick={log.readOn}>
          Try again
        </Button>
      }
    >
      The log could not be updated: {log.failure.detail}
      {log.failure.requestId !== '' && (
        <span className="dim">
          {' '}
          Request <code className="mono">{log.failure.requestId}</code>
        </span>
      )}
    </Banner>
  );
}

/** The log with its toolbar. */
export function CallsPart(props: CallsPartProps) {
  const { log, paused, search } = props;
  const { held, failure } = log;
  const shown = useMemo(() => (held === null ? null : shownOf(held, paused, search)), [held, paused, search]);
  if (held === null || shown === null)
    return failure === null ? <Loading /> : <PaneProblem failure={failure} onRetry={log.readOn} />;
  return (
    <div className="flex-column full-height">
      <NotCurrent log={log} />
      <Toolbar {...props} held={held} shown={shown} />
      <div className="rest-height">
        {search.as === 'answers' ? (
          <RestedPart search={search} onSearch={props.onSearch} log={log} />
        ) : (
          <Rows {...props} held={held} shown={shown} />
        )}
      </div>
    </div>
  );
}

/** Keeps loading older calls while `isWanted`. */
export function useOlderCalls(log: LoadedCallLog, isWanted: boolean): void {
  const { held, failure, isReadingOlder, readOlder } = log;
  const isDue = isWanted && held !== null && !held.isWhole && failure === null && !isReadingOlder;
  useEffect(() => {
    if (isDue) readOlder();
  }, [isDue, readOlder]);
}
