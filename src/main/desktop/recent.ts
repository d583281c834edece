/** What was opened recently: databases of a data folder, and imported files. The menu lists both. */
import { basename, isAbsolute } from 'node:path';
import { isOpenedFile } from '../../desktop-contract/files.ts';

/** `folder`: the data folder that has the database. `path`: the full path of a file. */
export type RecentItem =
  | { readonly kind: 'database'; readonly folder: string; readonly name: string }
  | { readonly kind: 'file'; readonly path: string };

/** So many of each kind are remembered. */
const maxItems = 10;

/** Returns the items with `item` first. */
export function withRecent(items: readonly RecentItem[], item: RecentItem): readonly RecentItem[] {
  const others = items.filter((other) => !isSameItem(other, item));
  const same = others.filter(({ kind }) => kind === item.kind).slice(0, maxItems - 1);
  return [item, ...same, ...others.filter(({ kind }) => kind !== item.kind)];
}

/** Returns the items that the menu lists while the service has `folder`: its databases and all files. */
export function recentIn(items: readonly RecentItem[], folder: string): readonly RecentItem[] {
  return items.filter((item) => item.kind === 'file' || item.folder === folder);
}

/** Returns the label of an item in the menu. */
export function recentLabel(item: RecentItem): string {
  return item.kind === 'database' ? `Database ${item.name}` : basename(item.path);
}

/** Reads the items from a file's content, without the invalid ones. */
export function parseRecent(value: unknown): readonly RecentItem[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return list.flatMap((each) => parseItem(each) ?? []).slice(0, 2 * maxItems);
}

function parseItem(value: unknown): RecentItem | null {
  if (typeof value !== 'object' || value === null) return null;
  const { kind, folder, name, path } = value as Readonly<Record<string, unknown>>;
  if (kind === 'file' && isImportable(path)) return { kind, path };
  const isDatabase = kind === 'database' && typeof folder === 'string' && typeof name === 'string';
  return isDatabase ? { kind, folder, name } : null;
}

/** Returns true for the full path of a file that Import reads. */
export function isImportable(path: unknown): path is string {
  return typeof path === 'string' && isAbsolute(path) && isOpenedFile(path);
}

function isSameItem(one: RecentItem, other: RecentItem): boolean {
  if (one.kind === 'file') return other.kind === 'file' && one.path === other.path;
  return other.kind === 'database' && one.folder === other.folder && one.name === other.name;
}
