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

test('nothing typed lists the first commands', () => {
  expect(titles('', 2)).toEqual(['Facts', 'Rules']);
});

test('what begins with the words comes before what holds them elsewhere', () => {
  expect(titles('anc')).toEqual(['ancestor/2', 'related']);
  expect(titles('rules')).toEqual(['Rules', 'related']);
});

test('every word must occur, in title, detail or group', () => {
  expect(titles('predicates 12')).toEqual(['ancestor/2']);
  expect(titles('predicates 13')).toEqual([]);
});

test('groups keep the order in which they first occur', () => {
  expect(groupCommands(commands).map(({ group }) => group)).toEqual(['Go to', 'Predicates', 'Rules']);
});
