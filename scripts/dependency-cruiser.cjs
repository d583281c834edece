/**
 * Who may import whom (ARCHITECTURE.md), as rules. Type imports count, and cycles are forbidden.
 *
 * Kept: a folder of the engine imports only the folders named for it here; main and renderer meet the
 * engine only at its front door and its contract, and each other only in desktop-contract; every third party has one home, and one that is not
 * named here has none. Tests keep to the same rules, but may reach `testing`, the test libraries, Node,
 * and (in main) the whole service. scripts/check.mjs asserts that every file was seen.
 */

/** What each folder of the engine may import beside itself. */
const layers = {
  contract: [],
  base: ['contract'],
  logic: ['contract', 'base'],
  facts: ['contract', 'base', 'logic'],
  solve: ['contract', 'base', 'logic', 'facts'],
  context: ['contract', 'base', 'logic', 'facts', 'solve'],
  snapshot: ['contract', 'base', 'logic', 'facts', 'context'],
  lifecycle: ['contract', 'base', 'logic', 'facts', 'solve', 'context'],
  storage: ['contract', 'base'],
  replication: ['contract', 'base', 'storage'],
};

/** Where each third party lives. */
const homes = {
  electron: '^src/main/(desktop/|main\\.ts$|preload\\.ts$)',
  fastify: '^(src/main/(http/|mcp/|a2a/|mcp-host\\.ts$|a2a-host\\.ts$)|bench/http/fastify-child\\.ts$)',
  '@fastify/static': '^src/main/http/',
  '@modelcontextprotocol/server': '^src/main/(mcp|bridge)/',
  '@modelcontextprotocol/node': '^src/main/mcp/',
  '@modelcontextprotocol/server-legacy': '^src/main/mcp/',
  '@modelcontextprotocol/client': '^src/(main/(mcp|bridge)|renderer/features/agents)/',
  '@modelcontextprotocol/sdk': '^src/main/(mcp|bridge)/',
  '@modelcontextprotocol/ext-apps': '^src/(main/mcp|renderer/proof-app)/',
  '@a2a-js/sdk': '^src/main/a2a/',
  '@ai-sdk/': '^src/main/llm/',
  n3: '^src/main/transfer/',
  'csv-parse': '^src/main/transfer/',
  'jks-js': '^src/main/tls/',
  'node-forge': '^src/main/tls/',
  'openapi-explorer': '^src/renderer/',
  uplot: '^src/renderer/',
  'd3-hierarchy': '^src/renderer/features/proof/',
  '@dagrejs/dagre': '^src/renderer/features/(proof|rules)/',
  pino: '^src/main/telemetry/',
  'prom-client': '^src/main/telemetry/',
  zod: '^src/(engine/contract/|main/config[^/]*\\.ts$|main/llm/)',
  react: '^src/renderer/',
  'react-dom': '^src/renderer/',
  '@mantine/': '^src/renderer/',
  '@tabler/icons-react': '^src/renderer/',
  '@tanstack/': '^src/renderer/',
  'monaco-editor': '^src/renderer/',
  'react-resizable-panels': '^src/renderer/',
  zustand: '^src/renderer/',
  vite: '^src/engine/testing/child-program\\.ts$',
};

const test = '\\.(test|fuzz|long|bench)\\.tsx?$';
const testOrSupport = `${test}|/testing/`;
const testLibraries = ['vitest', 'fast-check', 'ajv', 'smol-toml', 'gpt-tokenizer'];

/**
 * A regular expression for a package's files, its types of DefinitelyTyped too; a name that ends in / is a scope.
 * @param {string} name
 */
const packageFiles = (name) =>
  `(^|/)node_modules/(@types/)?${name.replaceAll('.', '\\.')}${name.endsWith('/') ? '' : '/'}`;

const compositionRoots = '^src/main/(main|headless|service|operations|service-thread|preload)\\.ts$';

/**
 * @param {string} name
 * @param {string} comment
 * @param {object} from
 * @param {object} to
 */
const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

const engineRules = [
  ...Object.entries(layers).map(([folder, below]) =>
    forbid(
      `engine-${folder}`,
      `src/engine/${folder} imports ${below.length > 0 ? below.join(', ') : 'no other folder'}`,
      { path: `^src/engine/${folder}/`, pathNot: testOrSupport },
      { path: '^src/', pathNot: `^src/engine/(${[folder, ...below].join('|')})/` },
    ),
  ),
  ...Object.entries(layers).map(([folder, below]) =>
    forbid(
      `engine-${folder}-tests`,
      'a test of the engine keeps to the layers of what it tests, and may use testing',
      { path: `^src/engine/${folder}/.*(${test})` },
      { path: '^src/', pathNot: `^src/engine/(${[folder, 'testing', ...below].join('|')})/` },
    ),
  ),
  forbid(
    'engine-folders-are-named',
    'a new folder of the engine is first given its place among the layers',
    { path: `^src/engine/(?!(${[...Object.keys(layers), 'testing'].join('|')})/)[^/]+/` },
    {},
  ),
  forbid(
    'engine-imports-engine',
    'the engine knows neither the service nor the workbench',
    { path: '^src/engine/' },
    { path: '^(src|e2e|bench|scripts)/', pathNot: '^src/engine/' },
  ),
  forbid(
    'engine-front-door-is-for-outsiders',
    'inside the engine nothing imports index.ts',
    { path: '^src/engine/', pathNot: testOrSupport },
    { path: '^src/engine/index\\.ts$' },
  ),
  forbid(
    'testing-is-for-tests',
    'what runs does not import what tests it',
    { path: '^src/', pathNot: testOrSupport },
    { path: '/testing/' },
  ),
  forbid(
    'engine-without-node',
    "Node only in storage's backend; time, randomness and I/O are passed in",
    { path: '^src/engine/', pathNot: `^src/engine/storage/|${testOrSupport}` },
    { dependencyTypes: ['core'] },
  ),
];

const mainRules = [
  forbid(
    'main-to-engine',
    "main meets the engine at its front door and its contract; so does the renderer's server side",
    { path: '^src/main/', pathNot: test },
    { path: '^src/(engine|renderer)/', pathNot: '^src/engine/(index\\.ts$|contract/)' },
  ),
  forbid(
    'main-tests-to-engine',
    "main's tests may use the engine's testing too",
    { path: `^src/main/.*(${test})` },
    { path: '^src/(engine|renderer)/', pathNot: '^src/engine/(index\\.ts$|contract/|testing/)' },
  ),
  forbid(
    'main-folders-are-strangers',
    "main's folders meet only in main.ts, headless.ts, service.ts and operations.ts",
    { path: '^src/main/([^/]+)/', pathNot: test },
    { path: '^src/main/([^/]+)/', pathNot: '^src/main/$1/' },
  ),
  forbid(
    'main-folders-below-their-roots',
    'what composes the service is not imported by what it composes',
    { path: '^src/main/[^/]+/', pathNot: test },
    { path: compositionRoots },
  ),
  forbid(
    'configuration-is-a-leaf',
    'configuration is parsed from the environment, and knows nothing of what is configured',
    { path: '^src/main/config[^/]*\\.ts$' },
    { path: `^src/(main/[^/]+/|renderer/)|${compositionRoots}` },
  ),
  forbid(
    'main-runs-on-production-dependencies',
    'the headless service starts with nothing but Node and the production packages',
    { path: '^src/(main|engine)/', pathNot: testOrSupport },
    { dependencyTypes: ['npm-dev'], pathNot: packageFiles('electron') },
  ),
  forbid(
    'headless-without-electron',
    'whatever headless.ts reaches must run where Electron is not installed',
    { path: '^src/main/(headless|service|operations|service-thread)\\.ts$' },
    { path: `${packageFiles('electron')}|^src/main/(main|preload)\\.ts$`, reachable: true },
  ),
];

const rendererRules = [
  forbid(
    'renderer-to-engine',
    'the workbench knows the engine by its contract and the language alone',
    { path: '^src/renderer/' },
    { path: '^src/(engine|main)/', pathNot: '^src/engine/(contract|logic)/' },
  ),
  forbid(
    'features-are-siblings',
    'one tool of the workbench does not import another',
    { path: '^src/renderer/features/([^/]+)/' },
    { path: '^src/renderer/features/([^/]+)/', pathNot: '^src/renderer/features/$1/' },
  ),
  forbid(
    'features-on-top',
    'api, editor and ui serve the features and do not know them',
    { path: '^src/renderer/(api|editor|ui)/' },
    { path: '^src/renderer/features/' },
  ),
  forbid(
    'proof-app-is-a-page-of-its-own',
    'the page in a chat has of the workbench only what is pure, so that it stays small',
    { path: '^src/renderer/proof-app/' },
    {
      path: '^src/renderer/',
      pathNot:
        '^src/renderer/(proof-app/|no-eval\\.ts$|ui/format\\.ts$|editor/lexer\\.ts$|features/proof/(proof-tree|step-words|tree-keys)\\.ts$)',
    },
  ),
  forbid(
    'ui-is-a-leaf',
    'ui imports nothing of the project',
    { path: '^src/renderer/ui/', pathNot: test },
    { path: '^src/', pathNot: '^src/renderer/ui/' },
  ),
  forbid(
    'renderer-without-node',
    'a browser has no Node',
    { path: '^src/renderer/', pathNot: testOrSupport },
    { dependencyTypes: ['core'] },
  ),
];

const thirdPartyRules = [
  ...Object.entries(homes).map(([name, home]) =>
    forbid(
      `home-of-${name.replace('@', '').replace(/\/$/, '')}`,
      `one home for each third party: ${home}`,
      { path: '^src/', pathNot: `${home}` },
      { path: packageFiles(name) },
    ),
  ),
  forbid(
    'fastify-by-type-alone-in-mcp-and-a2a',
    'MCP and A2A mount their routes on the app that http makes, and know of Fastify its types alone',
    { path: '^src/main/(mcp|a2a)', pathNot: test },
    { path: packageFiles('fastify'), dependencyTypesNot: ['type-only'] },
  ),
  forbid(
    'third-party-without-a-home',
    'a new third party is first given a home here, and its reason in docs/decisions',
    { path: '^src/', pathNot: testOrSupport },
    {
      path: '(^|/)node_modules/',
      pathNot: [...Object.keys(homes).map(packageFiles), '(^|/)node_modules/@types/node/'],
    },
  ),
  forbid(
    'third-party-without-a-home-in-tests',
    'tests have their libraries beside the third parties with a home',
    { path: `^src/.*(${testOrSupport})` },
    {
      path: '(^|/)node_modules/',
      pathNot: [
        ...[...Object.keys(homes), ...testLibraries].map(packageFiles),
        '(^|/)node_modules/@types/node/',
      ],
    },
  ),
];

const desktopRules = [
  forbid(
    'desktop-contract-is-a-leaf',
    'what the page and the desktop shell say to each other knows nothing of either',
    { path: '^src/desktop-contract/', pathNot: test },
    { path: ['^src/', '(^|/)node_modules/'], pathNot: '^src/desktop-contract/' },
  ),
  forbid(
    'desktop-contract-for-the-desktop',
    'of the main process the shell and the preload alone speak to the page by it',
    { path: '^src/(engine|main)/', pathNot: '^src/main/(desktop/|preload\\.ts$)' },
    { path: '^src/desktop-contract/' },
  ),
];

const clientRules = [
  forbid(
    'client-of-its-own',
    'the client package stands alone: it knows the service by what is written from the contract',
    { path: '^client/', pathNot: test },
    { pathNot: '^client/src/' },
  ),
  forbid(
    'client-for-the-workbench',
    'engine and service offer what the client calls, and do not call it',
    { path: '^src/(engine|main)/' },
    { path: '^client/' },
  ),
];

const generalRules = [
  forbid('no-cycles', 'no file imports itself by way of others', {}, { circular: true }),
  forbid('nothing-unresolved', 'every import leads somewhere', {}, { couldNotResolve: true }),
  forbid(
    'sources-alone',
    'the product does not import its own tests, benchmarks and scripts',
    { path: '^src/' },
    { path: '^(e2e|bench|scripts)/' },
  ),
  forbid(
    'end-to-end-from-outside',
    'end-to-end tests know the product from outside, and its contract',
    { path: '^e2e/' },
    { path: '^src/', pathNot: '^src/(engine/contract|desktop-contract)/' },
  ),
];

module.exports = {
  forbidden: [
    ...engineRules,
    ...mainRules,
    ...rendererRules,
    ...thirdPartyRules,
    ...desktopRules,
    ...clientRules,
    ...generalRules,
  ],
  options: {
    doNotFollow: { path: '(^|/)node_modules/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
};
