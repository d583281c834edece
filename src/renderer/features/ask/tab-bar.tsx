/**
 * The tab bar, following the ARIA tabs pattern: one stop in the tab order, arrows move to a tab and show it,
 * Delete closes it, F2 renames it. The crosses are for the mouse; keys can do everything too.
 */
import { ActionIcon, Loader, Menu } from '@mantine/core';
import { IconDots, IconPlus, IconX } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useRef } from 'react';
import { useSession } from '../../api/session.tsx';
import { KeyCaps } from '../../ui/tags.tsx';
import { type AskTab, type AskTabs, isUnasked, titleOf } from './ask-tabs.ts';
import { useIsRunning } from './runs-store.ts';
import styles from './ask.module.css';
import { Tooltip } from '../../ui/tooltip.tsx';

/** What users can do with tabs. */
export interface TabActions {
  readonly show: (id: string) => void;
  readonly open: () => void;
  readonly close: (id: string) => void;
  readonly rename: (id: string) => void;
  readonly reopen: () => void;
  /** Moves by so many tabs. */
  readonly step: (by: number) => void;
}

/** The keys that work anywhere in the view. */
export const tabKeys = {
  open: 'Alt+T',
  close: 'Alt+W',
  reopen: 'Alt+Shift+T',
  next: 'Alt+PageDown',
  previous: 'Alt+PageUp',
} as const;

interface TabProps {
  tab: AskTab;
  isActive: boolean;
  actions: TabActions;
  panelId: string;
}

function Tab({ tab, isActive, actions, panelId }: TabProps) {
  const isRunning = useIsRunning(useSession().endpoint, tab.id);
  const button = useRef<HTMLButtonElement>(null);
  const title = titleOf(tab);
  useEffect(() => {
    if (isActive) button.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [isActive]);
  const unasked = tab.shown.question !== undefined && isUnasked(tab);
  return (
    <div role="presentation" className={`${styles.tab} ${isActive ? styles.active : ''}`}>
      <button
        ref={button}
        type="button"
        role="tab"
        id={`${panelId}-${tab.id}`}
        aria-selected={isActive}
        aria-controls={panelId}
        tabIndex={isActive ? 0 : -1}
        className={styles.title}
        title={tab.shown.question ?? title}
        onClick={(event) => {
          // After a click the focus returns to the editor; after a key it stays on the tabs.
          if (event.detail > 0) event.currentTarget.blur();
          actions.show(tab.id);
        }}
        onDoubleClick={() => actions.rename(tab.id)}
        onAuxClick={(event) => {
          if (event.button === 1) actions.close(tab.id);
        }}
      >
        {isRunning && <Loader size={10} aria-hidden />}
        <span className={tab.name === null ? styles.question : styles.name}>{title}</span>
        {isRunning && <span className="visually-hidden">, running</span>}
        {unasked && (
          <span className={styles.unasked} aria-hidden>
            •
          </span>
        )}
        {unasked && <span className="visually-hidden">, changed since it was asked</span>}
      </button>
      <span aria-hidden className={styles.cross} title="Close" onClick={() => actions.close(tab.id)}>
        <IconX size={13} />
      </span>
    </div>
  );
}

function TabMenu({ tabs, actions }: { tabs: AskTabs; actions: TabActions }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label="More tab actions">
          <IconDots size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item rightSection={<KeyCaps keys="F2" />} onClick={() => actions.rename(tabs.active)}>
          Rename the tab…
        </Menu.Item>
        <Menu.Item rightSection={<KeyCaps keys={tabKeys.close} />} onClick={() => actions.close(tabs.active)}>
          Close the tab
        </Menu.Item>
        <Menu.Item
          disabled={tabs.tabs.length < 2}
          onClick={() => {
            for (const { id } of tabs.tabs) if (id !== tabs.active) actions.close(id);
          }}
        >
          Close the other tabs
        </Menu.Item>
        <Menu.Item
          disabled={tabs.closed.length === 0}
          rightSection={<KeyCaps keys={tabKeys.reopen} />}
          onClick={actions.reopen}
        >
          Reopen the last closed tab
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

interface TabBarProps {
  tabs: AskTabs;
  actions: TabActions;
  /** The id of the tab panel. */
  panelId: string;
}

/** The tab bar of the Ask view. */
export function TabBar({ tabs, actions, panelId }: TabBarProps) {
  const list = useRef<HTMLDivElement>(null);
  // Focus follows a tab activated by key, even if the previously focused tab is gone.
  const isByKey = useRef(false);
  useEffect(() => {
    if (isByKey.current) list.current?.querySelector<HTMLElement>('[aria-selected="true"]')?.focus();
    isByKey.current = false;
  }, [tabs.active]);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const first = tabs.tabs[0]?.id ?? tabs.active;
    const last = tabs.tabs.at(-1)?.id ?? tabs.active;
    const moves: Record<string, () => void> = {
      ArrowRight: () => actions.step(1),
      ArrowLeft: () => actions.step(-1),
      Home: () => actions.show(first),
      End: () => actions.show(last),
      Delete: () => actions.close(tabs.active),
      F2: () => actions.rename(tabs.active),
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    isByKey.current = event.key !== 'F2';
    move();
  }

  return (
    <div className={`flex-row gap-2 ${styles.bar}`}>
      <div ref={list} role="tablist" aria-label="Questions" className={styles.list} onKeyDown={onKeyDown}>
        {tabs.tabs.map((tab) => (
          <Tab key={tab.id} tab={tab} isActive={tab.id === tabs.active} actions={actions} panelId={panelId} />
        ))}
      </div>
      <Tooltip label={`New tab (${tabKeys.open})`}>
        <ActionIcon aria-label="New tab" onClick={actions.open}>
          <IconPlus size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <span className="grow" />
      <TabMenu tabs={tabs} actions={actions} />
    </div>
  );
}
