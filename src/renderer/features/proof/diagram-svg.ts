/** A diagram as an SVG file that needs nothing else: colours as they are on the screen, fonts by name. */
import { coloursOf, foldMark, foldSize, type Colour, type Shape } from './node-drawing.ts';
import type { PlacedDiagram, PlacedNode } from './placed-diagram.ts';
import { wordOf } from './step-words.ts';

export interface SvgLook {
  colourOf(name: Colour): string;
  shapesOf(node: PlacedNode): readonly Shape[];
  isUnfolded(node: PlacedNode): boolean;
  readonly codeFont: string;
  readonly wordFont: string;
}

// XML 1.0 has no way to write these.
// eslint-disable-next-line no-control-regex
const unwritable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** Text as XML has it, in content and in attributes. */
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

function nodeAsSvg(placed: PlacedNode, look: SvgLook): string {
  const { node, width, height } = placed;
  const { step } = node.row;
  const stroke = look.colourOf('--line-strong');
  const bar = look.colourOf(coloursOf(wordOf(step).tone).word);
  const mark = foldMark(node.row, look.isUnfolded(placed));
  return [
    `<g transform="translate(${round(placed.left)} ${round(placed.top)})"><title>${xmlText(step.atom)}</title>`,
    `<rect width="${width}" height="${height}" rx="5" fill="${look.colourOf('--surface')}" stroke="${stroke}"/>`,
    `<rect y="6" width="3" height="${height - 12}" fill="${bar}"/>`,
    // What does not fit is cut by a viewport of its own.
    `<svg width="${width}" height="${height}">`,
    ...look.shapesOf(placed).map((shape) => shapeAsSvg(shape, look)),
    '</svg>',
    ...(mark === '+'
      ? [
          `<circle cx="${width}" cy="${height / 2}" r="${foldSize / 2 - 1}" fill="${look.colourOf('--surface')}" stroke="${stroke}"/>`,
          `<path d="M${width - 4} ${height / 2}h8M${width} ${height / 2 - 4}v8" stroke="${look.colourOf('--text-dim')}"/>`,
        ]
      : []),
    '</g>',
  ].join('\n');
}

/** The whole diagram, whatever of it is seen. */
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
    ...diagram.nodes.map((node) => nodeAsSvg(node, look)),
    '</svg>',
    '',
  ].join('\n');
}
