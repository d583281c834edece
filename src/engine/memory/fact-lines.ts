/**
 * Facts as lines to be read: one a line, conclusions marked, each after its premises.
 *
 * A line has what changes the meaning of an atom: its scope and its validity. It depends on nothing but its fact, so that
 * the tokens of a window are the sum of its lines.
 */
import { ByteMeter } from '../base/byte-meter.ts';
import { TextMap } from '../base/text-map.ts';
import type { Atom } from '../contract/language.ts';
import type { ContextEntry } from '../contract/memory.ts';
import { renderAtom } from '../language/print.ts';
import type { ReadContext } from '../session/read-context.ts';

/** Before an atom that a rule concludes. */
export const conclusionMark = '=> ';

/** What a line says of a stored fact beside its atom; null or infinite: no bound. */
interface LineNotes {
  readonly scope: string | null;
  readonly validFrom: number | null;
  readonly validUntil: number | null;
}

/** The line of a conclusion. */
export function conclusionLine(atom: Atom): string {
  return `${conclusionMark}${renderAtom(atom)}`;
}

/** The line of a stored fact. */
export function factLine(atom: Atom, { scope, validFrom, validUntil }: LineNotes): string {
  const notes = [
    scope === null ? [] : [`scope ${JSON.stringify(scope)}`],
    timed('from', validFrom),
    timed('until', validUntil),
  ].flat();
  return notes.length === 0 ? renderAtom(atom) : `${renderAtom(atom)} (${notes.join(', ')})`;
}

function timed(word: string, time: number | null): string[] {
  return time === null || !Number.isFinite(time) ? [] : [`${word} ${new Date(time).toISOString()}`];
}

/** An entry as far as lines need it. */
export type LinedEntry = Pick<ContextEntry, 'predicate' | 'args' | 'named' | 'negated' | 'provenance'> &
  LineNotes;

/** The line of an entry. */
export function lineOf(entry: LinedEntry): string {
  return entry.provenance === null ? factLine(entry, entry) : conclusionLine(entry);
}

/** What counting the tokens of a line costs beside its text, as bytes of text. */
const countingBytes = 1024;

/** The tokens of the lines of these entries. */
export async function tokensIn(
  { tokens, pacer }: ReadContext,
  entries: Iterable<LinedEntry>,
  most: number = Number.POSITIVE_INFINITY,
): Promise<number> {
  let sum = 0;
  const meter = new ByteMeter();
  for (const entry of entries) {
    const line = `${lineOf(entry)}\n`;
    sum += await tokens.count(line, () => pacer.breathe(), most - sum);
    if (sum > most) break;
    if (meter.counts(countingBytes + line.length)) await pacer.breathe();
  }
  return sum;
}

/** A test for facts. */
export type FactTest = (fact: { readonly predicate: string; readonly args: readonly string[] }) => boolean;

/** The limits of a list of facts to read. */
export interface ListLimits {
  readonly maxFacts: number;
  readonly maxTokens: number | null;
}

/** The first of the entries, each atom once, within the limits; one that is too long is passed over. */
export async function firstEntries<Entry extends LinedEntry>(
  context: ReadContext,
  entries: readonly Entry[],
  { maxFacts, maxTokens }: ListLimits,
): Promise<Entry[]> {
  let room = maxTokens ?? Number.POSITIVE_INFINITY;
  const taken = new TextMap<Entry>();
  for (const entry of entries) {
    if (taken.size === maxFacts || room <= 0) break;
    const atom = renderAtom(entry);
    if (taken.has(atom)) continue;
    const tokens = maxTokens === null ? 0 : await tokensIn(context, [entry], room);
    if (tokens > room) continue;
    room -= tokens;
    taken.set(atom, entry);
  }
  return [...taken.values()];
}

/**
 * Headings that say the declared names of arguments, such as `% lives_in(person, city)`: one for each relation, in the order
 * of the entries. They are comments of the language, and no tokens of a window.
 */
export function headingsOf(entries: Iterable<Pick<LinedEntry, 'predicate' | 'args' | 'named'>>): string[] {
  const headings = new Set<string>();
  for (const { predicate, args, named = {} } of entries) {
    const names = namesInOrder(args, named);
    if (names.length > 0) headings.add(`% ${predicate}(${names.join(', ')})`);
  }
  return [...headings];
}

/**
 * The names in the order of the arguments. Fields that look like integers come first in an object, so if there are any, the
 * values tell the order; empty: they do not, since a value occurs twice.
 */
function namesInOrder(args: readonly string[], named: Readonly<Record<string, string>>): string[] {
  const names = Object.keys(named);
  if (!names.some((name) => /^\d+$/.test(name))) return names;
  if (new Set(args).size < args.length) return [];
  return args.flatMap((value) => names.filter((name) => named[name] === value));
}

/**
 * The entries as a text: the headings, then the entries in their order, but each conclusion after those of its premises that
 * are among them.
 */
export async function linesOfFacts(
  entries: readonly LinedEntry[],
  breathe: () => Promise<void>,
): Promise<string> {
  const lines = headingsOf(entries);
  for (const entry of await readingOrder(entries, breathe)) {
    lines.push(lineOf(entry));
    if ((lines.length & 0xff) === 0) await breathe();
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** The entries in their order, but each conclusion after those of its premises that are among them. */
export async function readingOrder<Entry extends LinedEntry>(
  entries: readonly Entry[],
  breathe: () => Promise<void>,
): Promise<Entry[]> {
  const byAtom = new TextMap<Entry>();
  for (const entry of entries) {
    byAtom.set(renderAtom(entry), entry);
    if ((byAtom.size & 0xff) === 0) await breathe();
  }
  const placed = new Set<Entry>();
  const begun = new Set<Entry>();
  for (const entry of entries) {
    const open = [entry];
    for (let next = open.at(-1); next !== undefined; next = open.at(-1)) {
      const premises = (next.provenance?.premises ?? []).flatMap((atom) => byAtom.get(atom) ?? []);
      const missing = begun.has(next) ? [] : premises.filter((each) => !placed.has(each) && !begun.has(each));
      begun.add(next);
      if (missing.length > 0) open.push(...missing.reverse());
      else {
        placed.add(next);
        open.pop();
      }
    }
    if ((placed.size & 0xff) === 0) await breathe();
  }
  return [...placed];
}
