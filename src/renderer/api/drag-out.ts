/** Drags a text out of the window of the desktop application as a file, to the desktop or into another program. */
import type { DragEvent } from 'react';
import { notifyTrouble } from '../ui/notify.tsx';
import { desktopShell } from './desktop.ts';

interface DragSource {
  readonly draggable?: true;
  readonly onDragStart?: (event: DragEvent) => void;
}

const longestName = 100;

/** Returns a file name without the characters that a system refuses. */
export function draggedName(name: string, extension: string): string {
  const bare = name
    .replace(/[/\\:*?"<>|\p{Cc}]+/gu, '_')
    .replace(/^[.\s]+/, '')
    .slice(0, longestName);
  return `${bare === '' ? 'corollary' : bare}.${extension}`;
}

/** Returns the properties of an element that is dragged out as a file; none in a browser. */
export function dragOutOf(name: () => string, text: () => string | Promise<string>): DragSource {
  const shell = desktopShell();
  if (shell === null) return {};
  return {
    draggable: true,
    onDragStart(event) {
      // The application drags in place of the page.
      event.preventDefault();
      Promise.resolve(text())
        .then((written) => shell.dragOut({ name: name(), text: written }))
        .catch((error: unknown) => notifyTrouble('Nothing was dragged', error));
    },
  };
}
