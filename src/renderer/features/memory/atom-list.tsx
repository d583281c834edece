import { useState } from 'react';
import { CodeLine } from '../../editor/code-text.tsx';
import { type Column, DataGrid } from '../../ui/data-grid.tsx';
import { Tag } from '../../ui/tags.tsx';

interface AtomRow {
  readonly atom: string;
  readonly word: string | null;
}

const factColumn: Column<AtomRow> = {
  id: 'fact',
  title: 'Fact',
  width: 220,
  grow: 1,
  cell: ({ atom }) => <CodeLine text={atom} />,
};

const wordColumn: Column<AtomRow> = {
  id: 'why',
  title: 'Why',
  width: 100,
  cell: ({ word }) => word !== null && <Tag>{word}</Tag>,
};

interface AtomListProps {
  label: string;
  atoms: readonly string[];
  /** Returns why the fact at an index is listed. */
  wordAt?: (index: number) => string;
  /** Enter or double click. */
  onOpen?: (atom: string) => void;
}

/** Lists facts known only by their text. */
export function AtomList({ label, atoms, wordAt, onOpen }: AtomListProps) {
  const [selected, setSelected] = useState<number | null>(null);
  return (
    <DataGrid
      label={label}
      columns={wordAt === undefined ? [factColumn] : [factColumn, wordColumn]}
      count={atoms.length}
      rowAt={(index) => {
        const atom = atoms[index];
        return atom === undefined ? undefined : { atom, word: wordAt?.(index) ?? null };
      }}
      selected={selected}
      onSelect={setSelected}
      onOpen={(index) => {
        const atom = atoms[index];
        if (atom !== undefined) onOpen?.(atom);
      }}
    />
  );
}
