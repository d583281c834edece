/** Facts that are known by their text alone. */
import { CodeText } from '../../editor/code-text.tsx';
import { type Column, DataGrid } from '../../ui/data-grid.tsx';
import { useState } from 'react';

const columns: readonly Column<string>[] = [
  {
    id: 'fact',
    title: 'Fact',
    width: 220,
    grow: 1,
    cell: (atom) => (
      <span title={atom}>
        <CodeText isLine text={atom} />
      </span>
    ),
  },
];

interface AtomListProps {
  label: string;
  atoms: readonly string[];
  /** Enter or a double click. */
  onOpen?: (atom: string) => void;
}

export function AtomList({ label, atoms, onOpen }: AtomListProps) {
  const [selected, setSelected] = useState<number | null>(null);
  return (
    <DataGrid
      label={label}
      columns={columns}
      count={atoms.length}
      rowAt={(index) => atoms[index]}
      selected={selected}
      onSelect={setSelected}
      onOpen={(index) => {
        const atom = atoms[index];
        if (atom !== undefined) onOpen?.(atom);
      }}
    />
  );
}
