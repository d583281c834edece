/**
 * A proof on paper: its outline as lines of text, by the print dialog of the browser or the system, or as a PDF by the
 * desktop application.
 */
import type { ShellApi } from '../../../desktop-contract/channels.ts';
import styles from './proof.module.css';

interface Paper {
  readonly title: string;
  readonly note: string;
  readonly lines: readonly string[];
}

/** Prints the lines under a title and a note. Returns when the dialog has closed, or at once if it does not block. */
export function printLines(paper: Paper): void {
  const putAway = layOut(paper);
  window.addEventListener('afterprint', putAway, { once: true });
  window.print();
}

/** Saves the same as a PDF. Resolves with false if the user cancels. */
export async function saveLines(paper: Paper, shell: ShellApi, name: string): Promise<boolean> {
  const putAway = layOut(paper);
  try {
    return await shell.savePdf(name);
  } finally {
    putAway();
  }
}

/** Adds what only paper shows to the page; returns how to remove it. */
function layOut({ title, note, lines }: Paper): () => void {
  const paper = document.createElement('section');
  paper.className = styles['printed'] ?? '';
  const heading = document.createElement('h1');
  heading.textContent = title;
  const about = document.createElement('p');
  about.textContent = note;
  paper.append(heading, about, ...lines.map(lineOf));
  document.body.append(paper);
  // A saved PDF is named after the page's title.
  const { title: before } = document;
  document.title = title;
  return () => {
    paper.remove();
    document.title = before;
  };
}

/** One step: its indentation is kept where a long statement wraps. */
function lineOf(line: string): HTMLElement {
  const shown = document.createElement('div');
  const text = line.trimStart();
  shown.textContent = text;
  shown.style.paddingInlineStart = `${line.length - text.length + 2}ch`;
  return shown;
}
