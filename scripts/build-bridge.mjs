import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The second part of a build: the stdio bridge as one file that needs only Node, and the same file packed as a bundle
 * that Claude Desktop installs by a double click.
 *
 * The build is reproducible: the same sources give the same bytes, even of the bundle, whose archive carries no time.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
const bridgeFile = join(root, 'out/bridge/corollary-mcp.js');
const bundleFile = join(root, 'out/corollary.mcpb');

/** Builds both. */
export async function buildBridge() {
  await buildProgram(dirname(bridgeFile));
  await buildBundle();
}

/**
 * Builds only the program, into a folder that is emptied first.
 * @param {string} folder
 */
export async function buildProgram(folder) {
  const { build } = await import('vite');
  await build({
    configFile: false,
    root,
    logLevel: 'warn',
    publicDir: false,
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: 'src/main/bridge/corollary-mcp.ts',
      target: 'node20.19',
      outDir: folder,
      emptyOutDir: true,
      minify: false,
      reportCompressedSize: false,
      rolldownOptions: {
        output: { format: 'es', entryFileNames: 'corollary-mcp.js', codeSplitting: false },
      },
    },
  });
  chmodSync(join(folder, 'corollary-mcp.js'), 0o755);
}

async function buildBundle() {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-bundle-'));
  try {
    mkdirSync(join(folder, 'server'));
    writeFileSync(join(folder, 'manifest.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
    copyFileSync(bridgeFile, join(folder, 'server/corollary-mcp.mjs'));
    copyFileSync(join(root, 'resources/icons/512x512.png'), join(folder, 'icon.png'));
    copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
    for (const file of ['manifest.json', 'icon.png', 'LICENSE', 'server/corollary-mcp.mjs'])
      chmodSync(join(folder, file), file.endsWith('.mjs') ? 0o755 : 0o644);
    const { packExtension } = await import('@anthropic-ai/mcpb');
    const isPacked = await quietly(() =>
      packExtension({ extensionPath: folder, outputPath: bundleFile, silent: true }),
    );
    if (!isPacked) throw new Error('the manifest of the bundle is not valid, or it could not be packed');
    writeFileSync(bundleFile, withoutTimes(readFileSync(bundleFile)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The packer reports success for a valid manifest even if it is silenced; errors in one go to standard error.
 * @template Result
 * @param {() => Promise<Result>} work
 */
async function quietly(work) {
  const { log } = console;
  console.log = () => {};
  try {
    return await work();
  } finally {
    console.log = log;
  }
}

/** The description in the bundle. */
export function manifest() {
  /** @type {{version: string, description: string, license: string}} */
  const { version, description, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return {
    manifest_version: '0.3',
    name: 'corollary',
    display_name: 'Corollary',
    version,
    description: 'A knowledge base that reasons: facts, rules, questions, and the proof of every answer.',
    long_description:
      `${description}\n\nThis bundle connects Claude to the Corollary that runs on this machine, or starts the one that ran last. ` +
      'Corollary itself has to be installed.',
    author: { name: 'Corollary' },
    icon: 'icon.png',
    server: {
      type: 'node',
      entry_point: 'server/corollary-mcp.mjs',
      mcp_config: {
        command: 'node',
        args: [
          '${__dirname}/server/corollary-mcp.mjs',
          '--database=${user_config.database}',
          '--tenant=${user_config.tenant}',
          '--url=${user_config.url}',
        ],
        env: { COROLLARY_API_KEY: '${user_config.key}' },
      },
    },
    tools: tools.map(([name, text]) => ({ name, description: text })),
    prompts_generated: true,
    keywords: ['knowledge', 'memory', 'reasoning', 'datalog', 'proofs'],
    license,
    compatibility: {
      claude_desktop: '>=0.10.0',
      platforms: ['darwin', 'win32', 'linux'],
      runtimes: { node: '>=20.19.0' },
    },
    user_config: {
      database: {
        type: 'string',
        title: 'Database',
        description: 'Rules and facts of one project: make one for each under Admin, Databases',
        default: 'default',
        required: false,
      },
      tenant: {
        type: 'string',
        title: 'Tenant',
        description: 'Whose facts in it; rules serve all tenants of the database',
        default: 'default',
        required: false,
      },
      key: {
        type: 'string',
        title: 'API key',
        description: 'Only where Corollary wants one',
        sensitive: true,
        default: '',
        required: false,
      },
      url: {
        type: 'string',
        title: 'Address',
        description: 'Only where Corollary runs elsewhere; else the one that runs on this machine is found',
        default: '',
        required: false,
      },
    },
  };
}

/** @type {readonly (readonly [name: string, text: string])[]} */
const tools = [
  ['tell', 'Store a fact'],
  ['ask', 'Ask what follows, with the proof'],
  ['teach', 'Store a rule'],
  ['forget', 'Retract facts'],
  ['recall', 'What is most worth knowing about a topic'],
  ['search', 'Find facts, rules and names by plain words'],
  ['context', 'A window of knowledge for a task, within a budget'],
  ['compress', 'Fold facts that are alike into summaries'],
  ['cleanup', 'Retract what has faded or expired'],
  ['predicates', 'The vocabulary in use'],
];

/**
 * The archive with one fixed time for all its entries. Its format: PKWARE's APPNOTE, 4.3.7 and 4.3.12.
 * @param {Buffer} archive
 */
function withoutTimes(archive) {
  const patched = Buffer.from(archive);
  const end = patched.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  let entry = patched.readUInt32LE(end + 16);
  for (let left = patched.readUInt16LE(end + 10); left > 0; left--) {
    const local = patched.readUInt32LE(entry + 42);
    // The first of January 1980, the earliest time that the format can represent.
    patched.writeUInt32LE(0x0021_0000, entry + 12);
    patched.writeUInt32LE(0x0021_0000, local + 10);
    entry +=
      46 +
      patched.readUInt16LE(entry + 28) +
      patched.readUInt16LE(entry + 30) +
      patched.readUInt16LE(entry + 32);
  }
  return patched;
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) await buildBridge();
