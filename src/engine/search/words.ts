/**
 * The words of a text: how texts, constants and names of predicates are compared in a search.
 *
 * Words follow Unicode's segmentation (UAX #29) and are split further at `_`, `-`, `.` and between the words of a
 * camelCase name. They are folded: case and diacritics do not count. A term is a word under which the index finds a
 * text: the stem of an English word (Porter's algorithm), any other word as it is.
 */
import { stemmer } from 'stemmer';

/** A word of a text. */
export interface Word {
  /** Its place in the text, in UTF-16 units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  /** Folded. */
  readonly text: string;
}

const nonAscii = /[^\0-\x7f]/;
/**
 * Numbers with their points, and runs of letters and digits with an apostrophe inside. No lookahead after a number: it
 * would give the number back piece by piece, each time from its start.
 */
const asciiPieces = /\d+(?:[.,]\d+)+|[A-Za-z0-9]+(?:'[A-Za-z]+)*/g;
const unicodePieces = /\p{N}+(?:[.,]\p{N}+)+|[\p{L}\p{N}\p{M}]+(?:['’][\p{L}\p{M}]+)*/gu;
/** A place between two words of a name: aB, ABc. */
const camelBoundary = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
/** A piece with no such place and no apostrophe. */
const plainPiece = /^(?:[a-z]+|\d+)$/;
const possessive = /['’]s?$/;
/** Scripts that are written without spaces between words: their words need a dictionary. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** The words of the text in order. */
export function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  for (const { start, piece } of piecesOf(text)) {
    let at = start;
    for (const part of piece.split(camelBoundary)) {
      const plain = part.replace(possessive, '');
      if (plain !== '') words.push({ start: at, end: at + plain.length, text: foldWord(plain) });
      at += part.length;
    }
  }
  return words;
}

/** The terms of the text, as often as they occur; a name of several words in camelCase is also a term as a whole. */
export function termsOf(text: string): string[] {
  return termsAndName(text).terms;
}

/** The terms of the text, and its name as `foldedName` gives it. */
export function termsAndName(text: string): { readonly terms: string[]; readonly name: string } {
  const terms: string[] = [];
  let name = '';
  for (const { piece } of piecesOf(text)) {
    const parts = plainPiece.test(piece) ? [piece] : piece.split(camelBoundary);
    for (const part of parts) {
      const plain = part.replace(possessive, '');
      if (plain === '') continue;
      const word = foldWord(plain);
      name += word;
      terms.push(stemOf(word));
    }
    if (parts.length > 1) terms.push(foldWord(piece.replace(possessive, '')));
  }
  return { terms, name };
}

const stems = new Map<string, string>();
const maxStems = 65_536;
const maxCachedWord = 32;

/** The stem of a folded English word; any other word unchanged. */
export function stemOf(word: string): string {
  if (!/^[a-z]{3,}$/.test(word)) return word;
  let stem = stems.get(word);
  if (stem !== undefined) return stem;
  stem = stemmer(word);
  if (word.length > maxCachedWord) return stem;
  if (stems.size === maxStems) stems.clear();
  stems.set(word, stem);
  return stem;
}

/** What is compared of two names: their folded letters and digits. Empty if there are none. */
export function foldedName(text: string): string {
  return wordsOf(text)
    .map((word) => word.text)
    .join('');
}

/** `foldedName` with the stem of each word: predicates are recognized in any inflection. */
export function stemmedName(text: string): string {
  return wordsOf(text)
    .map((word) => stemOf(word.text))
    .join('');
}

function* piecesOf(text: string): Generator<{ readonly start: number; readonly piece: string }> {
  if (!nonAscii.test(text)) {
    for (const { 0: piece, index } of text.matchAll(asciiPieces)) yield { start: index, piece };
    return;
  }
  for (const { 0: piece, index } of text.matchAll(unicodePieces)) {
    if (!unspaced.test(piece)) {
      yield { start: index, piece };
      continue;
    }
    for (const { within, word } of dictionaryWords(piece)) yield { start: index + within, piece: word };
  }
}

/** Most UTF-16 units that are segmented at once: the segmenter's time grows faster than the text. */
const maxSegmented = 4_096;

/**
 * The words of a piece in a script without spaces. A block begins with the last word of the one before, which it may have
 * cut.
 */
function* dictionaryWords(piece: string): Generator<{ readonly within: number; readonly word: string }> {
  for (let from = 0; from < piece.length; ) {
    const block = piece.slice(from, from + maxSegmented);
    const isLast = from + block.length === piece.length;
    let next = from + block.length;
    for (const { segment, index, isWordLike } of segmenter.segment(block)) {
      const isCut = !isLast && index > 0 && index + segment.length === block.length;
      if (isCut) next = from + index;
      else if (isWordLike === true) yield { within: from + index, word: segment };
    }
    from = next;
  }
}

/** Combining diacritical marks, not the vowel signs of scripts that need them. */
const diacritics = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+/gu;

/** The word without case and diacritics: Unicode's compatibility decomposition and full case folding. */
function foldWord(word: string): string {
  if (!nonAscii.test(word)) return word.toLowerCase();
  return word
    .normalize('NFKD')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKD')
    .replace(diacritics, '')
    .replaceAll('ς', 'σ')
    .normalize('NFC');
}

const stopWords = new Set(
  (
    'a about above after again against all also am an and any are as at be because been before being below ' +
    'between both but by can could did do does doing down during each few for from further had has have having ' +
    'he her here hers him his how i if in into is it its itself just me more most my no nor not now of off on ' +
    'once only or other our ours out over own same she should so some such than that the their theirs them then ' +
    'there these they this those through to too under until up very was we were what when where which while who ' +
    'whom whose why will with would you your yours'
  ).split(' '),
);

/** True for an English function word, which says nothing about what a text is about. */
export function isStopWord(word: string): boolean {
  return stopWords.has(word);
}
