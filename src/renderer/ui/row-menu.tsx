/**
 * The menu of a row, where it was asked for: by a right click at the pointer, by Shift+F10 or the menu key at the cell.
 *
 * A menu after the ARIA pattern: arrows, Home, End and letters move, Escape and Tab close it and give the focus back.
 */
import { Menu } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';
import { keysLabel } from './tags.tsx';

export interface RowMenuItem {
  readonly label: string;
  readonly icon?: ReactNode;
  /** Keys that do the same on the row, as `Delete` or `Mod+C`. */
  readonly keys?: string;
  readonly isDangerous?: true;
  /** Why it cannot be done; null: it can. */
  readonly reason?: string | null;
  readonly onClick: () => void;
}

/** Items in groups, between which a line is drawn; groups without an item are none. */
export type RowMenuGroups = readonly (readonly RowMenuItem[])[];

export interface MenuPoint {
  readonly x: number;
  readonly y: number;
}

interface RowMenuProps {
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
      // The key that opened it is still on its way when the menu is there.
      clickOutsideEvents={['mousedown', 'touchstart']}
      // The first item has the focus, not what stands before it.
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
