/** Under the grid while several rows are chosen: how many, and what can be done with them. */
import { ActionIcon, Button, Loader, Menu, Tooltip } from '@mantine/core';
import { IconChevronDown, IconX } from '@tabler/icons-react';
import { Permitted } from '../../api/permitted.tsx';
import { formatAmount } from '../../ui/format.ts';
import { keysLabel } from '../../ui/tags.tsx';
import styles from './facts.module.css';
import { type RowsFormat, rowsFormats } from './rows-text.ts';
import type { RowChoice } from './use-row-choice.ts';

interface FormatMenuProps {
  title: string;
  /** Keys that do it in that format. */
  keys?: { readonly format: RowsFormat; readonly keys: string };
  formats: readonly RowsFormat[];
  onFormat: (format: RowsFormat) => void;
  isBusy: boolean;
}

function FormatMenu({ title, keys, formats, onFormat, isBusy }: FormatMenuProps) {
  return (
    <Menu position="top-start">
      <Menu.Target>
        <Button variant="default" disabled={isBusy} rightSection={<IconChevronDown size={13} aria-hidden />}>
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

export function RowChoiceBar({ choice }: { choice: RowChoice }) {
  const { count, isBusy } = choice;
  if (count === 0) return null;
  return (
    <section className={styles.choice} aria-label="Selected rows">
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
      />
      <Permitted operation="commitTransaction">
        <Button variant="default" disabled={isBusy} onClick={() => void choice.remove()}>
          Mark removed
        </Button>
      </Permitted>
      {isBusy && <Loader size={14} role="status" aria-label="Reading rows" />}
      <span className={styles.barActions}>
        <Tooltip label={`Drop the selection (${keysLabel('Escape')})`}>
          <ActionIcon aria-label="Drop the selection" onClick={choice.drop}>
            <IconX size={15} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </span>
    </section>
  );
}
