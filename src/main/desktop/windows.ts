/**
 * The open windows, the one in front first, each with what waits for its page and what its page has reported.
 *
 * A window shows one database at a time: a place of a database opens in a window that shows it, or in one of its own.
 * The windows that are open at the end are opened again by the next start.
 */
import { app, type BrowserWindow, screen, type WebContents } from 'electron';
import { type PageState, type ShellRequest, waitingChannel } from '../../desktop-contract/channels.ts';
import type { CommandState } from '../../desktop-contract/commands.ts';
import { barePlace, databaseOfPlace, linkablePlace, tenantOfPlace } from '../../desktop-contract/places.ts';
import { isOwnAddress, workbenchAddress } from './addresses.ts';
import type { SavedWindow } from './settings.ts';
import { attachContextMenu, bringToFront, keepReachable, load, openWindow } from './window.ts';
import type { WatchedSpace } from './withdrawn-notices.ts';

/** A window and what is known of its page. */
export interface ShellWindow {
  readonly window: BrowserWindow;
  /** Requests that wait for the page. */
  requests: ShellRequest[];
  /** The commands that the page can run. */
  commands: readonly CommandState[];
  page: PageState;
  /** The user has agreed to lose what the page has not saved. */
  mayLose: boolean;
  saved: SavedWindow;
}

interface WindowsParts {
  readonly preload: string;
  readonly icon: string | null;
  readonly hasSpelling: () => boolean;
  /** The address of the service; null: there is none. */
  readonly address: () => string | null;
  /** The windows of the last end. */
  readonly saved: () => readonly SavedWindow[];
  readonly save: (windows: readonly SavedWindow[]) => void;
  readonly mayClose: (window: ShellWindow) => boolean;
  /** Asks, at once, whether a page may be left that would lose something. */
  readonly askReload: (window: ShellWindow) => boolean;
  readonly openInBrowser: (address: string) => void;
  /** A window is about to show itself. */
  readonly onReady: () => void;
  /** Another window is in front, or a page has reported something. */
  readonly onChange: () => void;
  /** The user looks at a database and tenant. */
  readonly onSeen: (space: WatchedSpace) => void;
  readonly isLeaving: () => boolean;
}

/** The windows of the desktop application. */
export class DesktopWindows {
  readonly #parts: WindowsParts;
  #open: ShellWindow[] = [];
  /** The open windows and, while all of them close, those that have closed; the front one last. */
  #saved: ShellWindow[] = [];
  #isClosingAll = false;

  constructor(parts: WindowsParts) {
    this.#parts = parts;
    void app.whenReady().then(() => {
      // The system has moved what it moves by itself by then.
      for (const event of ['display-removed', 'display-metrics-changed'] as const)
        screen.on(event as 'display-removed', () => setTimeout(() => this.#keepReachable(), 500));
    });
  }

  /** The open windows, the one in front first. */
  get all(): readonly ShellWindow[] {
    return this.#open;
  }

  get front(): ShellWindow | null {
    return this.#open[0] ?? null;
  }

  /** The window of a page. */
  of(contents: WebContents): ShellWindow | null {
    return this.#open.find(({ window }) => window.webContents === contents) ?? null;
  }

  /** Shows the window in front, and opens those of the last end if there is none. */
  show(requests: readonly ShellRequest[]): void {
    const { front } = this;
    // A window that opens shows itself with its first frame.
    if (front === null) this.#reopen(null);
    this.#give(requests);
    if (front !== null) this.#toFront(front);
  }

  /** Shows a place in a window of its database. */
  showPlace(place: string, requests: readonly ShellRequest[]): void {
    const isFirst = this.front === null;
    const shown = isFirst ? this.#reopen(place) : this.#ofDatabase(databaseOfPlace(place));
    this.#give(requests);
    if (shown === null) this.open(place);
    // A window that has just been opened shows the place already.
    else if (!isFirst) {
      this.ask(shown, { kind: 'place', place });
      this.#toFront(shown);
    }
  }

  /** Shows a window of a database, and opens one if there is none. */
  showDatabase(name: string): void {
    const shown = this.#ofDatabase(name);
    if (shown === null) this.showPlace(`/?${new URLSearchParams({ database: name })}`, []);
    else this.#toFront(shown);
  }

  /** Opens another window, at a place if given. */
  open(place: string | null, saved: SavedWindow = { place, states: [] }): ShellWindow | null {
    const { preload, icon, address: current, openInBrowser, askReload, mayClose } = this.#parts;
    const origin = current();
    if (origin === null) return null;
    const address = workbenchAddress(origin, place);
    const window = openWindow(address, {
      preload,
      icon,
      hasSpelling: this.#parts.hasSpelling(),
      saved: saved.states,
      front: this.front?.window.getNormalBounds() ?? null,
      remember: (states) => {
        opened.saved = { place: placeToReopen(opened.page), states };
        this.#save();
      },
      mayClose: () => mayClose(opened),
      mayLose: () => opened.mayLose || this.#parts.isLeaving() || askReload(opened),
      openInBrowser: () => openInBrowser(address),
    });
    const page = {
      place: place ?? '/',
      title: 'Corollary',
      database: databaseOfPlace(place ?? '/'),
      unsaved: [],
    };
    const opened: ShellWindow = { window, requests: [], commands: [], page, mayLose: false, saved };
    this.#open = [opened, ...this.#open];
    this.#saved = [...this.#saved, opened];
    window.once('show', this.#parts.onReady);
    window.on('focus', () => {
      this.#parts.onSeen(spaceOf(opened));
      this.#focused(opened);
    });
    window.on('closed', () => this.#closed(opened));
    // A page that is loaded again reports anew.
    window.webContents.on('did-navigate', () => {
      opened.page = { ...opened.page, unsaved: [] };
    });
    attachContextMenu(window.webContents);
    this.#parts.onChange();
    return opened;
  }

  /** Takes in what a page has reported. */
  report(opened: ShellWindow, page: PageState): void {
    opened.page = page;
    if (opened.window.isFocused()) this.#parts.onSeen(spaceOf(opened));
    this.#parts.onChange();
  }

  /** Whether a window that has the focus shows the space. */
  isWatched({ database, tenant }: WatchedSpace): boolean {
    return this.#open.some((opened) => {
      const shown = spaceOf(opened);
      return opened.window.isFocused() && shown.database === database && shown.tenant === tenant;
    });
  }

  setCommands(opened: ShellWindow, commands: readonly CommandState[]): void {
    opened.commands = commands;
    if (opened === this.front) this.#parts.onChange();
  }

  /** Passes a request to a page; a page that is still loading gets it later. */
  ask(opened: ShellWindow, request: ShellRequest): void {
    // One import at a time: of files not shown yet, the last counts.
    const isOneOnly = request.kind === 'file';
    opened.requests = [...opened.requests.filter(({ kind }) => !isOneOnly || kind !== request.kind), request];
    opened.window.webContents.send(waitingChannel);
  }

  /** Loads all pages again: there may be other knowledge behind the address. */
  reload(address: string): void {
    for (const { window, page } of this.#open) {
      // At the same address another hash would load nothing; the page knows what it showed.
      const isSame = isOwnAddress(window.webContents.getURL(), address);
      load(window, workbenchAddress(address, isSame ? null : barePlace(page.place)));
    }
  }

  /** Closes all windows without a question. They are opened again together. */
  closeAll(): void {
    this.#isClosingAll = this.#open.length > 0;
    for (const opened of this.#open) {
      opened.mayLose = true;
      opened.window.close();
    }
  }

  /** Opens the windows of the last end; a place counts instead of what one of its database showed. Returns its window. */
  #reopen(place: string | null): ShellWindow | null {
    this.#saved = [];
    const saved = this.#parts.saved();
    const windows = saved.length === 0 ? [{ place: null, states: [] }] : saved;
    const database = place === null ? null : databaseOfPlace(place);
    const at = windows.findLastIndex((each) => database === databaseOfPlace(each.place ?? '/'));
    // A single window shows every place: nothing else is known of it yet.
    const chosen = windows.length === 1 && windows[0]?.place === null ? 0 : at;
    let shown: ShellWindow | null = null;
    for (const [index, each] of windows.entries()) {
      const isChosen = place !== null && index === chosen;
      const opened = this.open(isChosen ? place : each.place, each);
      if (isChosen) shown = opened;
    }
    return shown;
  }

  #ofDatabase(database: string): ShellWindow | null {
    return this.#open.find(({ page }) => page.database === database) ?? null;
  }

  #give(requests: readonly ShellRequest[]): void {
    for (const request of requests) if (this.front !== null) this.ask(this.front, request);
  }

  #toFront(opened: ShellWindow): void {
    const origin = this.#parts.address();
    if (origin !== null && !isOwnAddress(opened.window.webContents.getURL(), origin))
      load(opened.window, workbenchAddress(origin, barePlace(opened.page.place)));
    bringToFront(opened.window);
    this.#focused(opened);
  }

  #focused(opened: ShellWindow): void {
    if (this.front === opened || !this.#open.includes(opened)) return;
    const toFront = (list: readonly ShellWindow[]) => list.filter((each) => each !== opened);
    this.#open = [opened, ...toFront(this.#open)];
    this.#saved = [...toFront(this.#saved), opened];
    this.#parts.onChange();
  }

  #closed(opened: ShellWindow): void {
    this.#open = this.#open.filter((each) => each !== opened);
    // The last one is what the next start opens.
    if (this.#open.length === 0) this.#isClosingAll = false;
    else if (!this.#parts.isLeaving() && !this.#isClosingAll) {
      this.#saved = this.#saved.filter((each) => each !== opened);
      this.#save();
    }
    this.#parts.onChange();
  }

  #save(): void {
    this.#parts.save(this.#saved.map(({ saved }) => saved));
  }

  #keepReachable(): void {
    for (const { window } of this.#open) keepReachable(window);
  }
}

function spaceOf({ page }: ShellWindow): WatchedSpace {
  return { database: page.database, tenant: tenantOfPlace(page.place) };
}

/** What a window shows again; null before its page has reported anything. */
function placeToReopen({ place }: PageState): string | null {
  return place === '/' ? null : (linkablePlace(place) ?? barePlace(place));
}
