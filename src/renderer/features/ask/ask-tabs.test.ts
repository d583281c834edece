import { describe, expect, test } from 'vitest';
import {
  activated,
  activeTab,
  type AskTabs,
  closed,
  firstTabs,
  isUnasked,
  landed,
  neighbour,
  opened,
  readTabs,
  renamed,
  reopened,
  titleOf,
  withDraft,
  withTabShown,
} from './ask-tabs.ts';

const idsOf = ({ tabs }: AskTabs) => tabs.map(({ id }) => id);

/** Tabs a and b, of which b is looked at; each answers the question `p(id)`. */
function two(): AskTabs {
  const first = landed(firstTabs('a'), { question: 'p(a)' }, 'x');
  return landed(opened(first, 'b'), { question: 'p(b)' }, 'x');
}

describe('an address that is come to', () => {
  test('is shown in the tab it names, written there where it is another question', () => {
    const after = landed(two(), { tab: 'a', question: 'q(?x)', stored: 'true' }, 'x');
    expect(activeTab(after)).toEqual({
      id: 'a',
      name: null,
      draft: 'q(?x)',
      shown: { question: 'q(?x)', stored: 'true' },
    });
  });

  test('leaves what is being written where the question is that of the tab', () => {
    const writing = withDraft(two(), 'b', 'p(b), r(');
    const after = landed(writing, { tab: 'b', question: 'p(b)', why: 'p(b)' }, 'x');
    expect(activeTab(after)).toMatchObject({ draft: 'p(b), r(', shown: { why: 'p(b)' } });
  });

  test('without a tab goes to the one that shows the question already', () => {
    const after = landed(two(), { question: 'p(a)' }, 'x');
    expect(after.active).toBe('a');
    expect(idsOf(after)).toEqual(['a', 'b']);
  });

  test('takes the place of a question that was asked, and never of one that is being written or has a name', () => {
    expect(idsOf(landed(two(), { question: 'q(1)' }, 'x'))).toEqual(['a', 'b']);
    const writing = landed(withDraft(two(), 'b', 'r('), { question: 'q(1)' }, 'x');
    expect(idsOf(writing)).toEqual(['a', 'b', 'x']);
    expect(activeTab(writing)).toMatchObject({ id: 'x', draft: 'q(1)' });
    expect(writing.tabs[1]?.draft).toBe('r(');
    const named = landed(renamed(two(), 'b', 'B'), { question: 'q(1)' }, 'x');
    expect(named.active).toBe('x');
  });

  test('without a question shows the tab that was looked at last, as it was', () => {
    const before = two();
    expect(landed(before, {}, 'x')).toBe(before);
    expect(landed(before, { tab: 'gone' }, 'x')).toBe(before);
  });

  test('that asks for a new tab opens one, once', () => {
    const after = landed(two(), { tab: 'new' }, 'x');
    expect(idsOf(after)).toEqual(['a', 'b', 'x']);
    expect(landed(after, { tab: 'new' }, 'y')).toBe(after);
    expect(activeTab(landed(two(), { tab: 'new', question: 'q(1)' }, 'x'))).toMatchObject({ id: 'x' });
  });
});

describe('tabs', () => {
  test('open after the one that is looked at, and are gone through round the ends', () => {
    const tabs = opened(activated(two(), 'a'), 'c');
    expect(idsOf(tabs)).toEqual(['a', 'c', 'b']);
    expect(neighbour(tabs, 1).id).toBe('b');
    expect(neighbour(activated(tabs, 'b'), 1).id).toBe('a');
    expect(neighbour(activated(tabs, 'a'), -1).id).toBe('b');
    expect(activated(tabs, 'gone')).toBe(tabs);
  });

  test('give way to their right neighbour when they are closed, and come back as they were', () => {
    const without = closed(activated(two(), 'a'), 'a', 'x');
    expect([idsOf(without), without.active]).toEqual([['b'], 'b']);
    const back = reopened(without);
    expect(activeTab(back)).toMatchObject({ id: 'a', draft: 'p(a)', shown: { question: 'p(a)' } });
    expect(back.closed).toEqual([]);
    expect(reopened(back)).toBe(back);
  });

  test('leave an empty one when the last is closed; one that was empty is not kept', () => {
    const none = closed(firstTabs('a'), 'a', 'x');
    expect([idsOf(none), none.closed]).toEqual([['x'], []]);
  });

  test('are called by their name, else by what is written, else by what was asked', () => {
    const tab = activeTab(two());
    expect(titleOf(tab)).toBe('p(b)');
    expect(titleOf({ ...tab, draft: '  p(?x),\n  q(?x) ' })).toBe('p(?x), q(?x)');
    expect(titleOf({ ...tab, draft: '' })).toBe('p(b)');
    expect(titleOf(activeTab(renamed(two(), 'b', ' All of it ')))).toBe('All of it');
    expect(titleOf(activeTab(renamed(renamed(two(), 'b', 'x'), 'b', ' ')))).toBe('p(b)');
    expect(titleOf({ ...tab, draft: 'p'.repeat(60) })).toHaveLength(40);
    expect(titleOf(activeTab(firstTabs('a')))).toBe('New question');
  });

  test('say whether what is written was asked', () => {
    const asked = activeTab(two());
    expect(isUnasked(asked)).toBe(false);
    expect(isUnasked({ ...asked, draft: ' p(b) ' })).toBe(false);
    expect(isUnasked({ ...asked, draft: 'p(c)' })).toBe(true);
    expect(isUnasked({ ...asked, draft: '' })).toBe(false);
  });

  test('are read back as they were stored, and what is no tab is left out', () => {
    const tabs = withTabShown(two(), 'a', { question: 'p(a)', trace: 'true' });
    expect(readTabs(JSON.parse(JSON.stringify(tabs)))).toEqual(tabs);
    expect(readTabs({ tabs: [{ id: 'a', draft: 'x' }, 3, { id: 4 }], active: 'b' })).toEqual({
      tabs: [{ id: 'a', name: null, draft: 'x', shown: {} }],
      active: 'a',
      closed: [],
    });
    expect(readTabs({ tabs: [] })).toBeNull();
    expect(readTabs('tabs')).toBeNull();
  });
});
