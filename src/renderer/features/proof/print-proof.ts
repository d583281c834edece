/** A proof on paper: its outline as lines of text, by the browser's or the system's print dialog, which makes PDFs too. */
import styles from './proof.module.css';

/** Prints the lines under a title and a note. Returns when the dialog has closed, or at once if it does not block. */
export function printLines(title: string, note: string, lines: readonly string[]): void {
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
  const putAway = () => {
    paper.remove();
    document.title = before;
  };
  window.addEventListener('afterprint', putAway, { once: true });
  window.print();
}

/** One step: its indentation is kept where a long statement wraps. */
function lineOf(line: string): HTMLElement {
  const shown = document.createElement('div');
  const text = line.trimStart();
  shown.textContent = text;
  shown.style.paddingInlineStart = `${line.length - text.length + 2}ch`;
  return shown;
}
