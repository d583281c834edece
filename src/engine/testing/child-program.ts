/** Runs a TypeScript program of this project in its own process, for tests that need a second process. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

export interface Child {
  readonly process: ChildProcess;
  /** The next line that it prints; null at the end. */
  nextLine(): Promise<string | null>;
  kill(signal: NodeJS.Signals): Promise<void>;
}

/**
 * Bundles the program for Node, including its packages, and returns the path of the bundle, in a temporary
 * folder, where it finds what packages keep in files, such as the vocabulary of tokens.
 */
export async function bundleProgram(source: URL): Promise<string> {
  const outDir = await mkdtemp(join(tmpdir(), 'corollary-program-'));
  await build({
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true },
    build: {
      ssr: fileURLToPath(source),
      outDir,
      target: 'node20',
      minify: false,
      rollupOptions: { output: { entryFileNames: 'program.mjs' } },
    },
  });
  await symlink(
    fileURLToPath(new URL('../../../node_modules', import.meta.url)),
    join(outDir, 'node_modules'),
  );
  return join(outDir, 'program.mjs');
}

/** Starts the bundle in a process of its own; `options` are those of Node. */
export function startProgram(path: string, args: readonly string[], options: readonly string[] = []): Child {
  const child = spawn(process.execPath, [...options, path, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exited = once(child, 'exit');
  return {
    process: child,
    nextLine: async () => {
      const line = await lines.next();
      return line.done === true ? null : line.value;
    },
    kill: async (signal) => {
      child.kill(signal);
      await exited;
    },
  };
}
