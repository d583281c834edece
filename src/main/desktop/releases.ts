/**
 * Checks for a newer version, if the user has switched that on, at the address that the build sets.
 *
 * It downloads nothing and sends nothing but the request. The answer is JSON in the usual form of release hosts for the
 * latest release: `tag_name` (`v0.2.0`) and `html_url`, the page that opens in the browser if the user wants it.
 */
import type { ReleaseState } from '../../desktop-contract/channels.ts';

export interface Release {
  readonly version: string;
  readonly page: string;
}

/** Limits of an answer, in milliseconds and bytes. */
const limitMs = 15_000;
const maxAnswerBytes = 1_000_000;

/** The address set by the build, or null if it is not HTTPS. */
export function releasesAddress(text: string): string | null {
  return URL.canParse(text) && new URL(text).protocol === 'https:' ? text : null;
}

/** The latest release. Rejects with the reason if there is no valid answer. */
export async function fetchRelease(address: string, ask: typeof fetch): Promise<Release> {
  const response = await ask(address, {
    headers: { accept: 'application/json' },
    credentials: 'omit',
    signal: AbortSignal.timeout(limitMs),
  });
  if (!response.ok) throw new Error(`the answer was ${response.status}`);
  const text = await response.text();
  if (text.length > maxAnswerBytes) throw new Error('the answer is too long');
  const release = readRelease(JSON.parse(text));
  if (release === null) throw new Error('the answer contains no version');
  return release;
}

/** The release in an answer; null if it has no version or no page that may be opened. */
export function readRelease(answer: unknown): Release | null {
  if (typeof answer !== 'object' || answer === null) return null;
  const { tag_name: tag, html_url: page } = answer as { tag_name?: unknown; html_url?: unknown };
  if (typeof tag !== 'string' || typeof page !== 'string' || releasesAddress(page) === null) return null;
  const version = tag.replace(/^v/, '');
  return versionNumbers(version) === null ? null : { version, page };
}

/** What the latest release means for the version `current`. */
export function releaseState(current: string, release: Release): ReleaseState {
  return isNewer(release.version, current) ? { kind: 'newer', version: release.version } : { kind: 'newest' };
}

/** Compares the three numbers; a prerelease is never newer. */
export function isNewer(version: string, than: string): boolean {
  const left = versionNumbers(version);
  const right = versionNumbers(than);
  if (left === null || right === null) return false;
  const place = left.findIndex((number, index) => number !== right[index]);
  return place !== -1 && (left[place] ?? 0) > (right[place] ?? 0);
}

function versionNumbers(version: string): number[] | null {
  const found = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:\+[\w.]+)?$/.exec(version);
  return found === null ? null : found.slice(1).map(Number);
}
