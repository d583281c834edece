/** Why the history has nothing to show, in words. */
import type { History } from '../../../engine/contract/history.ts';
import type { ApiFailure } from '../../api/problem.ts';
import { formatTime } from '../../ui/format.ts';

/** A title and what to do. */
interface Why {
  readonly title: string;
  readonly detail: string;
}

/** Why a page without entries is empty. `since`: the stamp of the oldest state that is kept; null: the first write. */
export function whyEmpty(since: History['since'], areFiltered: boolean): Why {
  const before =
    since === null
      ? ''
      : ` Writes up to ${formatTime(since)} are not kept: HISTORY_DAYS says for how many days they are; with 0, only ` +
        'until the next snapshot.';
  return areFiltered
    ? {
        title: 'No change passes the filters',
        detail: `Nothing that is kept of the history is about that.${before}`,
      }
    : {
        title: since === null ? 'Nothing has changed yet' : 'No change is kept',
        detail:
          since === null
            ? 'The history begins with the first fact or rule.'
            : `Nothing of this tenant has changed since.${before}`,
      };
}

/** What a list that has ended does not have. */
export function whereItEnds({ since, gaps }: Pick<History, 'since' | 'gaps'>): string {
  const lost = gaps.map(({ from, to }) => `between ${formatTime(from)} and ${formatTime(to)}`).join(', and ');
  const missing = lost === '' ? '' : ` Writes ${lost} are missing: damaged records were lost.`;
  if (since !== null)
    return `This is everything that is kept: writes up to ${formatTime(since)} are not.${missing}`;
  return lost === ''
    ? 'This is everything, from the first write on.'
    : `This goes back to the first write.${missing}`;
}

/** Why the history cannot be read; null if the failure is another one, which speaks for itself. */
export function whyGone({ code, detail }: ApiFailure): Why | null {
  return code === 'HistoryGone' ? { title: 'This is not kept', detail } : null;
}
