/**
 * Files that a page drags out of the window. Electron drags only what is on disk, so each is written to a folder of its
 * own among the system's temporary files, which goes when the program ends.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DraggedFile } from '../../desktop-contract/channels.ts';

const folders: string[] = [];

/** Writes the file where only the user can read it; returns its path. */
export function writeDragged({ name, text }: DraggedFile): string {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-drag-'));
  folders.push(folder);
  const file = join(folder, name);
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

/** Removes all files that were dragged. */
export function removeDragged(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}
