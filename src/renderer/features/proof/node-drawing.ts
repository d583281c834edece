/**
 * A box of the diagram as shapes, identical on the screen and in files.
 *
 * A box contains the statement, the kind and rule, and the substitution. Its width follows from its text, which is
 * truncated; code is monospaced. Colours are names of the theme.
 */
import type { ProofStep } from '../../../engine/contract/inference.ts';
import { isClosedChain, isFoldable, isPointer, type OutlineRow } from '../../../proof/proof-tree.ts';
import { stepWords } from '../../../proof/step-words.ts';
import type { VariableBinding } from '../../../proof/substitution.ts';
import { lexLine, type TokenKind } from '../../../editing/lexer.ts';
import type { Tone } from '../../ui/tags.tsx';
import type { Size } from '../../ui/layout/proof-layout.ts';
import { wayInWords, waysTo, type Chosen } from './shown-proof.ts';

/** A custom property of the theme. */
export type Colour = `--${string}`;

/** A run of text in one colour. */
export interface TextRun {
  readonly text: string;
  readonly colour: Colour;
}

/** A shape of a box. */
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
      /** Of the baseline. */
      readonly y: number;
      readonly size: number;
      readonly isCode: boolean;
      readonly isBold: boolean;
      readonly spans: readonly TextRun[];
    };

/** What the display state says about steps. */
export interface StepNotes {
  readonly chosen: Chosen;
  readonly hiddenUnder: ReadonlyMap<number, number>;
}

const atomSize = 12;
const smallSize = 11;
/** Width of a code character relative to the font size; slightly above real fonts, so that nothing is clipped. */
const codeShare = 0.615;
/** The average for bold words. */
const wordShare = 0.66;
const side = 12;
const least = 150;
const greatest = 340;
const lineHeight = 17;

/** East Asian characters count twice. */
function lettersOf(text: string): number {
  let count = 0;
  for (const letter of text)
    count += /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/.test(letter)
      ? 2
      : 1;
  return count;
}

/** Returns the text truncated to a number of characters, with an ellipsis. */
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

/** Notes beside the kind: scope, alternative, hidden premises, where else it is shown. */
function notesOn(row: OutlineRow, { chosen, hiddenUnder }: StepNotes): string[] {
  const { step } = row;
  const hidden = hiddenUnder.get(step.id) ?? 0;
  return [
    ...(step.chain === undefined || row.isReference ? [] : [`${step.chain.times} times`]),
    ...(waysTo(step) > 1 ? [`way ${wayInWords(chosen, step)}`] : []),
    ...(step.scope === null ? [] : [`in ${step.scope}`]),
    ...(hidden === 0 ? [] : [`${hidden} known hidden`]),
    ...(isPointer(row) ? ['folded elsewhere'] : []),
  ];
}

/** Returns a box's second line: kind and notes. */
export function kindLine(row: OutlineRow, notes: StepNotes): string {
  return [stepWords[row.step.kind].word, ...notesOn(row, notes)].join(' · ');
}

function wordWidth(text: string): number {
  return lettersOf(text) * smallSize * wordShare;
}

/** Number of lines in a box; rule steps have one more for the substitution. */
function linesOf(step: ProofStep): number {
  return step.rule === null ? 2 : 3;
}

/** Returns the size of a box. */
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

/** Returns the colours of a kind: of its word and of its plate. */
export function coloursOf(tone: Tone): { word: Colour; plate: Colour } {
  return tone === 'plain'
    ? { word: '--text-dim', plate: '--surface-hover' }
    : { word: `--${tone}`, plate: `--${tone}-surface` };
}

/** Returns the content of a box relative to its upper left corner; the caller draws the frame. */
export function shapesOf(
  row: OutlineRow,
  size: Size,
  notes: StepNotes,
  bindings: readonly VariableBinding[],
): Shape[] {
  const { step } = row;
  const inner = size.width - 2 * side;
  const { word, plate } = coloursOf(stepWords[step.kind].tone);
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
  const text =
    step.chain === undefined
      ? bindings.map(([variable, constant]) => `${variable} = ${constant}`).join(', ')
      : step.chain.along.join(' … ');
  shapes.push({
    ...small,
    x: side,
    y: 54,
    isCode: true,
    spans: [{ text: cut(text, Math.floor(inner / (smallSize * codeShare))), colour: '--text-dim' }],
  });
  return shapes;
}

/** Diameter of the fold marker at the right edge of a box. */
export const foldSize = 18;

/** Returns the fold marker; null if there is nothing to fold. */
export function foldMark(row: OutlineRow, isUnfolded: boolean): '+' | '−' | null {
  if (isClosedChain(row)) return '+';
  if (!isFoldable(row)) return null;
  return isUnfolded ? '−' : '+';
}
