/**
 * The frame around every view: where one is, how the service stands, the tools, and everything by name.
 *
 * It follows the changes of the space it shows; views below only say what they need.
 */
import { Tooltip, UnstyledButton } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import icon from '../../../../resources/icons/corollary-small.svg';
import type { EventStream, StreamState } from '../../api/event-stream.ts';
import { followChanges, useLive } from '../../api/live.ts';
import { useSession } from '../../api/session.tsx';
import type { Command } from '../../ui/command.ts';
import { Keys } from '../../ui/tags.tsx';
import { ConnectionBanner, ConnectionStatus } from './connection-status.tsx';
import type { GoTo } from './go-to.ts';
import { MissingDatabase } from './missing-database.tsx';
import { Palette } from './palette.tsx';
import { Rail } from './rail.tsx';
import styles from './shell.module.css';
import { ShortcutsDialog } from './shortcuts-dialog.tsx';
import { SignIn } from './sign-in.tsx';
import { SpaceSwitchers } from './space-switchers.tsx';
import { useCommandKeys } from './use-command-keys.ts';

function TitleBar({ goTo, onSearch }: { goTo: GoTo; onSearch: () => void }) {
  return (
    <header className={styles.titleBar}>
      <span className={styles.brand}>
        <img src={icon} alt="" width={20} height={20} />
        Corollary
      </span>
      <SpaceSwitchers goTo={goTo} />
      <span className={styles.gap} />
      <Tooltip label="Search everything">
        <UnstyledButton className={styles.search} onClick={onSearch}>
          <IconSearch size={14} aria-hidden />
          <span>Search</span>
          <Keys keys="Mod+K" />
        </UnstyledButton>
      </Tooltip>
      <span className={styles.gap} />
      <ConnectionStatus />
    </header>
  );
}

/** True from when the database of the session was found missing until it is there. */
function useIsMissing(): boolean {
  const { database } = useSession().space;
  const stream = useLive((state) => state.stream);
  const [missing, setMissing] = useState<string | null>(null);
  // While an attempt is under way it stays missing, so that the view does not come and go.
  const onState = useEffectEvent((state: StreamState) => {
    if (state.kind === 'waiting') setMissing(state.failure.code === 'DatabaseNotFound' ? database : null);
    else if (state.kind === 'live') setMissing(null);
  });
  useEffect(() => onState(stream), [stream]);
  return missing === database;
}

/** The view, with what is to be said about the connection over it. */
function Content({ goTo, onRetry, children }: { goTo: GoTo; onRetry: () => void; children: ReactNode }) {
  const isMissing = useIsMissing();
  return (
    <div className={styles.content}>
      {!isMissing && <ConnectionBanner onRetry={onRetry} />}
      <main className={styles.view}>{isMissing ? <MissingDatabase goTo={goTo} /> : children}</main>
    </div>
  );
}

/** Follows the changes of the space that is shown. */
function useFollowing(): { retryNow: () => void } {
  const { endpoint } = useSession();
  const client = useQueryClient();
  const stream = useRef<EventStream | null>(null);
  useEffect(() => {
    const opened = followChanges(client, endpoint);
    stream.current = opened;
    return () => opened.close();
  }, [client, endpoint]);
  const { key } = endpoint;
  const usedKey = useRef(key);
  useEffect(() => {
    if (usedKey.current === key) return;
    // What was refused without this key is asked for again.
    usedKey.current = key;
    void client.invalidateQueries();
  }, [client, key]);
  return { retryNow: () => stream.current?.retryNow() };
}

interface ShellProps {
  commands: readonly Command[];
  goTo: GoTo;
  children: ReactNode;
}

export function Shell({ commands, goTo, children }: ShellProps) {
  const { retryNow } = useFollowing();
  const [helpIsOpen, setHelpIsOpen] = useState(false);
  const [paletteIsOpen, setPaletteIsOpen] = useState(false);
  const all = useMemo<Command[]>(
    () => [
      {
        id: 'help.shortcuts',
        title: 'Show keyboard shortcuts',
        group: 'Workbench',
        keys: '?',
        run: () => setHelpIsOpen(true),
      },
      {
        id: 'palette',
        title: 'Search everything',
        group: 'Workbench',
        keys: 'Mod+K',
        run: () => setPaletteIsOpen((isOpen) => !isOpen),
      },
      ...commands,
    ],
    [commands],
  );
  useCommandKeys(all);

  return (
    <div className={styles.shell}>
      <TitleBar goTo={goTo} onSearch={() => setPaletteIsOpen(true)} />
      <Rail />
      <Content goTo={goTo} onRetry={retryNow}>
        {children}
      </Content>
      {paletteIsOpen && (
        <Palette
          commands={all.filter((command) => command.id !== 'palette')}
          onClose={() => setPaletteIsOpen(false)}
        />
      )}
      {helpIsOpen && <ShortcutsDialog commands={all} onClose={() => setHelpIsOpen(false)} />}
      <SignIn />
    </div>
  );
}
