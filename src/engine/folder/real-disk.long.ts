/**
 * Failing disks of the real system: a file system of 64 KiB, and system calls that strace makes fail. A test is skipped
 * if the machine does not allow it.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { bundleProgram } from '../testing/child-program.ts';

const timeout = 600_000;

interface Told {
  readonly answered: number;
  readonly refused: { readonly code: string; readonly message: string } | null;
  readonly readable: number;
  readonly isReady: boolean;
  readonly isWritable: boolean;
  readonly found: number;
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-disk-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function ran(command: string, args: readonly string[]): Told {
  const { stdout, stderr, status } = spawnSync(command, args, { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Told;
}

const mounts =
  spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', '/mnt']).status === 0;
const traces = spawnSync('strace', ['-e', 'inject=fdatasync:error=EIO:when=99', 'true']).status === 0;
if (!mounts) console.log('skipped: this machine does not allow mounting a file system of 64 KiB');
if (!traces) console.log('skipped: strace is not installed, or may not trace');

test.runIf(mounts)(
  'a full disk of 64 KiB refuses writes, answers reads, and accepts writes again when there is space',
  { timeout },
  async () => {
    const folder = temporaryFolder();
    const filler = join(temporaryFolder(), 'filler');
    writeFileSync(filler, new Uint8Array(24 * 1024));
    const program = await bundleProgram(new URL('../testing/write-until-refused.ts', import.meta.url));
    const script = 'mount -t tmpfs -o size=64k none "$1" && cp "$2" "$1/filler" && exec "$3" "$4" "$1"';
    const told = ran('unshare', ['-rm', 'sh', '-c', script, 'sh', folder, filler, process.execPath, program]);
    expect(told.refused).toMatchObject({ code: 'StorageUnavailable' });
    expect(told.refused?.message).toContain('the disk is full');
    expect(told.answered).toBeGreaterThan(10);
    expect(told).toMatchObject({ readable: told.answered, isReady: true, isWritable: true });
    expect(told.found).toBe(told.answered + 1);
  },
);

for (const [call, error] of [
  ['fdatasync', 'EIO'],
  ['fdatasync', 'ENOSPC'],
  ['pwrite64', 'ENOSPC'],
] as const)
  test.runIf(traces)(
    `${call} that fails with ${error} refuses the write and keeps everything acknowledged`,
    {
      timeout,
    },
    async () => {
      const folder = temporaryFolder();
      const program = await bundleProgram(new URL('../testing/write-until-refused.ts', import.meta.url));
      const inject = `inject=${call}:error=${error}:when=9`;
      const told = ran('strace', [
        '-f',
        '-qq',
        '-o',
        '/dev/null',
        '-e',
        `trace=${call}`,
        '-e',
        inject,
        process.execPath,
        program,
        folder,
      ]);
      expect(told.refused).toMatchObject({ code: 'StorageUnavailable' });
      expect(told.answered).toBeGreaterThan(0);
      expect(told.readable).toBe(told.answered);
      // After a failed sync the contents of the disk are unknown: nothing is written until a restart.
      expect(told.isWritable).toBe(call === 'pwrite64');
      if (call === 'pwrite64') expect(told.found).toBe(told.answered + 1);
      else expect([told.answered, told.answered + 1]).toContain(told.found);
    },
  );
