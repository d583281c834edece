/**
 * Notifications of the system about conclusions that are no longer true: agents and people may still rely on them.
 *
 * There is one notification at most. It counts what was withdrawn in spaces (a database and a tenant) that no window in
 * use shows, until the user has seen it; each time it is shown again, it waits twice as long for the next time.
 */
import { readPlace } from '../../desktop-contract/places.ts';
import type { WithdrawnConclusions } from '../base/service-messages.ts';

/** Milliseconds between a notification and its next version, at first and at most. */
const leastPauseMs = 60_000;
const greatestPauseMs = 3_600_000;

/** A notification as shown. */
export interface WithdrawnNotice {
  readonly title: string;
  readonly body: string;
  /** What a click opens. */
  readonly place: string;
}

/** A database and tenant. */
export interface WatchedSpace {
  readonly database: string;
  readonly tenant: string;
}

interface NoticeParts {
  /** Whether the user wants notifications, and the system can show them. */
  readonly isWanted: () => boolean;
  /** Whether a window that has the focus shows the space. */
  readonly isWatched: (space: WatchedSpace) => boolean;
  /** Shows the notification; returns how to remove it. `onClick`: the user opens its place. */
  readonly show: (notice: WithdrawnNotice, onClick: () => void) => () => void;
  /** Calls `run` once after `ms` milliseconds; returns how to prevent that. */
  readonly after: (ms: number, run: () => void) => () => void;
}

/** Decides when the user is notified of withdrawn conclusions, and of which. */
export class WithdrawnNotices {
  readonly #parts: NoticeParts;
  #unseen: readonly WithdrawnConclusions[] = [];
  /** Conclusions have been withdrawn since the notification was shown. */
  #hasNews = false;
  #pauseMs = leastPauseMs;
  #remove: (() => void) | null = null;
  #stopWaiting: (() => void) | null = null;

  constructor(parts: NoticeParts) {
    this.#parts = parts;
  }

  note(withdrawn: readonly WithdrawnConclusions[]): void {
    if (!this.#parts.isWanted()) return this.#forget();
    const news = withdrawn.filter((each) => !this.#parts.isWatched(each));
    if (news.length === 0) return;
    this.#unseen = news.reduce(withWithdrawn, this.#unseen);
    this.#hasNews = true;
    if (this.#stopWaiting === null) this.#show();
  }

  /** The user looks at a space: what was withdrawn there needs no notification any more. */
  seen({ database, tenant }: WatchedSpace): void {
    const left = this.#unseen.filter((each) => each.database !== database || each.tenant !== tenant);
    if (left.length === this.#unseen.length) return;
    if (left.length === 0) return this.#forget();
    this.#unseen = left;
  }

  #show(): void {
    this.#stopWaiting = null;
    if (!this.#hasNews) return;
    if (!this.#parts.isWanted()) return this.#forget();
    this.#hasNews = false;
    this.#remove?.();
    this.#remove = this.#parts.show(noticeOf(this.#unseen), () => {
      this.#remove = null;
      this.#forget();
    });
    this.#stopWaiting = this.#parts.after(this.#pauseMs, () => this.#show());
    this.#pauseMs = Math.min(2 * this.#pauseMs, greatestPauseMs);
  }

  #forget(): void {
    this.#unseen = [];
    this.#hasNews = false;
    this.#pauseMs = leastPauseMs;
    this.#remove?.();
    this.#remove = null;
    this.#stopWaiting?.();
    this.#stopWaiting = null;
  }
}

/** The latest last. */
function withWithdrawn(
  unseen: readonly WithdrawnConclusions[],
  added: WithdrawnConclusions,
): readonly WithdrawnConclusions[] {
  const isSame = ({ database, tenant }: WithdrawnConclusions) =>
    database === added.database && tenant === added.tenant;
  const before = unseen.find(isSame);
  const count = (before?.count ?? 0) + added.count;
  return [...unseen.filter((each) => !isSame(each)), { ...added, count, atom: before?.atom ?? added.atom }];
}

function noticeOf(withdrawn: readonly WithdrawnConclusions[]): WithdrawnNotice {
  const total = withdrawn.reduce((sum, { count }) => sum + count, 0);
  const latest = withdrawn.at(-1);
  const isOne = withdrawn.length === 1;
  return {
    title: total === 1 ? 'A conclusion is no longer true' : `${total} conclusions are no longer true`,
    body: isOne && latest !== undefined ? bodyOf(latest) : withdrawn.map(counted).join(', '),
    place: latest === undefined ? '/agents' : placeOf(latest),
  };
}

const longestAtom = 120;

function bodyOf(withdrawn: WithdrawnConclusions): string {
  const { count, atom } = withdrawn;
  if (atom === null) return `In ${named(withdrawn)}`;
  const shown = atom.length > longestAtom ? `${atom.slice(0, longestAtom)}…` : atom;
  const others = count === 1 ? '' : count === 2 ? ' and another one' : ` and ${count - 1} others`;
  return `${shown}${others}, in ${named(withdrawn)}`;
}

function counted(withdrawn: WithdrawnConclusions): string {
  return `${withdrawn.count} in ${named(withdrawn)}`;
}

function named({ database, tenant }: WatchedSpace): string {
  return tenant === 'default' ? `database ${database}` : `database ${database}, tenant ${tenant}`;
}

/** A single conclusion opens with what is missing for it now, several with what agents did. */
function placeOf({ database, tenant, count, atom }: WithdrawnConclusions): string {
  const space = { database, tenant };
  const asked = new URLSearchParams({ question: atom ?? '', ...space });
  const explained = count === 1 && atom !== null ? readPlace(`/why-not?${asked}`) : null;
  return explained ?? `/agents?${new URLSearchParams(space)}`;
}
