import { expect, it } from 'vitest';
import { autostartEntry } from './autostart-entry.ts';

function execOf(command: readonly string[]): string | undefined {
  return /^Exec=(.*)$/m.exec(autostartEntry(command))?.[1];
}

it('quotes the program and each argument', () => {
  expect(execOf(['/opt/Corollary/corollary', '--hidden'])).toBe('"/opt/Corollary/corollary" "--hidden"');
  expect(autostartEntry(['/x']).startsWith('[Desktop Entry]\nType=Application\n')).toBe(true);
});

it('escapes a path so that no part is read as code, a field or a closing quote', () => {
  expect(execOf(['/home/a b/50%/$HOME/`x`/"q"'])).toBe(
    String.raw`"/home/a b/50%%/\\$HOME/\\` + '`x' + String.raw`\\` + '`/' + String.raw`\\"q\\""`,
  );
});
