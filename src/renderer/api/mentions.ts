/** What a text mentions, as parts of the text: offsets of mentions are UTF-16 units, as those of strings here. */
import type { Mention } from '../../engine/contract/mention.ts';

/** A piece of a text; the pieces together are the text. */
export interface MentionPart {
  readonly text: string;
  /** null: the piece names nothing. */
  readonly mention: Mention | null;
}

/** Cuts a text at its mentions. Mentions that overlap an earlier one, or lie outside of the text, are skipped. */
export function cutAtMentions(text: string, mentions: readonly Mention[]): MentionPart[] {
  const parts: MentionPart[] = [];
  let at = 0;
  for (const mention of [...mentions].sort((left, right) => left.start - right.start)) {
    const { start, end } = mention;
    if (start < at || end <= start || end > text.length) continue;
    if (start > at) parts.push({ text: text.slice(at, start), mention: null });
    parts.push({ text: text.slice(start, end), mention });
    at = end;
  }
  if (at < text.length) parts.push({ text: text.slice(at), mention: null });
  return parts;
}

/** The letters and digits of a name, without case and diacritics. */
function folded(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]+/gu, '')
    .toLowerCase();
}

/** The names that a mention stands for, constants first. */
export function namesOf({ constants, predicates }: Mention): string[] {
  return [...new Set([...constants, ...predicates])];
}

/** Endings of English words, which predicates may have or not. */
const ending = /^(?:s|es|d|ed|r|er|ing|ly)$/;

/** True if one of two words is the other with an English ending, or with another one after a final e or y. */
function isFormOf(left: string, right: string): boolean {
  const [short, long] = left.length <= right.length ? [left, right] : [right, left];
  const stem = short.replace(/[ey]$/, '');
  if (stem === '' || !long.startsWith(stem)) return false;
  return ending.test(long.slice(short.length)) || /^(?:i?e[sd]|ing|er)$/.test(long.slice(stem.length));
}

/**
 * True if the text has another spelling than every name that it was taken for, as a misspelt one has. Another form of a
 * predicate's English word (`siblings` for `sibling`) is no other spelling.
 */
export function isReadAsAnother(mention: Mention): boolean {
  const { constants, predicates } = mention;
  const written = folded(mention.text);
  return (
    constants.every((name) => folded(name) !== written) &&
    predicates.every((name) => folded(name) !== written && !isFormOf(written, folded(name)))
  );
}

/** At most this many names of one mention are listed. */
const maxNamed = 5;

/** The names of a mention as a list: `ann, anna and 3 more`. */
export function namesInWords(mention: Mention): string {
  const names = namesOf(mention);
  const rest = names.length - maxNamed;
  return rest > 0 ? `${names.slice(0, maxNamed).join(', ')} and ${rest} more` : names.join(', ');
}

/** Says what misspelt names were taken for: `“agnez” is read as agnes`; empty if all names are as written. */
export function readingsInWords(mentions: readonly Mention[]): string {
  return mentions
    .filter(isReadAsAnother)
    .map((mention) => `“${mention.text}” is read as ${namesInWords(mention)}`)
    .join('; ');
}

/** What a mention names: `constant`, `predicate`, or both. */
export function kindOfMention({ constants, predicates }: Mention): string {
  if (predicates.length === 0) return constants.length === 1 ? 'constant' : 'constants';
  if (constants.length === 0) return predicates.length === 1 ? 'predicate' : 'predicates';
  return 'constant and predicate';
}

/** Quotes in which a search takes a name letter by letter. */
const quotes = [
  ['"', '"'],
  ['“', '”'],
  ['`', '`'],
] as const;

/** A text that names exactly this constant. */
export function quotedName(constant: string): string {
  const [open, close] = quotes.find((pair) => pair.every((mark) => !constant.includes(mark))) ?? ['', ''];
  return `${open}${constant}${close}`;
}
