/** The base of a comparison in words: the common origin that decides what is a conflict. */
import type { ScopeDiff } from '../../../engine/contract/scopes.ts';
import { formatTime } from '../../ui/format.ts';
import { sideLabel } from './scopes-search.ts';

/** Returns the name of the base; null if there is none. */
export function baseName({ base = null, ancestor = null }: ScopeDiff): string | null {
  if (ancestor !== null) return `${sideLabel(ancestor.scope)} as of ${formatTime(ancestor.time)}`;
  return typeof base === 'object' ? (base?.scope ?? null) : base;
}

/** Returns a sentence about the base. */
export function baseInWords(diff: ScopeDiff): string {
  const name = baseName(diff);
  const [from, into] = [sideLabel(diff.source), sideLabel(diff.target)];
  if (name === null)
    return `Two-way, without a base: every fact with two versions is a conflict, and nothing is deleted from ${into}.`;
  const what = diff.base === 'fork' ? `what both last had in common, ${name}` : name;
  return `Base: ${what}. Only what both changed since is a conflict; what ${from} deleted is deleted from ${into}.`;
}
