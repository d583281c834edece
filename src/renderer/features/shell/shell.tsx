/**
 * The frame around every view: where one is, how the service stands, the tools, and everything by name.
 *
 * It follows the changes of the space it shows; views below only say what they need.
 */
import { Tooltip, UnstyledButton } from '@mantine/core';
import { spotlight } from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import icon from '../../../../resources/icons/corollary-small.svg';
import type { EventStream } from '../../api/event-stream.ts';
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

interface ShellProps {
  commands: readonly Command[];
  goTo: GoTo;
  children: ReactNode;
}

export function Shell({ commands, goTo, children }: ShellProps) {
  const { endpoint } = useSession();
  const client = useQueryClient();
  const stream = useRef<EventStream | null>(null);
  const isMissing = useLive(
    ({ stream: state }) => state.kind === 'waiting' && state.failure.code === 'DatabaseNotFound',
  );
  const [helpIsOpen, setHelpIsOpen] = useState(false);

  useEffect(() => {
    const opened = followChanges(client, endpoint);
    stream.current = opened;
    return () => opened.close();
  }, [client, endpoint]);

  const all = useMemo<Command[]>(
    () => [
      {
        id: 'help.shortcuts',
        title: 'Show keyboard shortcuts',
        group: 'Workbench',
        keys: '?',
        run: () => setHelpIsOpen(true),
      },
      { id: 'palette', title: 'Search everything', group: 'Workbench', keys: 'Mod+K', run: spotlight.toggle },
      ...commands,
    ],
    [commands],
  );
  useCommandKeys(all);

  return (
    <div className={styles.shell}>
      <header className={styles.titleBar}>
        <span className={styles.brand}>
          <img src={icon} alt="" width={20} height={20} />
          Corollary
        </span>
        <SpaceSwitchers goTo={goTo} />
        <span className={styles.gap} />
        <Tooltip label="Search everything">
          <UnstyledButton className={styles.search} onClick={spotlight.open}>
            <IconSearch size={14} aria-hidden />
            <span>Search</span>
            <Keys keys="Mod+K" />
          </UnstyledButton>
        </Tooltip>
        <span className={styles.gap} />
        <ConnectionStatus />
      </header>
      <Rail />
      <div className={styles.content}>
        {isMissing ? (
          <main className={styles.view}>
            <MissingDatabase goTo={goTo} />
          </main>
        ) : (
          <>
            <ConnectionBanner onRetry={() => stream.current?.retryNow()} />
            <main className={styles.view}>{children}</main>
          </>
        )}
      </div>
      <Palette commands={all.filter((command) => command.id !== 'palette')} />
      {helpIsOpen && <ShortcutsDialog commands={all} onClose={() => setHelpIsOpen(false)} />}
      <SignIn />
    </div>
  );
}
