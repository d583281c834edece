import { expect, test } from 'vitest';
import { chipsOf, type FactFilter, readFilters, switched, withActiveFilters } from './fact-filters.tsx';

const text = (value: string): FactFilter => ({ kind: 'text', text: value });

/** The list after the address had these texts in turn. */
function after(...texts: (string | undefined)[]): readonly FactFilter[] {
  let kept: readonly FactFilter[] = [];
  texts.forEach((q, index) => (kept = withActiveFilters(kept, { q }, texts[index - 1])));
  return kept;
}

test('keeps a filter that is switched off, so that it can be switched on again', () => {
  const kept = after('alice', undefined);
  const [chip] = chipsOf(kept, {});
  expect(chip).toEqual({ filter: text('alice'), isOn: false });
  expect(chip === undefined ? null : switched(chip)).toEqual({ q: 'alice' });
  expect(switched({ filter: text('alice'), isOn: true })).toEqual({ q: undefined });
  expect(switched({ filter: { kind: 'truth', value: 'false' }, isOn: false })).toEqual({ truth: 'false' });
});

test('keeps only the whole of a text typed or deleted letter by letter', () => {
  expect(after('a', 'al', 'alice')).toEqual([text('alice')]);
  expect(after('alice', 'al', 'a', undefined)).toEqual([text('alice')]);
  expect(after('alice', 'al', 'albert')).toEqual([text('alice'), text('albert')]);
});

test('shows a filter of the address as a chip, listed or not', () => {
  expect(chipsOf([text('bob')], { q: 'alice', truth: 'true' })).toEqual([
    { filter: text('bob'), isOn: false },
    { filter: text('alice'), isOn: true },
    { filter: { kind: 'truth', value: 'true' }, isOn: true },
  ]);
});

test('drops the oldest of many filters', () => {
  const kept = after(...'abcdefghij');
  expect(kept).toHaveLength(8);
  expect(kept[0]).toEqual(text('c'));
});

test('reads stored filters back, and nothing else', () => {
  const kept: FactFilter[] = [text('alice'), { kind: 'truth', value: 'false' }];
  expect(readFilters(JSON.parse(JSON.stringify(kept)))).toEqual(kept);
  expect(readFilters([{ kind: 'text', text: '' }])).toBeNull();
  expect(readFilters({})).toBeNull();
});
