import { expect, it } from 'vitest';
import { autostartEntry } from './autostart-entry.ts';

function execOf(command: readonly string[]): string | undefined {
  return /^Exec=(.*)$/m.exec(autostartEntry(command))?.[1];
}

it('an autostart entry names the program and its arguments, each quoted', () => {
  expect(execOf(['/opt/Corollary/corollary', '--hidden'])).toBe('"/opt/Corollary/corollary" "--hidden"');
  expect(autostartEntry(['/x']).startsWith('[Desktop Entry]\nType=Application\n')).toBe(true);
});

it('nothing in a path is read as code, a field or an end of the quotes', () => {
  expect(execOf(['/home/a b/50%/$HOME/`x`/"q"'])).toBe(
    String.raw`"/home/a b/50%%/\\$HOME/\\` + '`x' + String.raw`\\` + '`/' + String.raw`\\"q\\""`,
  );
});
