/**
 * A box of the diagram as shapes: what is drawn on the screen and what is written to a file are the same.
 *
 * A box holds the statement, the kind in a word with the rule, and what the rule's variables stand for. Texts are cut
 * to the box, whose width follows from them; letters of code have one width. Colours are names of the theme.
 */
import type { ProofStep } from '../../../engine/contract/inference.ts';
import { lexLine, type TokenKind } from '../../editor/lexer.ts';
import type { Tone } from '../../ui/tags.tsx';
import { wayInWords, waysTo, type Chosen } from './alternatives.ts';
import type { Size } from './diagram-graph.ts';
import { isFoldable, type OutlineRow } from './proof-tree.ts';
import { type VariableBinding, wordOf } from './step-words.ts';

/** A custom property of the theme. */
export type Colour = `--${string}`;

export interface TextRun {
  readonly text: string;
  readonly colour: Colour;
}

export type Shape =
  | {
      readonly kind: 'box';
      readonly x: number;
      readonly y: number;
      readonly width: number;
      readonly height: number;
      readonly radius: number;
      readonly fill: Colour;
    }
  | {
      readonly kind: 'text';
      readonly x: number;
      /** Of the base line. */
      readonly y: number;
      readonly size: number;
      readonly isCode: boolean;
      readonly isBold: boolean;
      readonly spans: readonly TextRun[];
    };

/** What is said of a step beside what it is. */
export interface StepNotes {
  readonly chosen: Chosen;
  readonly hiddenUnder: ReadonlyMap<number, number>;
}

const atomSize = 12;
const smallSize = 11;
/** Width of a letter of code by its size; a little more than fonts have, so that nothing is cut by a hair. */
const codeShare = 0.615;
/** The same for bold words, on average. */
const wordShare = 0.66;
const side = 12;
const least = 150;
const greatest = 340;
const lineHeight = 17;

/** Letters of the far east take the place of two. */
function lettersOf(text: string): number {
  let count = 0;
  for (const letter of text)
    count += /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/.test(letter)
      ? 2
      : 1;
  return count;
}

/** The text, cut to a number of letters; what is cut ends in an ellipsis. */
export function cut(text: string, letters: number): string {
  if (text.length * 2 <= letters || lettersOf(text) <= letters) return text;
  let left = Math.max(0, letters - 1);
  let result = '';
  for (const letter of text) {
    left -= lettersOf(letter);
    if (left < 0) break;
    result += letter;
  }
  return `${result}…`;
}

/** What stands beside the kind: the scope, the way, what is hidden, where else it is shown. */
function notesOn(row: OutlineRow, { chosen, hiddenUnder }: StepNotes): string[] {
  const { step } = row;
  const hidden = hiddenUnder.get(step.id) ?? 0;
  return [
    ...(waysTo(step) > 1 ? [`way ${wayInWords(chosen, step)}`] : []),
    ...(step.scope === null ? [] : [`in ${step.scope}`]),
    ...(hidden === 0 ? [] : [`${hidden} known hidden`]),
    ...(row.isReference && step.premises.length > 0 ? ['folded elsewhere'] : []),
  ];
}

/** The kind in a word with the notes: what is said of a step in its second line. */
export function kindLine(row: OutlineRow, notes: StepNotes): string {
  return [wordOf(row.step).word, ...notesOn(row, notes)].join(' · ');
}

function wordWidth(text: string): number {
  return lettersOf(text) * smallSize * wordShare;
}

/** Lines of a box: steps by rules have one more, for what the variables stand for. */
function linesOf(step: ProofStep): number {
  return step.rule === null ? 2 : 3;
}

export function sizeOfNode(row: OutlineRow, notes: StepNotes): Size {
  const { step } = row;
  const atom = lettersOf(step.atom) * atomSize * codeShare;
  const tag = wordWidth(kindLine(row, notes)) + 14;
  const rule = step.rule === null ? 0 : 8 + lettersOf(step.rule) * smallSize * codeShare;
  const width = Math.min(greatest, Math.max(least, atom + 2 * side, Math.min(tag + rule, 300) + 2 * side));
  return { width: Math.ceil(width), height: linesOf(step) * lineHeight + 12 };
}

const tokenColours: Partial<Record<TokenKind, Colour>> = {
  predicate: '--code-predicate',
  variable: '--code-variable',
  string: '--code-string',
  number: '--code-number',
  keyword: '--code-keyword',
  operator: '--code-operator',
};

function codeSpans(text: string): TextRun[] {
  return lexLine(text, false).tokens.map(({ start, end, kind }) => ({
    text: text.slice(start, end),
    colour: tokenColours[kind] ?? '--text',
  }));
}

/** The colours of a kind: of its word, and of the plate under it. */
export function coloursOf(tone: Tone): { word: Colour; plate: Colour } {
  return tone === 'plain'
    ? { word: '--text-dim', plate: '--surface-hover' }
    : { word: `--${tone}`, plate: `--${tone}-surface` };
}

/** What is written in a box, from its left upper corner on; the box itself is drawn by its owner. */
export function shapesOf(
  row: OutlineRow,
  size: Size,
  notes: StepNotes,
  bindings: readonly VariableBinding[],
): Shape[] {
  const { step } = row;
  const inner = size.width - 2 * side;
  const { word, plate } = coloursOf(wordOf(step).tone);
  const kind = cut(kindLine(row, notes), Math.floor((inner - 14) / (smallSize * wordShare)));
  const plateWidth = wordWidth(kind) + 14;
  const small = { kind: 'text', size: smallSize, isBold: false } as const;
  const atom = cut(step.atom, Math.floor(inner / (atomSize * codeShare)));
  const shapes: Shape[] = [
    { kind: 'text', x: side, y: 19, size: atomSize, isCode: true, isBold: false, spans: codeSpans(atom) },
    { kind: 'box', x: side - 2, y: 25, width: plateWidth, height: 16, radius: 8, fill: plate },
    { ...small, x: side + 5, y: 37, isCode: false, isBold: true, spans: [{ text: kind, colour: word }] },
  ];
  if (step.rule === null) return shapes;
  const ruleRoom = Math.floor((inner - plateWidth - 6) / (smallSize * codeShare));
  if (ruleRoom >= 8)
    shapes.push({
      ...small,
      x: side + plateWidth + 5,
      y: 37,
      isCode: true,
      spans: [{ text: cut(step.rule, ruleRoom), colour: '--text-dim' }],
    });
  const text = bindings.map(([variable, constant]) => `${variable} = ${constant}`).join(', ');
  shapes.push({
    ...small,
    x: side,
    y: 54,
    isCode: true,
    spans: [{ text: cut(text, Math.floor(inner / (smallSize * codeShare))), colour: '--text-dim' }],
  });
  return shapes;
}

/** The diameter of the mark that folds and unfolds a step, at the right edge of its box. */
export const foldSize = 18;

/** What the mark says; null where there is nothing to fold. */
export function foldMark(row: OutlineRow, isUnfolded: boolean): '+' | '−' | null {
  if (!isFoldable(row)) return null;
  return isUnfolded ? '−' : '+';
}

/** The way of an edge: from the right edge of a box, by its bends, to the left edge of another. */
export function edgePath(points: readonly number[]): string {
  const at = (index: number) => Math.round((points[index] ?? 0) * 10) / 10;
  let path = `M${at(0)} ${at(1)}`;
  for (let index = 2; index < points.length; index += 2) {
    const middle = Math.round(((at(index - 2) + at(index)) / 2) * 10) / 10;
    path += `C${middle} ${at(index - 1)} ${middle} ${at(index + 1)} ${at(index)} ${at(index + 1)}`;
  }
  return path;
}
