import { ActionIcon, Menu } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';
import { keysLabel } from './tags.tsx';
import { Tooltip } from './tooltip.tsx';

interface RowActionProps {
  label: string;
  icon: ReactNode;
  onClick: () => void;
}

/** Shows a mouse-only button in a grid row; by keyboard the same acts on the row. It does not select the row. */
export function RowAction({ label, icon, onClick }: RowActionProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        size={24}
        tabIndex={-1}
        aria-label={label}
        onClick={(event) => {
          event.stopPropagation();
          onClick();
        }}
        onDoubleClick={(event) => event.stopPropagation()}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}

/** An item of a row's menu. */
export interface RowMenuItem {
  readonly label: string;
  readonly icon?: ReactNode;
  /** Equivalent keys on the row, such as `Delete` or `Mod+C`. */
  readonly keys?: string;
  readonly isDangerous?: true;
  /** Why it is unavailable; null if available. */
  readonly reason?: string | null;
  readonly onClick: () => void;
}

/** Groups of items, separated by lines; empty groups are skipped. */
export type RowMenuGroups = readonly (readonly RowMenuItem[])[];

/** Screen position of a menu. */
export interface MenuPoint {
  readonly x: number;
  readonly y: number;
}

/** What a menu shows, and where. */
export interface RowMenuProps {
  label: string;
  at: MenuPoint;
  groups: RowMenuGroups;
  onClose: () => void;
}

function Item({ item, isFirst }: { item: RowMenuItem; isFirst: boolean }) {
  const { label, icon, keys, isDangerous, reason = null, onClick } = item;
  return (
    <Menu.Item
      leftSection={icon ?? <span style={{ width: 15 }} />}
      rightSection={keys === undefined ? undefined : <span className="dim">{keysLabel(keys)}</span>}
      {...(isDangerous === undefined ? {} : { color: 'red' })}
      {...(isFirst ? { 'data-autofocus': true } : {})}
      {...(reason === null ? { onClick } : { disabled: true, title: reason })}
    >
      {label}
    </Menu.Item>
  );
}

/**
 * Shows the menu of a row: at the pointer after a right click, at the cell after Shift+F10 or the menu key.
 *
 * Follows the ARIA menu pattern: arrows, Home, End and letters move, Escape and Tab close it and restore the focus.
 */
export function RowMenu({ label, at, groups, onClose }: RowMenuProps) {
  const shown = groups.filter((group) => group.length > 0);
  return (
    <Menu
      opened
      onChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
      position="bottom-start"
      offset={2}
      width={280}
      // The key press that opened it is still being handled.
      clickOutsideEvents={['mousedown', 'touchstart']}
      // Focuses the first item, not the placeholder before it.
      withInitialFocusPlaceholder={false}
      withinPortal
    >
      <Menu.Target>
        <span
          aria-hidden
          style={{ position: 'fixed', left: at.x, top: at.y, width: 1, height: 1, pointerEvents: 'none' }}
        />
      </Menu.Target>
      <Menu.Dropdown aria-label={label} style={{ maxHeight: '80vh', overflowY: 'auto' }}>
        {shown.map((group, index) => (
          <Fragment key={group[0]?.label}>
            {index > 0 && <Menu.Divider />}
            {group.map((item, place) => (
              <Item key={item.label} item={item} isFirst={index === 0 && place === 0} />
            ))}
          </Fragment>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
