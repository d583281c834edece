/** A proof as a file: the unfolded part as a picture, the whole proof as text or JSON. */
import { download } from '../../ui/download.ts';
import { monospace } from '../../ui/theme.ts';
import { stepWords } from '../../../proof/step-words.ts';
import type { DiagramGraph, PlacedDiagram, PlacedNode } from './diagram.ts';
import {
  type Colour,
  coloursOf,
  foldMark,
  foldSize,
  type Shape,
  shapesOf,
  type StepNotes,
} from './node-drawing.ts';
import { laidOut } from './use-layout.ts';
import type { ProofDisplay } from './use-proof-display.ts';

/** Browsers' limits of a picture: pixels per side, and in total. */
const maxSide = 16_000;
const maxArea = 80_000_000;
/** For high-density screens. */
const bestScale = 2;
/** Below this scale text is unreadable. */
const minScale = 0.4;

/** Returns the scale of a picture; null if it would be too large. */
export function scaleOfPicture(width: number, height: number): number | null {
  const scale = Math.min(bestScale, maxSide / width, maxSide / height, Math.sqrt(maxArea / (width * height)));
  return scale < minScale ? null : scale;
}

/** Returns an ASCII file name: `proof-ancestor-ada-bob.svg`. */
export function fileNameOf(statement: string, extension: string): string {
  const plain = statement
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60);
  return `proof-${plain === '' ? 'steps' : plain}.${extension}`;
}

/** Colours and fonts of the picture. */
export interface SvgLook {
  colourOf(name: Colour): string;
  shapesOf(node: PlacedNode): readonly Shape[];
  isUnfolded(node: PlacedNode): boolean;
  readonly codeFont: string;
  readonly wordFont: string;
}

// XML 1.0 cannot represent these.
// eslint-disable-next-line no-control-regex
const unwritable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** Escapes text for XML content and attributes. */
export function xmlText(text: string): string {
  return text
    .replaceAll(unwritable, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

function shapeAsSvg(shape: Shape, look: SvgLook): string {
  if (shape.kind === 'box') {
    const { x, y, width, height, radius, fill } = shape;
    return `<rect x="${x}" y="${y}" width="${round(width)}" height="${height}" rx="${radius}" fill="${look.colourOf(fill)}"/>`;
  }
  const { x, y, size, isCode, isBold, spans } = shape;
  const font = `font-family="${xmlText(isCode ? look.codeFont : look.wordFont)}" font-size="${size}"`;
  const texts = spans.map(
    ({ text, colour }) => `<tspan fill="${look.colourOf(colour)}">${xmlText(text)}</tspan>`,
  );
  return `<text x="${round(x)}" y="${y}" ${font}${isBold ? ' font-weight="600"' : ''} xml:space="preserve">${texts.join('')}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function nodeAsSvg(placed: PlacedNode, isDown: boolean, look: SvgLook): string {
  const { node, width, height } = placed;
  const [cx, cy] = isDown ? [width / 2, height] : [width, height / 2];
  const { step } = node.row;
  const stroke = look.colourOf('--line-strong');
  const bar = look.colourOf(coloursOf(stepWords[step.kind].tone).word);
  const mark = foldMark(node.row, look.isUnfolded(placed));
  return [
    `<g transform="translate(${round(placed.left)} ${round(placed.top)})"><title>${xmlText(step.atom)}</title>`,
    `<rect width="${width}" height="${height}" rx="5" fill="${look.colourOf('--surface')}" stroke="${stroke}"/>`,
    `<rect y="6" width="3" height="${height - 12}" fill="${bar}"/>`,
    // Clipped by a viewport of its own.
    `<svg width="${width}" height="${height}">`,
    ...look.shapesOf(placed).map((shape) => shapeAsSvg(shape, look)),
    '</svg>',
    ...(mark === '+'
      ? [
          `<circle cx="${cx}" cy="${cy}" r="${foldSize / 2 - 1}" fill="${look.colourOf('--surface')}" stroke="${stroke}"/>`,
          `<path d="M${cx - 4} ${cy}h8M${cx} ${cy - 4}v8" stroke="${look.colourOf('--text-dim')}"/>`,
        ]
      : []),
    '</g>',
  ].join('\n');
}

/** Returns the whole diagram as a self-contained SVG file. */
export function diagramAsSvg(diagram: PlacedDiagram, title: string, look: SvgLook): string {
  const width = Math.ceil(diagram.width);
  const height = Math.ceil(diagram.height);
  const line = look.colourOf('--line-strong');
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${xmlText(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="${look.colourOf('--surface')}"/>`,
    `<g fill="none" stroke="${line}" stroke-width="1.5">`,
    ...diagram.edges.map(
      ({ edge, path }) => `<path d="${path}"${edge.isCircle ? ' stroke-dasharray="5 4"' : ''}/>`,
    ),
    '</g>',
    ...diagram.nodes.map((node) => nodeAsSvg(node, diagram.isDown, look)),
    '</svg>',
    '',
  ].join('\n');
}

interface Picture {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

/** Returns the picture of the diagram in the current theme. */
export async function pictureOf(
  graph: DiagramGraph,
  notes: StepNotes,
  display: ProofDisplay,
): Promise<Picture> {
  const diagram = await laidOut(graph, display.look.flow === 'down');
  const styles = getComputedStyle(document.documentElement);
  const colours = new Map<Colour, string>();
  const svg = diagramAsSvg(diagram, `Proof of ${display.tree.root.atom}`, {
    colourOf: (name) => {
      const colour = colours.get(name) ?? styles.getPropertyValue(name).trim();
      colours.set(name, colour);
      return colour;
    },
    shapesOf: ({ node }) => shapesOf(node.row, node, notes, display.bindingsOf(node.row.step)),
    isUnfolded: ({ node }) => display.state.unfolded.has(node.row.key),
    codeFont: monospace,
    wordFont: 'system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif',
  });
  return { svg, width: Math.ceil(diagram.width), height: Math.ceil(diagram.height) };
}

function loadedImage(svg: string): Promise<HTMLImageElement> {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve(image);
    image.onerror = () =>
      reject(new Error('The browser could not draw the diagram. Save it as SVG instead.'));
    // The content security policy allows data: images but not blob: ones.
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  });
}

/** Rejects with advice if no such picture is possible. */
async function pngOf({ svg, width, height }: Picture): Promise<Blob> {
  const scale = scaleOfPicture(width, height);
  if (scale === null)
    throw new Error('The diagram is too large for a PNG. Fold some of its steps, or save it as SVG.');
  const image = await loadedImage(svg);
  const canvas = document.createElement('canvas');
  canvas.width = Math.floor(width * scale);
  canvas.height = Math.floor(height * scale);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('The browser has no canvas. Save it as SVG instead.');
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob === null) reject(new Error('The browser could not make a PNG. Save it as SVG instead.'));
      else resolve(blob);
    }, 'image/png');
  });
}

/** Saves a text as a file. */
export function saveText(text: string, type: string, name: string): void {
  download(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

/** Saves a picture as PNG; rejects with advice if that is impossible. */
export async function savePng(picture: Picture, name: string): Promise<void> {
  download(name, await pngOf(picture));
}
