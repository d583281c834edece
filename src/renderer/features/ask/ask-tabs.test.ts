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
  withTabsElsewhere,
  withTabShown,
} from './ask-tabs.ts';

const idsOf = ({ tabs }: AskTabs) => tabs.map(({ id }) => id);

/** Tabs a and b, with b active; each shows the question `p(id)`. */
function two(): AskTabs {
  const first = landed(firstTabs('a'), { question: 'p(a)' }, 'x');
  return landed(opened(first, 'b'), { question: 'p(b)' }, 'x');
}

describe('navigating to an address', () => {
  test('shows it in the named tab, and replaces the draft if it is another question', () => {
    const after = landed(two(), { tab: 'a', question: 'q(?x)', stored: 'true' }, 'x');
    expect(activeTab(after)).toEqual({
      id: 'a',
      name: null,
      draft: 'q(?x)',
      shown: { question: 'q(?x)', stored: 'true' },
    });
  });

  test('fills in a question that waits to be asked, where it replaces nothing', () => {
    const waiting = { question: 'q(?x)', unasked: 'true' } as const;
    const after = landed(two(), waiting, 'x');
    expect(activeTab(after)).toEqual({ id: 'x', name: null, draft: 'q(?x)', shown: {} });
    // The same link again, and an empty view.
    expect(landed(after, waiting, 'y')).toEqual(after);
    expect(idsOf(landed(firstTabs('a'), waiting, 'x'))).toEqual(['a']);
    // A tab that shows the answer already is not asked again.
    const asked = landed(two(), { question: 'p(a)', unasked: 'true' }, 'x');
    expect([asked.active, activeTab(asked).shown]).toEqual(['a', { question: 'p(a)' }]);
  });

  test('keeps the draft if the tab has this question already', () => {
    const writing = withDraft(two(), 'b', 'p(b), r(');
    const after = landed(writing, { tab: 'b', question: 'p(b)', why: 'p(b)' }, 'x');
    expect(activeTab(after)).toMatchObject({ draft: 'p(b), r(', shown: { why: 'p(b)' } });
  });

  test('without a tab id goes to the tab that shows the question already', () => {
    const after = landed(two(), { question: 'p(a)' }, 'x');
    expect(after.active).toBe('a');
    expect(idsOf(after)).toEqual(['a', 'b']);
  });

  test('replaces an asked question, but never a draft or a named tab', () => {
    expect(idsOf(landed(two(), { question: 'q(1)' }, 'x'))).toEqual(['a', 'b']);
    const writing = landed(withDraft(two(), 'b', 'r('), { question: 'q(1)' }, 'x');
    expect(idsOf(writing)).toEqual(['a', 'b', 'x']);
    expect(activeTab(writing)).toMatchObject({ id: 'x', draft: 'q(1)' });
    expect(writing.tabs[1]?.draft).toBe('r(');
    const named = landed(renamed(two(), 'b', 'B'), { question: 'q(1)' }, 'x');
    expect(named.active).toBe('x');
  });

  test('without a question shows the last active tab unchanged', () => {
    const before = two();
    expect(landed(before, {}, 'x')).toBe(before);
    expect(landed(before, { tab: 'gone' }, 'x')).toBe(before);
  });

  test('that asks for a new tab opens exactly one', () => {
    const after = landed(two(), { tab: 'new' }, 'x');
    expect(idsOf(after)).toEqual(['a', 'b', 'x']);
    expect(landed(after, { tab: 'new' }, 'y')).toBe(after);
    expect(activeTab(landed(two(), { tab: 'new', question: 'q(1)' }, 'x'))).toMatchObject({ id: 'x' });
  });
});

describe('tabs', () => {
  test('open after the active one, and wrap around', () => {
    const tabs = opened(activated(two(), 'a'), 'c');
    expect(idsOf(tabs)).toEqual(['a', 'c', 'b']);
    expect(neighbour(tabs, 1).id).toBe('b');
    expect(neighbour(activated(tabs, 'b'), 1).id).toBe('a');
    expect(neighbour(activated(tabs, 'a'), -1).id).toBe('b');
    expect(activated(tabs, 'gone')).toBe(tabs);
  });

  test('activate their right neighbour when closed, and reopen unchanged', () => {
    const without = closed(activated(two(), 'a'), 'a', 'x');
    expect([idsOf(without), without.active]).toEqual([['b'], 'b']);
    const back = reopened(without);
    expect(activeTab(back)).toMatchObject({ id: 'a', draft: 'p(a)', shown: { question: 'p(a)' } });
    expect(back.closed).toEqual([]);
    expect(reopened(back)).toBe(back);
  });

  test('leave an empty one when the last is closed; empty ones cannot be reopened', () => {
    const none = closed(firstTabs('a'), 'a', 'x');
    expect([idsOf(none), none.closed]).toEqual([['x'], []]);
  });

  test('are titled by their name, else the draft, else the question', () => {
    const tab = activeTab(two());
    expect(titleOf(tab)).toBe('p(b)');
    expect(titleOf({ ...tab, draft: '  p(?x),\n  q(?x) ' })).toBe('p(?x), q(?x)');
    expect(titleOf({ ...tab, draft: '' })).toBe('p(b)');
    expect(titleOf(activeTab(renamed(two(), 'b', ' All of it ')))).toBe('All of it');
    expect(titleOf(activeTab(renamed(renamed(two(), 'b', 'x'), 'b', ' ')))).toBe('p(b)');
    expect(titleOf({ ...tab, draft: 'p'.repeat(60) })).toHaveLength(40);
    expect(titleOf(activeTab(firstTabs('a')))).toBe('New question');
  });

  test('know whether the draft was asked', () => {
    const asked = activeTab(two());
    expect(isUnasked(asked)).toBe(false);
    expect(isUnasked({ ...asked, draft: ' p(b) ' })).toBe(false);
    expect(isUnasked({ ...asked, draft: 'p(c)' })).toBe(true);
    expect(isUnasked({ ...asked, draft: '' })).toBe(false);
  });

  test('of another window are taken over, but for what is shown here and what is typed here', () => {
    const shared = opened(two(), 'c');
    const own = withDraft(activated(shared, 'b'), 'a', 'typed here');
    const other = closed(withDraft(opened(activated(shared, 'c'), 'd'), 'a', 'typed there'), 'b', 'x');
    const both = withTabsElsewhere(own, other, (id) => id === 'a');
    expect(idsOf(both)).toEqual(['a', 'b', 'c', 'd']);
    expect(both.active).toBe('b');
    expect(both.tabs[0]?.draft).toBe('typed here');
    expect(both.closed).toEqual([]);
    expect(withTabsElsewhere(own, other, () => false).tabs[0]?.draft).toBe('typed there');
  });

  test('are read back as stored, without malformed ones', () => {
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
