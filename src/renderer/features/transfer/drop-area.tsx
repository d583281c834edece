import { IconFileImport } from '@tabler/icons-react';
import { type DragEvent, type ReactNode, useState } from 'react';
import { hasFiles } from './choose-file.tsx';
import styles from './transfer.module.css';

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
