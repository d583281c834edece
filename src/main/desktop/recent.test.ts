import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type RecentItem, recentIn, recentLabel, withRecent } from './recent.ts';

const file = (name: string): RecentItem => ({ kind: 'file', path: resolve('/knowledge', name) });
const database = (name: string, folder = '/data'): RecentItem => ({ kind: 'database', folder, name });

describe('what was opened recently', () => {
  it('has the latest first, nothing twice, and ten of each kind', () => {
    let items: readonly RecentItem[] = [database('ships')];
    for (let at = 0; at < 15; at++) items = withRecent(items, file(`${at}.dl`));
    items = withRecent(items, file('9.dl'));
    expect(items.filter(({ kind }) => kind === 'file').map(recentLabel)).toEqual(
      [9, 14, 13, 12, 11, 10, 8, 7, 6, 5].map((at) => `${at}.dl`),
    );
    expect(items).toContainEqual(database('ships'));
  });

  it('shows the databases of the folder in use, and files of any', () => {
    const items = [database('ships'), database('ships', '/other'), file('a.csv')];
    expect(recentIn(items, '/data').map(recentLabel)).toEqual(['Database ships', 'a.csv']);
  });
});
