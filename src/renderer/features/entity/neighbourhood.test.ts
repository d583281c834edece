import { describe, expect, it } from 'vitest';
import {
  afterGraphKey,
  keyOfEntity,
  labelOfNode,
  neighbourhoodOf,
  type Neighbours,
} from './neighbourhood.ts';

const linked = (entity: string, predicate = 'p', count = 1) => ({ entity, via: [{ predicate, count }] });

function known(pages: Readonly<Record<string, readonly string[]>>, more: readonly string[] = []) {
  return new Map<string, Neighbours>(
    Object.entries(pages).map(([entity, others]) => [
      entity,
      { linked: others.map((other) => linked(other)), hasMore: more.includes(entity) },
    ]),
  );
}

const shown = (nodes: readonly { key: string }[]): string[] => nodes.map(({ key }) => key);

describe('a neighbourhood', () => {
  it('is a tree of what is unfolded, each constant once', () => {
    const pages = known({ a: ['b', 'c'], b: ['a', 'c', 'd'] });
    expect(shown(neighbourhoodOf('a', new Set(['a']), pages).nodes)).toEqual([
      'entity a',
      'entity b',
      'entity c',
    ]);
    const { nodes } = neighbourhoodOf('a', new Set(['a', 'b']), pages);
    expect(shown(nodes)).toEqual(['entity a', 'entity b', 'entity d', 'entity c']);
    const b = nodes.find(({ entity }) => entity === 'b');
    // The box to its left is linked by the tree already.
    expect(b?.alsoLinked.map(({ entity }) => entity)).toEqual(['c']);
  });

  it('keeps a box in its place when one further out unfolds', () => {
    const pages = known({ a: ['b', 'c'], b: ['c', 'd'], c: ['d'] });
    const { nodes } = neighbourhoodOf('a', new Set(['a', 'b', 'c']), pages);
    expect(nodes.find(({ entity }) => entity === 'c')).toMatchObject({ level: 2, parent: 'entity a' });
    expect(nodes.find(({ entity }) => entity === 'd')).toMatchObject({ level: 3, parent: 'entity b' });
  });

  it('never overlaps two boxes', () => {
    const pages = known({ a: ['b', 'c', 'd'], b: ['e', 'f'], d: ['g'], e: ['h'] }, ['a', 'e']);
    const { nodes, width, height } = neighbourhoodOf('a', new Set(['a', 'b', 'd', 'e']), pages);
    for (const [at, one] of nodes.entries()) {
      expect(one.left + 176).toBeLessThanOrEqual(width);
      expect(one.top + 40).toBeLessThanOrEqual(height);
      for (const other of nodes.slice(at + 1))
        expect(Math.abs(one.top - other.top) >= 40 || Math.abs(one.left - other.left) >= 176).toBe(true);
    }
    expect(shown(nodes)).toContain('more a');
  });

  it('names a box with how it is linked', () => {
    const pages = new Map([
      [
        'a',
        {
          linked: [
            {
              entity: 'b',
              via: [
                { predicate: 'met', count: 3 },
                { predicate: 'knows', count: 1 },
              ],
            },
          ],
          hasMore: false,
        },
      ],
    ]);
    const [, b] = neighbourhoodOf('a', new Set(['a']), pages).nodes;
    expect(b === undefined ? '' : labelOfNode(b)).toBe('b, by met 3 times, knows');
  });
});

describe('a key', () => {
  const pages = known({ a: ['b', 'c'], b: ['d'] }, ['a']);
  const { nodes } = neighbourhoodOf('a', new Set(['a', 'b']), pages);
  const after = (key: string, at: string) => {
    const next = afterGraphKey(key, nodes, at);
    return next === null ? null : next.kind === 'move' ? next.to : `${next.kind} ${next.node.key}`;
  };

  it.each([
    ['ArrowDown', 'entity a', 'entity b'],
    ['ArrowDown', 'more a', null],
    ['ArrowUp', 'entity a', null],
    ['End', 'entity a', 'more a'],
    ['Home', 'more a', 'entity a'],
    ['ArrowRight', 'entity b', 'entity d'],
    ['ArrowRight', 'entity c', 'unfold entity c'],
    ['ArrowRight', 'more a', 'unfold more a'],
    ['ArrowLeft', 'entity b', 'fold entity b'],
    ['ArrowLeft', 'entity d', 'entity b'],
    // The middle stays unfolded.
    ['ArrowLeft', 'entity a', null],
    ['-', 'entity a', null],
    ['-', 'entity b', 'fold entity b'],
    ['+', 'entity c', 'unfold entity c'],
    ['+', 'entity b', null],
    ['Enter', 'entity c', 'open entity c'],
    ['Enter', 'more a', 'unfold more a'],
    ['x', 'entity a', null],
  ])('%s at %s does %s', (key, at, expected) => {
    expect(after(key, at)).toBe(expected);
  });

  it('has no effect where nothing is active', () => {
    expect(afterGraphKey('ArrowDown', nodes, keyOfEntity('nobody'))).toBeNull();
  });
});
