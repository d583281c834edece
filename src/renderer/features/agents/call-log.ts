/**
 * The tool calls loaded in this window, newest first, and how they follow the service's log; also filters and
 * export.
 *
 * The log is read backwards from its newest call, so newer pages are read until a known call appears. If none
 * does (the service restarted, or many calls came in), the calls read replace those loaded. Ids are unique
 * within one run of the service: together with the request id they identify a call across runs.
 */
import { useEffect, useEffectEvent, useMemo, useRef } from 'react';
import { useStore } from 'zustand';
import { createStore, type StoreApi } from 'zustand/vanilla';
import { rememberedCalls, type ToolCallRecord } from '../../../engine/contract/agents.ts';
import { useLive } from '../../api/live.ts';
import { ApiError, type ApiFailure, apiFailureOf, isCancelled } from '../../api/problem.ts';
import { useSession } from '../../api/session.tsx';

/** A page of the log: at most `limit` calls older than the call `before`; null: the newest. */
export type FetchCalls = (page: {
  readonly limit: number;
  readonly before: string | null;
}) => Promise<readonly ToolCallRecord[]>;

/** The calls loaded so far. */
export interface HeldCalls {
  /** Newest first. */
  readonly calls: readonly ToolCallRecord[];
  /** True if the service has no older calls. */
  readonly isWhole: boolean;
  /** The newest call when loading began; null: there was none. */
  readonly anchor: ToolCallRecord | null;
}

/** Size of the first page, and of a page that should bring a few newer calls. */
export const smallPage = 100;
/** Maximum page size of the service. */
export const maxPage = 1000;

function isSameCall(one: ToolCallRecord, other: ToolCallRecord): boolean {
  return one.id === other.id && one.requestId === other.requestId;
}

/** The newest calls, replacing any loaded ones. */
export async function readFirst(fetchCalls: FetchCalls): Promise<HeldCalls> {
  const calls = await fetchCalls({ limit: smallPage, before: null });
  return { calls, isWhole: calls.length < smallPage, anchor: calls[0] ?? null };
}

/** The loaded calls preceded by newer ones; the same object if there are none. */
export async function readNewer(held: HeldCalls, fetchCalls: FetchCalls): Promise<HeldCalls> {
  const [newest] = held.calls;
  if (newest === undefined) {
    const first = await readFirst(fetchCalls);
    // The anchor stays at the beginning, before the first call.
    return first.calls.length === 0 ? held : { ...first, anchor: null };
  }
  const read: ToolCallRecord[] = [];
  for (const limit of [smallPage, maxPage]) {
    const page = await fetchCalls({ limit, before: read.at(-1)?.id ?? null });
    const known = page.findIndex((call) => isSameCall(call, newest));
    if (known >= 0) {
      read.push(...page.slice(0, known));
      return read.length === 0 ? held : withNewer(held, read);
    }
    read.push(...page);
    if (page.length < limit) return { calls: read, isWhole: true, anchor: read[0] ?? null };
  }
  return { calls: read, isWhole: false, anchor: read[0] ?? null };
}

function withNewer({ calls, isWhole, anchor }: HeldCalls, newer: readonly ToolCallRecord[]): HeldCalls {
  const all = [...newer, ...calls];
  // The service drops the oldest calls, and so does this window.
  return { calls: all.slice(0, rememberedCalls), isWhole: isWhole || all.length >= rememberedCalls, anchor };
}

/** The loaded calls followed by the next older ones. */
export async function readOlder(held: HeldCalls, fetchCalls: FetchCalls): Promise<HeldCalls> {
  const last = held.calls.at(-1);
  if (last === undefined || held.isWhole) return held;
  const page = await fetchCalls({ limit: maxPage, before: last.id });
  const calls = [...held.calls, ...page].slice(0, rememberedCalls);
  return { ...held, calls, isWhole: page.length < maxPage || calls.length >= rememberedCalls };
}

/** The log as it was when paused, as far as it is loaded now. */
export function pausedCalls(
  calls: readonly ToolCallRecord[],
  paused: readonly ToolCallRecord[],
): { readonly shown: readonly ToolCallRecord[]; readonly newer: readonly ToolCallRecord[] } {
  const [first] = paused;
  if (first === undefined) return { shown: [], newer: calls };
  const position = calls.findIndex((call) => isSameCall(call, first));
  // Calls that the service has dropped since stay visible until the pause ends.
  if (position < 0) return { shown: paused, newer: calls };
  return { shown: calls.slice(position), newer: calls.slice(0, position) };
}

/** Shown for a client without a name. */
export const namelessClient = '(no name)';

/** The name of the calling client, or `namelessClient`. */
export function clientNameOf({ client }: Pick<ToolCallRecord, 'client'>): string {
  return client ?? namelessClient;
}

/** The conditions a call must meet; null: any. */
export interface CallFilter {
  readonly client: string | null;
  readonly tool: string | null;
  readonly outcome: ToolCallRecord['outcome'] | null;
  /** Matched anywhere in the call, ignoring case. */
  readonly text: string;
}

/** True if the filter has any condition. */
export function isFiltering({ client, tool, outcome, text }: CallFilter): boolean {
  return client !== null || tool !== null || outcome !== null || text !== '';
}

const searched = new WeakMap<ToolCallRecord, string>();

/** Everything a call says, in lower case; cached. */
function searchedText(call: ToolCallRecord): string {
  const known = searched.get(call);
  if (known !== undefined) return known;
  const parts = [
    clientNameOf(call),
    call.tool,
    argumentsLine(call.arguments),
    JSON.stringify(call.arguments),
    call.result,
    call.database,
    call.tenant,
    call.requestId,
    call.id,
  ];
  const text = parts.join('\n').toLowerCase();
  searched.set(call, text);
  return text;
}

/** True if the call meets every condition of the filter. */
export function passes(call: ToolCallRecord, { client, tool, outcome, text }: CallFilter): boolean {
  return (
    (client === null || clientNameOf(call) === client) &&
    (tool === null || call.tool === tool) &&
    (outcome === null || call.outcome === outcome) &&
    (text === '' || searchedText(call).includes(text.toLowerCase()))
  );
}

/** How many of `shown`, which are filtered, came after the anchor. */
export function countSince(
  shown: readonly ToolCallRecord[],
  calls: readonly ToolCallRecord[],
  anchor: ToolCallRecord | null,
): number {
  const position = anchor === null ? calls.length : calls.findIndex((call) => isSameCall(call, anchor));
  const since = new Set(position < 0 ? [] : calls.slice(0, position));
  let count = 0;
  for (const call of shown) {
    if (!since.has(call)) break;
    count += 1;
  }
  return count;
}

function isListOfValues(value: unknown): value is (string | number | boolean)[] {
  return Array.isArray(value) && value.every((item) => ['string', 'number', 'boolean'].includes(typeof item));
}

/** Arguments in one line: the pattern as written, then all other arguments. */
export function argumentsLine(given: Readonly<Record<string, unknown>>): string {
  const { predicate, args, text, ...rest } = given;
  const isPattern = typeof predicate === 'string' && isListOfValues(args);
  const parts = isPattern ? [`${predicate}(${args.join(', ')})`] : [];
  if (typeof text === 'string') parts.push(text);
  const others = {
    ...(isPattern ? {} : { predicate, args }),
    ...(typeof text === 'string' ? {} : { text }),
    ...rest,
  };
  for (const [name, value] of Object.entries(others))
    if (value !== undefined)
      parts.push(`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return parts.join(' · ').replaceAll(/\s+/g, ' ');
}

/** File formats of an export, with their labels. */
export const callFormats = { ndjson: 'NDJSON', json: 'JSON' } as const;
/** A file format of an export. */
export type CallFormat = keyof typeof callFormats;

const types = { ndjson: 'application/x-ndjson', json: 'application/json' } as const;

/** The calls in the given order, as pieces of a file. */
export function callPieces(calls: readonly ToolCallRecord[], format: CallFormat): string[] {
  if (format === 'ndjson') return calls.map((call) => `${JSON.stringify(call)}\n`);
  if (calls.length === 0) return ['{"calls": []}\n'];
  // The shape of GET /mcp/calls, one call per line.
  const last = calls.length - 1;
  const lines = calls.map((call, index) => `${JSON.stringify(call)}${index === last ? '' : ','}\n`);
  return ['{"calls": [\n', ...lines, ']}\n'];
}

/** The calls as a file. */
export function callFile(calls: readonly ToolCallRecord[], format: CallFormat): Blob {
  return new Blob(callPieces(calls, format), { type: types[format] });
}

/** A file name such as `tool-calls-2026-07-28T12-00-00Z.ndjson`; `at`: epoch ms. */
export function callFileName(format: CallFormat, at: number): string {
  const stamp = new Date(at)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-');
  return `tool-calls-${stamp}.${format}`;
}

interface CallLogState {
  /** null before the first response. */
  readonly held: HeldCalls | null;
  /** Why the log is not up to date; null: it is. */
  readonly failure: ApiFailure | null;
  /** True while older calls are being read. */
  readonly isReadingOlder: boolean;
}

interface CallLogStore {
  readonly store: StoreApi<CallLogState>;
  /** Marks the log as watched; returns the function that ends it and cancels the reads under way. */
  readonly open: () => () => void;
  /** Reads calls newer than those loaded. */
  readonly readOn: () => void;
  /** Reads the next page of older calls. */
  readonly readOlder: () => void;
  /**
   * Reads everything the service remembers. Errors: ApiError; AbortError once the log is no longer watched.
   */
  readonly readAll: () => Promise<readonly ToolCallRecord[]>;
}

/** A store of the log. `ask` fetches one page and rejects with an AbortError if the signal is aborted. */
export function createCallLog(
  ask: (page: Parameters<FetchCalls>[0], signal: AbortSignal) => ReturnType<FetchCalls>,
): CallLogStore {
  const store = createStore<CallLogState>()(() => ({ held: null, failure: null, isReadingOlder: false }));
  let turn: Promise<unknown> = Promise.resolve();
  let isWaiting = false;
  let looking = new AbortController();
  const fetchCalls: FetchCalls = (page) => ask(page, looking.signal);

  async function attempt(reading: (held: HeldCalls) => Promise<HeldCalls>): Promise<ApiFailure | null> {
    const { held } = store.getState();
    try {
      const next = await (held === null ? readFirst(fetchCalls) : reading(held));
      store.setState({ held: next, failure: null });
      return null;
    } catch (error) {
      const failure = apiFailureOf(error);
      if (!isCancelled(error)) store.setState({ failure });
      return failure;
    }
  }

  /** Resolves after the read, with its failure, or null. */
  function read(reading: (held: HeldCalls) => Promise<HeldCalls>): Promise<ApiFailure | null> {
    const mine = turn.then(() => {
      isWaiting = false;
      return attempt(reading);
    });
    turn = mine;
    return mine;
  }

  /** Reads older calls, if there are any; if none are left, it says nothing about the service's state. */
  function readOlderCalls(): Promise<ApiFailure | null> {
    const { held } = store.getState();
    return held?.isWhole === true ? Promise.resolve(null) : read((now) => readOlder(now, fetchCalls));
  }

  return {
    store,
    open() {
      const mine = new AbortController();
      looking = mine;
      return () => mine.abort();
    },
    readOn() {
      if (isWaiting) return;
      isWaiting = true;
      void read((held) => readNewer(held, fetchCalls));
    },
    readOlder() {
      if (store.getState().isReadingOlder) return;
      store.setState({ isReadingOlder: true });
      void readOlderCalls().then(() => store.setState({ isReadingOlder: false }));
    },
    async readAll() {
      for (;;) {
        const failure = await readOlderCalls();
        if (looking.signal.aborted) throw new DOMException('given up', 'AbortError');
        if (failure !== null) throw new ApiError(failure);
        const { held } = store.getState();
        if (held === null || held.isWhole) return held?.calls ?? [];
      }
    },
  };
}

/**
 * How often the window polls for calls in other spaces, in milliseconds: the event stream does not cover
 * them.
 */
const elsewhereEveryMs = 4_000;
/** Minimum time between two reads of newer calls, in milliseconds. */
const restMs = 300;

/** The log of calls and the ways to read more of it. */
export type LoadedCallLog = CallLogState & Omit<CallLogStore, 'store' | 'open'>;

/** The log of calls of this window; `isReadable`: false if this user may not see the calls. */
export function useCallLog(isReadable: boolean): LoadedCallLog {
  const { call } = useSession();
  const log = useMemo(
    () =>
      createCallLog(async ({ limit, before }, signal) => {
        const query = { limit: String(limit), before: before ?? undefined };
        return (await call('listMcpCalls', { query }, { signal })).calls;
      }),
    [call],
  );
  useEffect(() => log.open(), [log]);
  useFollowed(isReadable, log.readOn);
  const state = useStore(log.store);
  return { ...log, ...state };
}

/** Calls `readOn` at once, after each event about a call, and periodically while the window is visible. */
function useFollowed(isReadable: boolean, readOn: () => void): void {
  const version = useLive((live) => live.versions.agents);
  const rest = useRef<ReturnType<typeof setTimeout> | null>(null);
  const onTold = useEffectEvent(() => {
    if (!isReadable || rest.current !== null) return;
    rest.current = setTimeout(() => {
      rest.current = null;
      readOn();
    }, restMs);
  });
  useEffect(() => {
    if (version > 0) onTold();
  }, [version]);
  useEffect(() => {
    if (!isReadable) return undefined;
    readOn();
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') readOn();
    }, elsewhereEveryMs);
    return () => {
      clearInterval(timer);
      if (rest.current !== null) clearTimeout(rest.current);
      rest.current = null;
    };
  }, [isReadable, readOn]);
}
