import { expect, it } from 'vitest';
import { commandHelpText, commandNames, helpText, parseArguments, UsageError } from './arguments.ts';

it('shows the arguments, the options and an example of one command', () => {
  const text = commandHelpText('ask');
  expect(text).toMatch(/^corollary ask 'p\(\?x, b\)' \[options\]: /);
  expect(text).toContain('--proof');
  expect(text).toContain('Example: corollary ask ');
  expect(text).not.toContain('--dry-run');
  expect(commandHelpText('import')).toContain('--dry-run');
  expect(commandHelpText('serve')).not.toContain('--tenant');
});

it.each(commandNames)('shows nothing for %s that the command line rejects', (name) => {
  const text = commandHelpText(name);
  const options = [...text.matchAll(/^ {2}(?:-o, )?--([a-z-]+)(?: ([A-Z]+))?/gm)];
  for (const [, option = '', value] of options) {
    const given = [name, `--${option}`, ...(value === undefined ? [] : ['x'])];
    expect(() => parseArguments(given), given.join(' ')).not.toThrow(UsageError);
  }
  expect(helpText('1', '')).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
});
