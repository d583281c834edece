import { expect, test } from 'vitest';
import '../../api/testing/browser.ts';
import type { AppCommand } from '../../ui/command.ts';
import { findCommands, groupCommands } from './palette.tsx';

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
