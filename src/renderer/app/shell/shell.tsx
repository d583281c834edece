/**
 * The frame around every view: title bar, rail, palette, dialogs and connection state.
 *
 * It follows the change stream of the shown space; views only name the topics they need.
 */
import { UnstyledButton } from '@mantine/core';
import { IconArrowBackUp, IconArrowForwardUp, IconHistory, IconSearch } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import icon from '../../../../resources/icons/corollary-small.svg';
import type { ShellRequest } from '../../../desktop-contract/channels.ts';
import { type CommandState, isCommandId, named } from '../../../desktop-contract/commands.ts';
import { barePlace, linkablePlace } from '../../../desktop-contract/places.ts';
import { useCredential } from '../../api/credential.ts';
import { desktopShell } from '../../api/desktop.ts';
import type { EventStream, StreamState } from '../../api/event-stream.ts';
import { type HistoryDirection, useHistory } from '../../api/history.ts';
import { followChanges, invalidate, topics, useLive } from '../../api/live.ts';
import { useFollowed, useReaches } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { defaultName } from '../../api/space.ts';
import type { AppCommand } from '../../ui/command.ts';
import { isInDialog, isSingleCharacter, isTextField, matchesKeys } from '../../ui/keys.ts';
import { notifyFailure, notifyHint, notifyTrouble, notifyWaiting } from '../../ui/notify.tsx';
import { later } from '../../ui/later.tsx';
import { usePreferences } from '../../ui/preferences.ts';
import { isMac, KeyCaps, Tag } from '../../ui/tags.tsx';
import { useUnsavedLines } from '../../ui/unsaved.ts';
import { useViewCommands } from '../../ui/view-commands.ts';
import { showPalette, usePaletteState } from '../palette-state.ts';
import { ConnectionBanner, ConnectionStatus } from './connection-status.tsx';
import type { GoTo } from './go-to.ts';
import { OutOfReach } from './view-failed.tsx';
import { Rail, viewTitleOf } from './rail.tsx';
import styles from './shell.module.css';
import { MomentSwitcher } from './moment-switcher.tsx';
import { NotSignedIn, SignIn } from './sign-in.tsx';
import { SpaceSwitchers } from './space-switchers.tsx';
import { WhoMenu } from './who-menu.tsx';
import { Tooltip } from '../../ui/tooltip.tsx';

const Palette = later(async () => (await import('./palette.tsx')).Palette, <TypedAhead />);
const ShortcutsDialog = later(async () => (await import('./shortcuts-dialog.tsx')).ShortcutsDialog);
const MissingDatabase = later(async () => (await import('./missing-database.tsx')).MissingDatabase);
const PastBand = later(async () => (await import('./past-band.tsx')).PastBand);
const HistoryDialog = later(async () => (await import('./history-dialog.tsx')).HistoryDialog);

/** Handlers for requests of the desktop application other than commands. */
interface DesktopWishes {
  /** Opens the address of a link. */
  readonly onPlace: (place: string) => void;
  /** Previews a file to import; the user confirms before it is stored. */
  readonly onFile: (file: File) => void;
}

function statesOf(commands: readonly AppCommand[]): CommandState[] {
  return commands.flatMap(({ id, title }) => (isCommandId(id) ? [{ id, title }] : []));
}

/** Registers the commands and serves the requests of the desktop application; does nothing in a browser. */
function useDesktop(commands: readonly AppCommand[], { onPlace, onFile }: DesktopWishes): void {
  const states = JSON.stringify(statesOf(commands));
  useEffect(() => {
    const told = desktopShell()?.setCommands(JSON.parse(states) as CommandState[]);
    told?.catch((error: unknown) => notifyTrouble('The menu was not changed', error));
  }, [states]);

  const isReady = commands.length > 0;
  const obey = useEffectEvent((request: ShellRequest) => {
    switch (request.kind) {
      case 'command':
        commands.find(({ id }) => id === request.id)?.run();
        break;
      case 'place':
        unlessInDialog('A link waits to be opened.', () => onPlace(request.place));
        break;
      case 'notice':
        notifyHint(request.text);
        break;
      case 'file':
        unlessInDialog(`${request.name} waits to be imported.`, () =>
          onFile(new File([request.bytes], request.name)),
        );
        break;
    }
  });
  useEffect(() => {
    const shell = desktopShell();
    if (shell === null || !isReady) return undefined;
    const take = () => {
      shell.takeRequests().then(
        (requests) => requests.forEach((request) => obey(request)),
        (error: unknown) => notifyTrouble('The application could not be asked', error),
      );
    };
    take();
    return shell.onWaiting(take);
  }, [isReady]);
}

/** What the desktop application takes. */
const maxLines = 20;
const longestLine = 300;

/** Names the window after what it shows, and reports that to the desktop application. */
function usePageState(): void {
  const { href, pathname } = useLocation();
  const { database } = useSession().space;
  const unsaved = useUnsavedLines();
  const view = viewTitleOf(pathname);
  const names = [view, database === defaultName ? null : database, 'Corollary'];
  const title = names.filter((name) => name !== null).join(' – ');
  useEffect(() => {
    document.title = title;
    const place = linkablePlace(href) ?? barePlace(href);
    const lines = unsaved === '' ? [] : unsaved.split('\n').slice(0, maxLines);
    const state = {
      place,
      title: title.slice(0, longestLine),
      database,
      unsaved: lines.map((line) => line.slice(0, longestLine)),
    };
    const told = desktopShell()?.setPage(state);
    told?.catch((error: unknown) => notifyTrouble('The window was not described', error));
  }, [href, title, database, unsaved]);
}

/**
 * Does what the application was asked from outside, unless a dialog is open: it would close, and what was typed there
 * would be lost.
 */
function unlessInDialog(waiting: string, run: () => void): void {
  if (document.querySelector('[role="dialog"][aria-modal="true"]') === null) run();
  else notifyWaiting(waiting, 'Open', run);
}

/** Runs commands by shortcut, wherever the focus is. */
function useCommandKeys(commands: readonly AppCommand[]): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    // The first half of its shortcut: what is typed after the second finds the palette's field.
    if (event.key === 'Control' || event.key === 'Meta') Palette.load();
    const command = commands.find(({ keys, alsoKeys, isOfView }) => {
      const matches = (each: string | undefined) => each !== undefined && matchesKeys(event, each, isMac);
      if (keys === undefined || !(matches(keys) || matches(alsoKeys))) return false;
      if (isOfView === true && (isTextField(event.target) || isInDialog(event.target))) return false;
      if (!isSingleCharacter(keys)) return true;
      return usePreferences.getState().singleKeys && !isTextField(event.target);
    });
    if (command === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    command.run();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKeyDown(event);
    // Capture, ahead of the editors, which use some of these keys themselves.
    window.addEventListener('keydown', listener, { capture: true });
    return () => window.removeEventListener('keydown', listener, { capture: true });
  }, []);
}

const small = { size: 16, stroke: 1.6, 'aria-hidden': true } as const;

/** Returns undo, redo and the history as commands; each title names its step. */
function useHistoryCommands(onShow: () => void): AppCommand[] {
  const { next, running, take } = useHistory();
  const { moment } = useSession();

  async function run(way: HistoryDirection): Promise<void> {
    // While a step runs, the next one waits; whether there is one is known only then.
    if (moment === null && next[way] === null && running === null) {
      notifyHint(way === 'undo' ? 'There is nothing to undo.' : 'There is nothing to redo.');
      return;
    }
    const failure = await take(way);
    if (failure !== null) notifyFailure(failure);
  }

  return [
    {
      ...named('history.undo'),
      title: next.undo === null ? named('history.undo').title : `Undo: ${next.undo.label}`,
      icon: <IconArrowBackUp {...small} />,
      keys: 'Mod+Z',
      isOfView: true,
      run: () => void run('undo'),
    },
    {
      ...named('history.redo'),
      title: next.redo === null ? named('history.redo').title : `Redo: ${next.redo.label}`,
      icon: <IconArrowForwardUp {...small} />,
      keys: 'Mod+Y',
      alsoKeys: 'Mod+Shift+Z',
      isOfView: true,
      run: () => void run('redo'),
    },
    { ...named('history.show'), icon: <IconHistory {...small} />, run: onShow },
  ];
}

const hint = 'This service takes no writes: its leader does.';

/** Shows in a follower's title bar which leader it follows, with a link. */
function FollowedLeader() {
  const followed = useFollowed();
  if (followed === null) return null;
  const { url } = followed;
  if (url === null)
    return (
      <Tooltip label={hint}>
        <span>
          <Tag>Follower</Tag>
        </span>
      </Tooltip>
    );
  return (
    <Tooltip label={`${hint} Open its workbench in a new window.`}>
      <a className={`inline-row dim no-wrap ${styles.follower}`} href={url} target="_blank" rel="noreferrer">
        Follower of {new URL(url).host}
      </a>
    </Tooltip>
  );
}

function TitleBar({ goTo, onSearch }: { goTo: GoTo; onSearch: () => void }) {
  return (
    <header className={styles.titleBar} data-pane>
      <div className={styles.start}>
        <span className={`flex-row gap-8 ${styles.brand}`}>
          <img src={icon} alt="" width={20} height={20} />
          <span className={styles.brandName}>Corollary</span>
        </span>
        <SpaceSwitchers goTo={goTo} />
      </div>
      <Tooltip label="Search everything">
        <UnstyledButton
          className={`flex-row small-print boxed gap-8 ${styles.search}`}
          aria-label="Search"
          onPointerEnter={Palette.load}
          onFocus={Palette.load}
          onClick={onSearch}
        >
          <IconSearch size={14} aria-hidden />
          <span>Search</span>
          <KeyCaps keys="Mod+K" />
        </UnstyledButton>
      </Tooltip>
      <div className={styles.end}>
        <FollowedLeader />
        <MomentSwitcher />
        <ConnectionStatus />
        <WhoMenu />
      </div>
    </header>
  );
}

/** Returns true from the failure that reports the database missing until the stream connects. */
function useIsMissing(): boolean {
  const { database } = useSession().space;
  const stream = useLive((state) => state.stream);
  const [missing, setMissing] = useState<string | null>(null);
  // A retry under way leaves the value alone, so that the view does not flicker.
  const onState = useEffectEvent((state: StreamState) => {
    if (state.kind === 'waiting') setMissing(state.failure.code === 'DatabaseNotFound' ? database : null);
    else if (state.kind === 'live') setMissing(null);
  });
  useEffect(() => onState(stream), [stream]);
  return missing === database;
}

/** Shows the view, with connection and sign-in banners above it. */
function Content({ goTo, onRetry, children }: { goTo: GoTo; onRetry: () => void; children: ReactNode }) {
  const isMissing = useIsMissing();
  const { space, moment } = useSession();
  const isReached = useReaches(space);
  const isPast = moment !== null;
  return (
    <div className={styles.content} data-past={isPast}>
      <NotSignedIn />
      {!isMissing && isReached && <ConnectionBanner onRetry={onRetry} />}
      {isPast && <PastBand />}
      <main className={styles.view}>
        {!isReached ? <OutOfReach goTo={goTo} /> : isMissing ? <MissingDatabase goTo={goTo} /> : children}
      </main>
    </div>
  );
}

/** Follows the changes of the shown space as the current user. */
function useFollowing(): { retryNow: () => void } {
  const { present } = useSession();
  const client = useQueryClient();
  const turn = useCredential((credential) => credential.turn);
  const stream = useRef<EventStream | null>(null);
  const seen = useRef(turn);
  useEffect(() => {
    const opened = followChanges(client, present);
    stream.current = opened;
    if (seen.current !== turn) {
      // Results of the previous key, refusals included, are fetched again.
      seen.current = turn;
      void client.invalidateQueries();
      invalidate(client, present, topics);
    }
    return () => opened.close();
  }, [client, present, turn]);
  return { retryNow: () => stream.current?.retryNow() };
}

/** Takes what is typed after the shortcut of the palette until its code has arrived: it goes on from there. */
function TypedAhead() {
  const typed = usePaletteState(({ typedAhead }) => typedAhead);
  return (
    <div className={styles.typedAhead}>
      <input
        autoFocus
        aria-label="Search everything"
        value={typed}
        onChange={(event) =>
          usePaletteState.setState({ typedAhead: event.currentTarget.value, isSent: false })
        }
        onKeyDown={({ key }) => {
          if (key === 'Enter') usePaletteState.setState({ isSent: true });
          else if (key === 'Escape') showPalette(false);
        }}
      />
    </div>
  );
}

const none: readonly AppCommand[] = [];

interface ShellProps {
  commands: readonly AppCommand[];
  goTo: GoTo;
  /** Requests of the desktop application other than commands. */
  desktop: DesktopWishes;
  /** Shown beside every view. */
  aside: ReactNode;
  children: ReactNode;
}

/** Shows the frame with the current view in it. */
export function WorkbenchShell({ commands, goTo, desktop, aside, children }: ShellProps) {
  const { retryNow } = useFollowing();
  const [helpIsOpen, setHelpIsOpen] = useState(false);
  const [historyIsOpen, setHistoryIsOpen] = useState(false);
  const historyCommands = useHistoryCommands(() => setHistoryIsOpen(true));
  const paletteIsOpen = usePaletteState(({ isOpen }) => isOpen);
  const fixed = useMemo<AppCommand[]>(
    () => [
      { ...named('help.shortcuts'), run: () => setHelpIsOpen(true) },
      { ...named('palette'), run: () => showPalette(!usePaletteState.getState().isOpen) },
      ...commands,
    ],
    [commands],
  );
  const ofView = useViewCommands(({ commands: offered }) => offered);
  const all = [...fixed, ...historyCommands, ...ofView];
  const isAsking = useCredential((credential) => credential.isAsking);
  const runnable = isAsking ? none : all;
  useCommandKeys(runnable);
  useDesktop(runnable, desktop);
  usePageState();

  return (
    <div className={styles.shell}>
      {/* First, so that its key listener precedes those of later dialogs. */}
      <SignIn />
      <TitleBar goTo={goTo} onSearch={() => showPalette(true)} />
      <Rail />
      <Content goTo={goTo} onRetry={retryNow}>
        {children}
      </Content>
      {aside}
      {paletteIsOpen && (
        <Palette
          commands={all.filter((command) => command.id !== 'palette')}
          onClose={() => showPalette(false)}
        />
      )}
      {historyIsOpen && <HistoryDialog onClose={() => setHistoryIsOpen(false)} />}
      {helpIsOpen && <ShortcutsDialog commands={all} onClose={() => setHelpIsOpen(false)} />}
    </div>
  );
}
