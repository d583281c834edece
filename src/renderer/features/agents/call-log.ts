/**
 * The tool calls that this window holds, newest first, and how they are kept in step with the service's log.
 *
 * The log answers from its newest call backwards, so the newer ones are read until one comes that is held already. Where
 * none comes (the service was started anew, or much happened meanwhile), what was read takes the place of what was held.
 * Ids are of one run of the service: only with the request id do they tell calls of different runs apart. When to read is
 * the business of `use-call-log.ts`.
 */
import { rememberedCalls, type ToolCallRecord } from '../../../engine/contract/agents.ts';

/** A page of the log: at most `limit` calls that are older than the call `before`; null: the newest. */
export type FetchCalls = (page: {
  readonly limit: number;
  readonly before: string | null;
}) => Promise<readonly ToolCallRecord[]>;

export interface HeldCalls {
  /** Newest first. */
  readonly calls: readonly ToolCallRecord[];
  /** True where the service has none that are older. */
  readonly isWhole: boolean;
  /** The call that was the newest when holding began; null: there was none. */
  readonly anchor: ToolCallRecord | null;
}

/** Calls that are asked for at first, and where a few newer ones are expected. */
export const fewCalls = 100;
/** The most that the service gives at once. */
export const mostCalls = 1000;

function isSameCall(one: ToolCallRecord, other: ToolCallRecord): boolean {
  return one.id === other.id && one.requestId === other.requestId;
}

/** The newest calls, in place of whatever was held. */
export async function readFirst(fetchCalls: FetchCalls): Promise<HeldCalls> {
  const calls = await fetchCalls({ limit: fewCalls, before: null });
  return { calls, isWhole: calls.length < fewCalls, anchor: calls[0] ?? null };
}

/** What is held with the newer calls before it. The same object where there are none. */
export async function readNewer(held: HeldCalls, fetchCalls: FetchCalls): Promise<HeldCalls> {
  const [newest] = held.calls;
  if (newest === undefined) {
    const first = await readFirst(fetchCalls);
    // The anchor stays where holding began, before the first call.
    return first.calls.length === 0 ? held : { ...first, anchor: null };
  }
  const read: ToolCallRecord[] = [];
  for (const limit of [fewCalls, mostCalls]) {
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
  // The service forgets the oldest, and so does this window.
  return { calls: all.slice(0, rememberedCalls), isWhole: isWhole || all.length >= rememberedCalls, anchor };
}

/** What is held with the next older calls behind it. */
export async function readOlder(held: HeldCalls, fetchCalls: FetchCalls): Promise<HeldCalls> {
  const last = held.calls.at(-1);
  if (last === undefined || held.isWhole) return held;
  const page = await fetchCalls({ limit: mostCalls, before: last.id });
  const calls = [...held.calls, ...page].slice(0, rememberedCalls);
  return { ...held, calls, isWhole: page.length < mostCalls || calls.length >= rememberedCalls };
}

/** The log as it stood when it was paused: what came before then, as far as it is held by now. */
export function pausedCalls(
  calls: readonly ToolCallRecord[],
  paused: readonly ToolCallRecord[],
): { readonly shown: readonly ToolCallRecord[]; readonly newer: readonly ToolCallRecord[] } {
  const [first] = paused;
  if (first === undefined) return { shown: [], newer: calls };
  const place = calls.findIndex((call) => isSameCall(call, first));
  // What the service has forgotten since stays for who looks at it.
  if (place < 0) return { shown: paused, newer: calls };
  return { shown: calls.slice(place), newer: calls.slice(0, place) };
}

/** A client that gave no name. */
export const namelessClient = '(no name)';

export function clientNameOf({ client }: Pick<ToolCallRecord, 'client'>): string {
  return client ?? namelessClient;
}

/** What calls have to be like; null: anything. */
export interface CallFilter {
  readonly client: string | null;
  readonly tool: string | null;
  readonly outcome: ToolCallRecord['outcome'] | null;
  /** Anywhere in what is known of the call, in any case. */
  readonly text: string;
}

export function isFiltering({ client, tool, outcome, text }: CallFilter): boolean {
  return client !== null || tool !== null || outcome !== null || text !== '';
}

const searched = new WeakMap<ToolCallRecord, string>();

/** All that a call says, in small letters. */
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

export function passes(call: ToolCallRecord, { client, tool, outcome, text }: CallFilter): boolean {
  return (
    (client === null || clientNameOf(call) === client) &&
    (tool === null || call.tool === tool) &&
    (outcome === null || call.outcome === outcome) &&
    (text === '' || searchedText(call).includes(text.toLowerCase()))
  );
}

/** How many of `shown`, which pass a filter, came after the anchor. */
export function countSince(
  shown: readonly ToolCallRecord[],
  calls: readonly ToolCallRecord[],
  anchor: ToolCallRecord | null,
): number {
  const place = anchor === null ? calls.length : calls.findIndex((call) => isSameCall(call, anchor));
  const since = new Set(place < 0 ? [] : calls.slice(0, place));
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

/** Arguments in one line: the pattern as it is written, then what else was said. */
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

// HEAD call-export.ts: Calls as a file: one JSON object a line, or one JSON document.

export const callFormats = { ndjson: 'NDJSON', json: 'JSON' } as const;
export type CallFormat = keyof typeof callFormats;

const types = { ndjson: 'application/x-ndjson', json: 'application/json' } as const;

/** The calls in the order given, as pieces of a file. */
export function callPieces(calls: readonly ToolCallRecord[], format: CallFormat): string[] {
  if (format === 'ndjson') return calls.map((call) => `${JSON.stringify(call)}\n`);
  if (calls.length === 0) return ['{"calls": []}\n'];
  // The form of GET /mcp/calls, one call a line.
  const last = calls.length - 1;
  const lines = calls.map((call, index) => `${JSON.stringify(call)}${index === last ? '' : ','}\n`);
  return ['{"calls": [\n', ...lines, ']}\n'];
}

export function callFile(calls: readonly ToolCallRecord[], format: CallFormat): Blob {
  return new Blob(callPieces(calls, format), { type: types[format] });
}

/** `at`: epoch ms. `tool-calls-2026-07-28T12-00-00Z.ndjson`. */
export function callFileName(format: CallFormat, at: number): string {
  const stamp = new Date(at)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-');
  return `tool-calls-${stamp}.${format}`;
}
