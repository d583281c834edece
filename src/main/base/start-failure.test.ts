import { expect, it } from 'vitest';
import { openFailure } from './start-failure.ts';
import { StartRefusal } from './start-refusal.ts';

it.each([
  ['ENOSPC', 'Make room on its disk'],
  ['EDQUOT', 'Make room on its disk'],
  ['EACCES', 'Give this user the right'],
  ['EROFS', 'Give this user the right'],
  ['EIO', 'Check the disk'],
])('explains %s of the storage folder in plain words, with what to do', (code, advice) => {
  const system = Object.assign(new Error(`${code}: it failed, write`), { code, syscall: 'write' });
  const refusal = openFailure(system, '/data');
  expect(refusal).toBeInstanceOf(StartRefusal);
  expect(refusal).toMatchObject({ kind: 'failed', exitCode: 1 });
  const { message } = refusal as StartRefusal;
  expect(message).toContain(`the folder /data cannot be used (${code}: it failed, write)`);
  expect(message).toContain(advice);
});

it('passes on any error that is not a system error as a bug', () => {
  const bug = new TypeError('nothing has no length');
  expect(openFailure(bug, '/data')).toBe(bug);
});
