/** A proof as a file: the diagram of what is unfolded as a picture, the whole proof as text or JSON. */
import { download } from '../../ui/download.ts';
import { monospace } from '../../ui/theme.ts';
import type { DiagramGraph } from './diagram-graph.ts';
import { diagramAsSvg } from './diagram-svg.ts';
import { type Colour, shapesOf, type StepNotes } from './node-drawing.ts';
import { laidOut } from './use-layout.ts';
import { scaleOfPicture } from './proof-file.ts';
import type { LookedAt } from './use-looked-at.ts';

interface Picture {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

/** The diagram in the colours of the theme that is on. */
export async function pictureOf(graph: DiagramGraph, notes: StepNotes, lookedAt: LookedAt): Promise<Picture> {
  const diagram = await laidOut(graph);
  const styles = getComputedStyle(document.documentElement);
  const colours = new Map<Colour, string>();
  const svg = diagramAsSvg(diagram, `Proof of ${lookedAt.tree.steps.get(lookedAt.tree.root)?.atom ?? ''}`, {
    colourOf: (name) => {
      const colour = colours.get(name) ?? styles.getPropertyValue(name).trim();
      colours.set(name, colour);
      return colour;
    },
    shapesOf: ({ node }) => shapesOf(node.row, node, notes, lookedAt.bindingsOf(node.row.step)),
    isUnfolded: ({ node }) => lookedAt.state.unfolded.has(node.row.step.id),
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
    // The content security policy allows pictures of this kind of address, and not those of blobs.
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  });
}

/** Rejects with what to do where there can be no such picture. */
async function pngOf({ svg, width, height }: Picture): Promise<Blob> {
  const scale = scaleOfPicture(width, height);
  if (scale === null)
    throw new Error('The diagram is too large for a PNG. Fold some of its steps, or save it as SVG.');
  const image = await loadedImage(svg);
  const canvas = document.createElement('canvas');
  canvas.width = Math.floor(width * scale);
  canvas.height = Math.floor(height * scale);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('The browser gives no canvas to draw on. Save it as SVG instead.');
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob === null)
        reject(new Error('The browser could not make a PNG. Save the diagram as SVG instead.'));
      else resolve(blob);
    }, 'image/png');
  });
}

export function saveText(text: string, type: string, name: string): void {
  download(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

export async function savePng(picture: Picture, name: string): Promise<void> {
  download(name, await pngOf(picture));
}
