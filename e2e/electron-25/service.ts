/**
 * The built threads of the service as Electron 25 can run them within itself: modules of Node 18, each in one file. Only
 * tests use them.
 */
import { copyFileSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { build } from 'vite';
import { root } from '../root.ts';

const here = join(root, 'e2e/electron-25');

/** What the service names of newer Nodes, beside `polyfills.cjs`. */
const beginning = `import crypto18 from 'node:crypto';
import diagnostics18 from 'node:diagnostics_channel';
import files18 from 'node:fs';
import paths18 from 'node:path';
import zlib18 from 'node:zlib';
globalThis.crypto ??= crypto18.webcrypto;
diagnostics18.tracingChannel ??= (name) => {
  const named = (part) => diagnostics18.channel(\`tracing:\${name}:\${part}\`);
  const parts = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'].map((part) => [part, named(part)]);
  return { hasSubscribers: false, ...Object.fromEntries(parts) };
};
const crcs18 = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});
zlib18.crc32 ??= (given, before = 0) => {
  let crc = ~before;
  for (const byte of Buffer.from(given)) crc = crcs18[(crc ^ byte) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
};
const readdir18 = files18.readdirSync;
files18.readdirSync = (folder, options) => {
  const entries = readdir18(folder, options);
  if (options?.withFileTypes !== true) return entries;
  for (const entry of entries) entry.parentPath = folder;
  const inner = options.recursive === true ? entries.filter((entry) => entry.isDirectory()) : [];
  const below = inner.map(({ name }) => files18.readdirSync(paths18.join(folder, name), options));
  return [...entries, ...below.flat()];
};
`;

/** Named imports of what a module of Node 18 does not have must not end the program: they are undefined. */
function withoutNamedImports(code: string): string {
  let count = 0;
  return code.replaceAll(
    /^import (?:([\w$]+|\* as [\w$]+), )?\{([^}]*)\} from "([^"]+)";$/gm,
    (_, whole: string | undefined, names: string, from: string) => {
      const module = `module18of${count++}`;
      const alsoWhole = whole === undefined ? '' : `import ${whole} from "${from}"; `;
      const named = names.replaceAll(' as ', ': ');
      return `import ${module} from "${from}"; ${alsoWhole}const {${named}} = ${module};`;
    },
  );
}

/** Makes the threads in `folder`, an installation of its own; returns the folder of the programs. */
export async function makeService(folder: string): Promise<string> {
  const programs = join(folder, 'out/main');
  mkdirSync(programs, { recursive: true });
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
  for (const part of ['resources', 'out/renderer', 'out/mcp'])
    symlinkSync(join(root, part), join(folder, part));
  const polyfills = readFileSync(join(here, 'polyfills.cjs'), 'utf8');
  for (const name of ['service-thread', 'reasoning-thread'])
    await build({
      configFile: false,
      root,
      logLevel: 'warn',
      plugins: [
        {
          name: 'node-18',
          renderChunk: (code) => `${beginning}${polyfills}${withoutNamedImports(code)}`,
        },
      ],
      build: {
        ssr: join(root, `out/main/${name}.js`),
        target: 'node18',
        outDir: programs,
        emptyOutDir: false,
        rolldownOptions: {
          external: [...builtinModules, ...builtinModules.map((each) => `node:${each}`)],
          output: { format: 'es', entryFileNames: `${name}.js`, codeSplitting: false },
        },
      },
      ssr: { noExternal: true },
    });
  return programs;
}
