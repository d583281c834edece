import { expect, test } from 'vitest';
import { instantOfField, stepsFrom, positionOf, timeField } from './moment-positions.ts';

const entries = [
  { generation: 3, time: 1000 },
  { generation: 5, time: 2000 },
  { generation: 9, time: 3000 },
];
const known = (asKnown: string) => ({ asOf: null, asKnown });

test('a moment has the position of the last change known then; the present comes after all', () => {
  expect(positionOf(entries, null, undefined)).toBe(3);
  expect(positionOf(entries, { asOf: '2026-01-01', asKnown: null }, undefined)).toBe(3);
  expect(positionOf(entries, known('5'), undefined)).toBe(1);
  // A generation of another tenant.
  expect(positionOf(entries, known('8'), undefined)).toBe(1);
  expect(positionOf(entries, known('9'), 9)).toBe(2);
  expect(positionOf(entries, known('1'), undefined)).toBe(0);
  expect(positionOf([], known('1'), undefined)).toBe(0);
});

test('an instant lies by its time until its generation is known', () => {
  const at = new Date(2500).toISOString();
  expect(positionOf(entries, known(at), undefined)).toBe(1);
  // Two changes within a millisecond are told apart by the generation alone.
  expect(positionOf(entries, known(at), 9)).toBe(2);
});

test('fields have the time of this place, and instants the one everywhere', () => {
  const instant = '2026-03-01T10:20:30.000Z';
  expect(instantOfField(timeField(instant))).toBe(instant);
  expect(timeField('2026-03-01T10:20:30.987Z')).toBe(timeField(instant));
  expect(timeField(null)).toBe('');
  expect(timeField('412')).toBe('');
  expect(instantOfField('')).toBe(null);
});

test('from a moment one steps by the changes of this tenant; beyond the known ones by generations', () => {
  const newest = entries.toReversed();
  expect(stepsFrom(newest, true, 5)).toEqual({ earlier: 3, later: 9 });
  expect(stepsFrom(newest, true, 7)).toEqual({ earlier: 5, later: 9 });
  expect(stepsFrom(newest, true, 9)).toEqual({ earlier: 5, later: 'now' });
  expect(stepsFrom(newest, true, 3)).toEqual({ earlier: null, later: 5 });
  expect(stepsFrom(newest, false, 3)).toEqual({ earlier: 2, later: 5 });
  expect(stepsFrom(newest, false, 1)).toEqual({ earlier: 0, later: 2 });
  expect(stepsFrom(newest, false, 0)).toEqual({ earlier: null, later: 1 });
  expect(stepsFrom([], true, 4)).toEqual({ earlier: null, later: 'now' });
});
