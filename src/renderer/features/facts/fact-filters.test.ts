import { expect, test } from 'vitest';
import { chipsOf, type FactFilter, readFilters, switched, withActiveFilters } from './fact-filters.tsx';

const text = (value: string): FactFilter => ({ kind: 'text', text: value });

/** The list after the address had these texts in turn. */
function after(...texts: (string | undefined)[]): readonly FactFilter[] {
  let kept: readonly FactFilter[] = [];
  texts.forEach((q, index) => (kept = withActiveFilters(kept, { q }, texts[index - 1])));
  return kept;
}

test('a filter switched off is kept, and can be switched on again', () => {
  const kept = after('alice', undefined);
  const [chip] = chipsOf(kept, {});
  expect(chip).toEqual({ filter: text('alice'), isOn: false });
  expect(chip === undefined ? null : switched(chip)).toEqual({ q: 'alice' });
  expect(switched({ filter: text('alice'), isOn: true })).toEqual({ q: undefined });
  expect(switched({ filter: { kind: 'truth', value: 'false' }, isOn: false })).toEqual({ truth: 'false' });
});

test('of a text typed or deleted letter by letter only the whole is kept', () => {
  expect(after('a', 'al', 'alice')).toEqual([text('alice')]);
  expect(after('alice', 'al', 'a', undefined)).toEqual([text('alice')]);
  expect(after('alice', 'al', 'albert')).toEqual([text('alice'), text('albert')]);
});

test('a filter of the address is a chip, listed or not', () => {
  expect(chipsOf([text('bob')], { q: 'alice', truth: 'true' })).toEqual([
    { filter: text('bob'), isOn: false },
    { filter: text('alice'), isOn: true },
    { filter: { kind: 'truth', value: 'true' }, isOn: true },
  ]);
});

test('the oldest filters are dropped if there are many', () => {
  const kept = after(...'abcdefghij');
  expect(kept).toHaveLength(8);
  expect(kept[0]).toEqual(text('c'));
});

test('stored filters are read back, and nothing else', () => {
  const kept: FactFilter[] = [text('alice'), { kind: 'truth', value: 'false' }];
  expect(readFilters(JSON.parse(JSON.stringify(kept)))).toEqual(kept);
  expect(readFilters([{ kind: 'text', text: '' }])).toBeNull();
  expect(readFilters({})).toBeNull();
});
