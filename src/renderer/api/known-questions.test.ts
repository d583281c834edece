import { describe, expect, test } from 'vitest';
import { type KnownQuestion, nowhere, savedByFolder, trim, withAsked, withSaved } from './known-questions.ts';

function question(text: string, kind: KnownQuestion['kind'], place = nowhere): KnownQuestion {
  return { text, kind, askedAt: 0, count: null, ...place };
}

describe('the questions of a space', () => {
  test('moves a question asked again to the top and lists it once, in its old folder', () => {
    const saved = question('b', 'saved', { name: 'B', folder: 'F' });
    const list = withAsked([question('a', 'asked'), saved], 'b', 5, 2);
    expect(list).toEqual([{ ...saved, askedAt: 5, count: 2 }, question('a', 'asked')]);
  });

  test('drops the oldest unsaved of too many questions', () => {
    const list = Array.from({ length: 205 }, (_, index) =>
      question(String(index), index >= 200 ? 'saved' : 'asked'),
    );
    const trimmed = trim(list);
    expect(trimmed).toHaveLength(200);
    expect(trimmed.filter((kept) => kept.kind === 'saved')).toHaveLength(5);
    expect(trimmed.at(194)?.text).toBe('194');
  });

  test('saves a question in place, moves it, and unsaves it; adds one that was never asked', () => {
    const place = { name: 'A', folder: 'F' };
    const list = withSaved([question('b', 'asked'), question('a', 'asked')], 'a', place);
    expect(list).toEqual([question('b', 'asked'), question('a', 'saved', place)]);
    expect(withSaved(list, 'a', null)).toEqual([question('b', 'asked'), question('a', 'asked')]);
    expect(withSaved(list, 'c', nowhere)[0]).toEqual(question('c', 'saved'));
    expect(withSaved(list, 'c', null)).toBe(list);
  });

  test('lists saved ones in folders by name, and outside of them', () => {
    const inFolder = (text: string, name: string | null, folder: string | null) =>
      question(text, 'saved', { name, folder });
    const { folders, loose } = savedByFolder([
      inFolder('z', null, 'F 10'),
      inFolder('b', 'two', 'F 9'),
      question('asked', 'asked'),
      inFolder('a', 'zoo', 'F 9'),
      inFolder('y', null, null),
      inFolder('x', null, null),
    ]);
    expect(folders.map(({ name, questions }) => [name, questions.map(({ text }) => text)])).toEqual([
      ['F 9', ['b', 'a']],
      ['F 10', ['z']],
    ]);
    expect(loose.map(({ text }) => text)).toEqual(['x', 'y']);
  });
});
