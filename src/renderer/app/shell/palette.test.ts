import { expect, test } from 'vitest';
import '../../api/testing/browser.ts';
import type { AppCommand } from '../../ui/command.ts';
import { cutGroups, findCommands, groupCommands, shownNames } from './palette.tsx';

function command(title: string, group: string, detail?: string): AppCommand {
  return { id: title, title, group, run: () => undefined, ...(detail === undefined ? {} : { detail }) };
}

const commands = [
  command('Facts', 'Go to'),
  command('Rules', 'Go to'),
  command('ancestor/2', 'Predicates', '12 facts'),
  command('related', 'Rules', 'related(?x, ?y) :- ancestor(?x, ?y)'),
];

function titles(typed: string, limit = 10): string[] {
  return findCommands(commands, typed, limit).map(({ title }) => title);
}

test('lists the first commands without input', () => {
  expect(titles('', 2)).toEqual(['Facts', 'Rules']);
});

test('ranks matches at the beginning before others', () => {
  expect(titles('anc')).toEqual(['ancestor/2', 'related']);
  expect(titles('rules')).toEqual(['Rules', 'related']);
});

test('requires every word to occur, in title, detail or group', () => {
  expect(titles('predicates 12')).toEqual(['ancestor/2']);
  expect(titles('predicates 13')).toEqual([]);
});

test('keeps the order in which groups first occur', () => {
  expect(groupCommands(commands).map(({ group }) => group)).toEqual(['Go to', 'Predicates', 'Rules']);
});

test('cuts long groups, and says how many matched', () => {
  const { commands: shown, cut } = cutGroups(commands, 1);
  expect(shown.map(({ title }) => title)).toEqual(['Facts', 'ancestor/2', 'related']);
  expect([...cut]).toEqual([['Go to', 2]]);
  expect(cutGroups(commands, 2).cut.size).toBe(0);
});

test('names what is shown as the hits of a search do', () => {
  const named = (id: string) => ({ ...command('x', 'y'), id });
  expect([...shownNames([named('predicate a/b/2'), named('rule r1'), named('go.facts')])]).toEqual([
    'predicate a/b',
    'rule r1',
    'go.facts',
  ]);
});
