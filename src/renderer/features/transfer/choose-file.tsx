import { Button } from '@mantine/core';
import { IconFileImport } from '@tabler/icons-react';
import { type DragEvent, type ReactNode, useRef, useState } from 'react';
import { acceptedFiles } from './formats.ts';
import styles from './transfer.module.css';

interface ChooseFileProps {
  onFile: (file: File) => void;
}

/** Returns true while a drag contains files. */
function hasFiles(event: DragEvent): boolean {
  return event.dataTransfer.types.includes('Files');
}

/** Shows where to drop or choose a file. */
export function ChooseFile({ onFile }: ChooseFileProps) {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setIsOver] = useState(false);

  /** The view below the dialog accepts files too. */
  function onDrop(event: DragEvent): void {
    event.preventDefault();
    event.stopPropagation();
    setIsOver(false);
    const file = event.dataTransfer.files[0];
    if (file !== undefined) onFile(file);
  }

  return (
    <div
      className={`${styles.choose} ${isOver ? styles.over : ''}`}
      onDragOver={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        event.stopPropagation();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={onDrop}
    >
      <IconFileImport size={30} stroke={1.3} aria-hidden />
      <p>
        <strong>Drop a file here</strong>, or choose one.
      </p>
      <Button data-autofocus onClick={() => input.current?.click()}>
        Choose a file…
      </Button>
      <p className={styles.small}>CSV, TSV, NDJSON, statements, Turtle or N-Triples, of any size.</p>
      <input
        ref={input}
        type="file"
        hidden
        accept={acceptedFiles}
        aria-label="File to import"
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          if (file !== undefined) onFile(file);
        }}
      />
    </div>
  );
}

interface DropAreaProps {
  onFile: (file: File) => void;
  children: ReactNode;
}

/** Shows content onto which a file can be dropped for import. */
export function DropArea({ onFile, children }: DropAreaProps) {
  const [isOver, setIsOver] = useState(false);

  function onDragOver(event: DragEvent): void {
    if (!hasFiles(event)) return;
    event.preventDefault();
    setIsOver(true);
  }

  function onDrop(event: DragEvent): void {
    if (!hasFiles(event)) return;
    event.preventDefault();
    setIsOver(false);
    const file = event.dataTransfer.files[0];
    if (file !== undefined) onFile(file);
  }

  return (
    <div
      className={styles.drop}
      onDragOver={onDragOver}
      onDragLeave={(event) => {
        // Only when leaving the view, not between its parts.
        const to = event.relatedTarget;
        if (!(to instanceof Node) || !event.currentTarget.contains(to)) setIsOver(false);
      }}
      onDrop={onDrop}
    >
      {children}
      {isOver && (
        <div className={`flex-column gap-8 ${styles.dropHere}`}>
          <IconFileImport size={36} stroke={1.3} aria-hidden />
          Drop the file to import it
        </div>
      )}
    </div>
  );
}
