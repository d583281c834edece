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
import { named } from '../../../desktop-contract/commands.ts';
import type { EventStream, StreamState } from '../../api/event-stream.ts';
import { followChanges, invalidate, topics, useLive } from '../../api/live.ts';
import { useCredential } from '../../api/credential.ts';
import { useReaches } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import type { AppCommand } from '../../ui/command.ts';
import { KeyCaps } from '../../ui/tags.tsx';
import { ConnectionBanner, ConnectionStatus } from './connection-status.tsx';
import { FollowedLeader } from './followed-leader.tsx';
import type { GoTo } from './go-to.ts';
import { useHistoryCommands } from './history-commands.tsx';
import { HistoryDialog } from './history-dialog.tsx';
import { MissingDatabase } from './missing-database.tsx';
import { OutOfReach } from './out-of-reach.tsx';
import { Palette } from './palette.tsx';
import { Rail } from './rail.tsx';
import styles from './shell.module.css';
import { ShortcutsDialog } from './shortcuts-dialog.tsx';
import { NotSignedIn, SignIn } from './sign-in.tsx';
import { SpaceSwitchers } from './space-switchers.tsx';
import { useCommandKeys } from './use-command-keys.ts';
import { type DesktopWishes, useDesktop } from './use-desktop.ts';
import { WhoMenu } from './who-menu.tsx';

function TitleBar({ goTo, onSearch }: { goTo: GoTo; onSearch: () => void }) {
  return (
    <header className={styles.titleBar}>
      <div className={styles.start}>
        <span className={styles.brand}>
          <img src={icon} alt="" width={20} height={20} />
          <span className={styles.brandName}>Corollary</span>
        </span>
        <SpaceSwitchers goTo={goTo} />
      </div>
      <Tooltip label="Search everything">
        <UnstyledButton className={styles.search} aria-label="Search" onClick={onSearch}>
          <IconSearch size={14} aria-hidden />
          <span>Search</span>
          <KeyCaps keys="Mod+K" />
        </UnstyledButton>
      </Tooltip>
      <div className={styles.end}>
        <FollowedLeader />
        <ConnectionStatus />
        <WhoMenu />
      </div>
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
  const isReached = useReaches(useSession().space);
  return (
    <div className={styles.content}>
      <NotSignedIn />
      {!isMissing && isReached && <ConnectionBanner onRetry={onRetry} />}
      <main className={styles.view}>
        {!isReached ? <OutOfReach goTo={goTo} /> : isMissing ? <MissingDatabase goTo={goTo} /> : children}
      </main>
    </div>
  );
}

/** Follows the changes of the space that is shown, as whoever is signed in. */
function useFollowing(): { retryNow: () => void } {
  const { endpoint } = useSession();
  const client = useQueryClient();
  const turn = useCredential((credential) => credential.turn);
  const stream = useRef<EventStream | null>(null);
  const seen = useRef(turn);
  useEffect(() => {
    const opened = followChanges(client, endpoint);
    stream.current = opened;
    if (seen.current !== turn) {
      // What was refused to the one before, or was theirs alone, is asked for again.
      seen.current = turn;
      void client.invalidateQueries();
      invalidate(client, endpoint, topics);
    }
    return () => opened.close();
  }, [client, endpoint, turn]);
  return { retryNow: () => stream.current?.retryNow() };
}

const none: readonly AppCommand[] = [];

interface ShellProps {
  commands: readonly AppCommand[];
  goTo: GoTo;
  /** What the desktop application around the page may ask for, beside commands. */
  desktop: DesktopWishes;
  /** Beside whatever view is shown. */
  aside: ReactNode;
  children: ReactNode;
}

export function WorkbenchShell({ commands, goTo, desktop, aside, children }: ShellProps) {
  const { retryNow } = useFollowing();
  const [helpIsOpen, setHelpIsOpen] = useState(false);
  const [historyIsOpen, setHistoryIsOpen] = useState(false);
  const historyCommands = useHistoryCommands(() => setHistoryIsOpen(true));
  const [paletteIsOpen, setPaletteIsOpen] = useState(false);
  const fixed = useMemo<AppCommand[]>(
    () => [
      { ...named('help.shortcuts'), run: () => setHelpIsOpen(true) },
      { ...named('palette'), run: () => setPaletteIsOpen((isOpen) => !isOpen) },
      ...commands,
    ],
    [commands],
  );
  const all = [...fixed, ...historyCommands];
  const isAsking = useCredential((credential) => credential.isAsking);
  const runnable = isAsking ? none : all;
  useCommandKeys(runnable);
  useDesktop(runnable, desktop);

  return (
    <div className={styles.shell}>
      {/* First, so that it hears of keys before what is opened later. */}
      <SignIn />
      <TitleBar goTo={goTo} onSearch={() => setPaletteIsOpen(true)} />
      <Rail />
      <Content goTo={goTo} onRetry={retryNow}>
        {children}
      </Content>
      {aside}
      {paletteIsOpen && (
        <Palette
          commands={all.filter((command) => command.id !== 'palette')}
          onClose={() => setPaletteIsOpen(false)}
        />
      )}
      {historyIsOpen && <HistoryDialog onClose={() => setHistoryIsOpen(false)} />}
      {helpIsOpen && <ShortcutsDialog commands={all} onClose={() => setHelpIsOpen(false)} />}
    </div>
  );
}
