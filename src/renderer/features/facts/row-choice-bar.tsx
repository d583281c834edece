import { ActionIcon, Button, Loader, Menu } from '@mantine/core';
import { IconChevronDown, IconX } from '@tabler/icons-react';
import { draggedName, dragOutOf } from '../../api/drag-out.ts';
import { Permitted } from '../../api/permitted.tsx';
import { formatAmount } from '../../ui/format.ts';
import { keysLabel } from '../../ui/tags.tsx';
import { Tooltip } from '../../ui/tooltip.tsx';
import styles from './facts.module.css';
import type { RowChoice } from './row-choice.ts';
import { type RowsFormat, rowsFormats } from './rows-text.ts';

interface FormatMenuProps {
  title: string;
  /** The keys that do the same in that format. */
  keys?: { readonly format: RowsFormat; readonly keys: string };
  formats: readonly RowsFormat[];
  onFormat: (format: RowsFormat) => void;
  isBusy: boolean;
  /** What the button drags out of the window. */
  dragged?: ReturnType<typeof dragOutOf>;
}

function FormatMenu({ title, keys, formats, onFormat, isBusy, dragged = {} }: FormatMenuProps) {
  return (
    <Menu position="top-start">
      <Menu.Target>
        <Button
          variant="default"
          disabled={isBusy}
          rightSection={<IconChevronDown size={13} aria-hidden />}
          {...dragged}
        >
          {title}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {formats.map((format) => (
          <Menu.Item
            key={format}
            rightSection={
              keys?.format === format ? <span className="dim">{keysLabel(keys.keys)}</span> : null
            }
            onClick={() => onFormat(format)}
          >
            As {rowsFormats[format].label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** The bar below the grid while rows are selected. */
export function RowChoiceBar({ choice }: { choice: RowChoice }) {
  const { count, isBusy } = choice;
  return (
    <section className={`controls-bar gap-4-8 on-panel ${styles.choice}`} aria-label="Selected rows">
      <strong className="number" role="status">
        {formatAmount(count, 'row')} selected
      </strong>
      <FormatMenu
        title="Copy"
        keys={{ format: 'tsv', keys: 'Mod+C' }}
        formats={['tsv', 'json', 'statements']}
        isBusy={isBusy}
        onFormat={(format) => void choice.copy(format)}
      />
      <FormatMenu
        title="Save to a file"
        formats={['ndjson', 'tsv', 'statements']}
        isBusy={isBusy}
        onFormat={(format) => void choice.save(format)}
        dragged={dragOutOf(() => draggedName(choice.name, 'dl'), choice.written)}
      />
      <Permitted operation="commitTransaction">
        <Button variant="default" disabled={isBusy} onClick={() => void choice.remove()}>
          Mark removed
        </Button>
      </Permitted>
      {isBusy && <Loader size={14} role="status" aria-label="Reading rows" />}
      <span className="flex-row gap-6 to-right">
        <Tooltip label={`Drop the selection (${keysLabel('Escape')})`}>
          <ActionIcon aria-label="Drop the selection" onClick={choice.drop}>
            <IconX size={15} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </span>
    </section>
  );
}
