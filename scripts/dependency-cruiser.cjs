/**
 * Who may import whom (ARCHITECTURE.md), as rules. Type imports count, and cycles are forbidden.
 *
 * A folder of the engine imports only the folders listed for it here; main and renderer import the engine only through
 * its index and its contract, and each other only through desktop-contract; every third-party package has one home, and
 * an unlisted one has none. Tests follow the same rules, but may import `testing`, the test libraries, Node, and (in
 * main) the whole service. scripts/check.mjs asserts that every file was seen.
 */

/**
 * The lists by name, split at blanks.
 * @param {Record<string, string>} lists
 * @returns {Record<string, string[]>}
 */
const listed = (lists) =>
  Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list.split(' ').filter(Boolean)]));

/** What each folder of the engine may import beside itself, from the bottom up. */
const layers = listed({
  contract: '',
  base: 'contract',
  language: 'contract base',
  store: 'contract base language',
  log: 'contract base',
  'datalog/model': 'contract base language store',
  'datalog/plan': 'contract base language store datalog/model',
  'datalog/join': 'contract base language store datalog/model datalog/plan',
  'datalog/closure': 'contract base language store datalog/model datalog/plan datalog/join',
  'datalog/tables': 'contract base language store datalog/model datalog/plan datalog/join datalog/closure',
  'datalog/explain': 'contract base language store datalog/model datalog/plan datalog/join datalog/tables',
  'datalog/maintain':
    'contract base language store datalog/model datalog/plan datalog/tables datalog/explain',
  'state/columns': 'contract base language store',
  state: 'contract base language store log datalog/model state/columns',
  commit: 'contract base language store log datalog/model state',
  session: 'contract base language store log state commit datalog/model datalog/tables datalog/maintain',
  read: 'contract base language store state commit session datalog/model datalog/plan datalog/tables datalog/explain datalog/maintain',
  write:
    'contract base language store log state commit session read datalog/model datalog/tables datalog/maintain',
  memory: 'contract base language store state commit session read datalog/model datalog/tables',
  search: 'contract base language store session read memory datalog/model datalog/tables',
  window:
    'contract base language store state session read memory search datalog/model datalog/tables datalog/explain',
  history: 'contract base language store log state commit session write datalog/model datalog/tables',
  folder: 'contract base log state datalog/model',
  replication: 'contract base log state commit session',
  reasoning:
    'contract base language store log state session read write memory search window datalog/model datalog/tables datalog/maintain',
  operations:
    'contract base language store log state commit session read write memory search window history replication reasoning datalog/model datalog/tables',
});

/** The files that open an engine, and the service's view of it: no folder imports them. */
const fronts = listed({
  'open-part': 'base log state commit session operations',
  'open-engine': 'base log operations',
  'open-shelf': 'contract base log state commit session write operations reasoning folder replication',
  index:
    'base language log state commit session read write memory search window folder replication reasoning operations',
});

/**
 * The files directly in these folders of the engine.
 * @param {readonly string[]} folders
 * @returns {string}
 */
const inEngine = (folders) =>
  `^src/engine/(${folders.map((folder) => (folder === 'contract' ? 'contract(/operations)?' : folder)).join('|')})/[^/]+$`;

/** What a test of a folder may import in addition: all of evaluation, and an opened engine. */
const evaluation = Object.keys(layers).filter((folder) => folder.startsWith('datalog/'));
const forTests = ['testing', 'log', 'state', 'operations', ...evaluation];

const test = '\\.(test|fuzz|long|bench)\\.tsx?$';
const testOrSupport = `${test}|/testing/`;

/** The home of each third-party package. */
const homes = {
  electron: '^src/main/(desktop/|entry/(main|preload)\\.ts$)',
  fastify: '^(src/main/(http/|mcp/|a2a/|base/agent-host\\.ts$)|bench/http/fastify-child\\.ts$)',
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
  stemmer: '^src/engine/search/',
  pg: `^src/engine/log/postgres-connection\\.ts$|${testOrSupport}`,
  'gpt-tokenizer': `^src/engine/base/|${testOrSupport}`,
  'csv-parse': '^src/main/transfer/',
  'smol-toml': '^src/(main/packages/|engine/contract/testing/)',
  'jks-js': '^src/main/tls/',
  'node-forge': '^src/main/tls/',
  'openapi-explorer': '^src/renderer/',
  uplot: '^src/renderer/',
  'd3-hierarchy': '^src/renderer/ui/layout/',
  '@dagrejs/dagre': '^src/renderer/ui/layout/',
  'vscode-languageserver': '^src/main/language-server/',
  'vscode-languageserver-textdocument': '^src/main/language-server/',
  pino: '^src/main/telemetry/',
  'prom-client': '^src/main/telemetry/',
  zod: '^src/(engine/contract/|main/base/config[^/]*\\.ts$|main/llm/)',
  react: '^src/renderer/',
  'react-dom': '^src/renderer/',
  '@mantine/': '^src/renderer/',
  '@tabler/icons-react': '^src/renderer/',
  '@tanstack/': '^src/renderer/',
  'monaco-editor': '^src/renderer/',
  'react-resizable-panels': '^src/renderer/',
  zustand: '^src/renderer/',
  '@fontsource/': '^src/renderer/ui/',
  '@fontsource-variable/': '^src/renderer/ui/',
  vite: '^src/engine/testing/child-program\\.ts$',
};

const testLibraries = ['vitest', 'fast-check', 'ajv'];

/**
 * A regular expression for a package's files, including its types of DefinitelyTyped; a name that ends in / is a scope.
 * @param {string} name
 */
const packageFiles = (name) =>
  `(^|/)node_modules/(@types/)?${name.replaceAll('.', '\\.')}${name.endsWith('/') ? '' : '/'}`;

/** What each folder of the service may import of it beside itself. */
const mainLayers = {
  base: [],
  ...Object.fromEntries(
    ['http', 'mcp', 'a2a', 'auth', 'telemetry', 'tls', 'llm', 'transfer', 'replication'].map((name) => [
      name,
      ['base'],
    ]),
  ),
  bridge: ['base'],
  packages: ['base'],
  'command-line': ['base', 'packages'],
  'language-server': ['packages'],
  desktop: ['base'],
  service: [
    'base',
    'http',
    'mcp',
    'a2a',
    'auth',
    'telemetry',
    'tls',
    'llm',
    'transfer',
    'replication',
    'bridge',
  ],
  entry: ['base', 'service', 'command-line', 'language-server', 'desktop', 'telemetry'],
};

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
      `engine-${folder.replace('/', '-')}`,
      `src/engine/${folder} imports ${below.length > 0 ? below.join(', ') : 'no other folder'}`,
      { path: inEngine([folder]), pathNot: testOrSupport },
      { path: '^src/', pathNot: inEngine([folder, ...below]) },
    ),
  ),
  ...Object.entries(layers).map(([folder, below]) =>
    forbid(
      `engine-${folder.replace('/', '-')}-tests`,
      'a test of the engine follows the layers of its subject, and may open an engine',
      { path: `${inEngine([folder]).slice(0, -1)}(${test})` },
      {
        path: '^src/',
        pathNot: [
          inEngine([folder, ...below, ...forTests]),
          '^src/engine/open-(engine|part|shelf)\\.ts$',
          '/testing/',
        ],
      },
    ),
  ),
  ...Object.entries(fronts).map(([front, below]) =>
    forbid(
      `engine-${front}`,
      `src/engine/${front}.ts imports ${below.join(', ')}`,
      { path: `^src/engine/${front}\\.ts$` },
      { path: '^src/', pathNot: [inEngine(below), '^src/engine/open-(engine|part|shelf)\\.ts$'] },
    ),
  ),
  forbid(
    'engine-folders-are-named',
    'a new folder or file of the engine must first be assigned to a layer',
    {
      path: '^src/engine/',
      pathNot: [
        inEngine(Object.keys(layers)),
        `^src/engine/(${Object.keys(fronts).join('|')})\\.ts$`,
        '/testing/',
      ],
    },
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
    'inside the engine nothing imports its entry points',
    { path: '^src/engine/', pathNot: [testOrSupport, '^src/engine/(index|open-engine|open-shelf)\\.ts$'] },
    { path: `^src/engine/(${Object.keys(fronts).join('|')})\\.ts$` },
  ),
  forbid(
    'testing-is-for-tests',
    'product code does not import test code',
    { path: '^src/', pathNot: testOrSupport },
    { path: '/testing/' },
  ),
  forbid(
    'engine-without-node',
    "Node only in the log's backend; time, randomness and I/O are passed in",
    { path: '^src/engine/', pathNot: `^src/engine/log/|${testOrSupport}` },
    { dependencyTypes: ['core'] },
  ),
];

const mainRules = [
  forbid(
    'main-to-engine',
    "main imports the engine only through its index and its contract; so does the renderer's server side",
    { path: '^src/main/', pathNot: test },
    { path: '^src/(engine|renderer)/', pathNot: '^src/engine/(index\\.ts$|contract/)' },
  ),
  forbid(
    'main-tests-to-engine',
    "main's tests may use the engine's testing too",
    { path: `^src/main/.*(${test})` },
    { path: '^src/(engine|renderer)/', pathNot: '^src/engine/(index\\.ts$|contract/|testing/)' },
  ),
  ...Object.entries(mainLayers).map(([folder, below]) =>
    forbid(
      `main-${folder}`,
      `src/main/${folder} imports ${below.length > 0 ? below.join(', ') : 'no other folder of src/main'}`,
      { path: `^src/main/${folder}/`, pathNot: testOrSupport },
      { path: '^src/main/', pathNot: `^src/main/(${[folder, ...below].join('|')})/` },
    ),
  ),
  forbid(
    'main-folders-are-named',
    'a new folder of the service must first be assigned to a layer',
    { path: '^src/main/', pathNot: `^src/main/(${[...Object.keys(mainLayers), 'testing'].join('|')})/` },
    {},
  ),
  forbid(
    'main-runs-on-production-dependencies',
    'the headless service starts with only Node and the production packages',
    { path: '^src/(main|engine)/', pathNot: testOrSupport },
    { dependencyTypes: ['npm-dev'], pathNot: packageFiles('electron') },
  ),
  forbid(
    'headless-without-electron',
    'everything that headless.ts reaches must run without Electron',
    { path: '^src/main/(entry/(headless|service-thread|reasoning-thread)\\.ts$|service/)' },
    { path: `${packageFiles('electron')}|^src/main/entry/(main|preload)\\.ts$`, reachable: true },
  ),
];

const rendererRules = [
  forbid(
    'renderer-to-engine',
    'the workbench imports only the contract and the language of the engine',
    { path: '^src/renderer/' },
    { path: '^src/(engine|main)/', pathNot: '^src/engine/(contract|language)/' },
  ),
  forbid(
    'operations-by-type-alone-in-the-workbench',
    'the operations table has prose and examples, which the workbench does not load: it has the table of the client',
    { path: '^src/renderer/', pathNot: test },
    { path: '^src/engine/contract/operations[/.]', dependencyTypesNot: ['type-only'] },
  ),
  forbid(
    'features-are-siblings',
    'features of the workbench do not import each other',
    { path: '^src/renderer/features/([^/]+)/' },
    { path: '^src/renderer/features/([^/]+)/', pathNot: '^src/renderer/features/$1/' },
  ),
  forbid(
    'app-on-top',
    'app imports the features, and no feature imports app',
    { path: '^src/renderer/(features|proof-app)/' },
    { path: '^src/renderer/app/' },
  ),
  forbid(
    'features-on-top',
    'api, editor and ui serve the features and do not import them',
    { path: '^src/renderer/(api|editor|ui)/' },
    { path: '^src/renderer/(features|app)/' },
  ),
  forbid(
    'proof-app-is-a-page-of-its-own',
    'the page in a chat imports only pure code of the workbench, so that it stays small',
    { path: '^src/renderer/proof-app/' },
    {
      path: '^src/renderer/',
      pathNot: '^src/renderer/(proof-app/|ui/no-eval\\.ts$|ui/format\\.ts$)',
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
      `one home for each third-party package: ${home}`,
      { path: '^src/', pathNot: `${home}` },
      { path: packageFiles(name) },
    ),
  ),
  forbid(
    'fastify-by-type-alone-in-mcp-and-a2a',
    "MCP and A2A mount their routes on the app that http creates, and import only Fastify's types",
    { path: '^src/main/(mcp|a2a)', pathNot: test },
    { path: packageFiles('fastify'), dependencyTypesNot: ['type-only'] },
  ),
  forbid(
    'third-party-without-a-home',
    'a new third-party package must first get a home here, and its reason in docs/decisions',
    { path: '^src/', pathNot: testOrSupport },
    {
      path: '(^|/)node_modules/',
      pathNot: [...Object.keys(homes).map(packageFiles), '(^|/)node_modules/@types/node/'],
    },
  ),
  forbid(
    'third-party-without-a-home-in-tests',
    'tests have their libraries beside the third-party packages with a home',
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

const proofRules = [
  forbid(
    'proof-is-pure',
    'the model and the text of a proof run anywhere: they know the contract and the language alone',
    { path: '^src/proof/', pathNot: test },
    { path: ['^src/', '(^|/)node_modules/'], pathNot: '^src/(proof|engine/(contract|language))/' },
  ),
  forbid(
    'proof-without-node',
    'a browser has no Node',
    { path: '^src/proof/', pathNot: test },
    { dependencyTypes: ['core'] },
  ),
  forbid(
    'proof-above-the-engine',
    'the engine gives proofs as the contract says, and does not render them',
    { path: '^src/engine/' },
    { path: '^src/proof/' },
  ),
];

const editingRules = [
  forbid(
    'editing-is-pure',
    'what editors do with a text runs anywhere: it knows the contract and the language alone',
    { path: '^src/editing/', pathNot: test },
    { path: ['^src/', '(^|/)node_modules/'], pathNot: '^src/(editing|engine/(contract|language))/' },
  ),
  forbid(
    'editing-without-node',
    'a browser has no Node',
    { path: '^src/editing/', pathNot: test },
    { dependencyTypes: ['core'] },
  ),
  forbid(
    'editing-above-the-engine',
    'the engine reads and checks texts, and edits none',
    { path: '^src/engine/' },
    { path: '^src/editing/' },
  ),
];

const desktopRules = [
  forbid(
    'desktop-contract-is-a-leaf',
    'the contract between page and desktop shell imports neither',
    { path: '^src/desktop-contract/', pathNot: test },
    { path: ['^src/', '(^|/)node_modules/'], pathNot: '^src/desktop-contract/' },
  ),
  forbid(
    'desktop-contract-for-the-desktop',
    'in the main process only the shell and the preload use it to speak to the page',
    { path: '^src/(engine|main)/', pathNot: '^src/main/(desktop/|entry/preload\\.ts$)' },
    { path: '^src/desktop-contract/' },
  ),
];

const clientRules = [
  forbid(
    'client-of-its-own',
    'the client package is independent: it knows the service only by the code generated from the contract',
    { path: '^client/', pathNot: test },
    { pathNot: '^client/src/' },
  ),
  forbid(
    'client-for-the-workbench',
    'engine and service do not import the client, but for tests that call a service with it',
    { path: '^src/(engine|main)/', pathNot: test },
    { path: '^client/' },
  ),
];

const generalRules = [
  forbid('no-cycles', 'no file imports itself through others', {}, { circular: true }),
  forbid('nothing-unresolved', 'every import can be resolved', {}, { couldNotResolve: true }),
  forbid(
    'sources-alone',
    'the product does not import its own tests, benchmarks and scripts',
    { path: '^src/' },
    { path: '^(e2e|bench|scripts)/' },
  ),
  forbid(
    'end-to-end-from-outside',
    'end-to-end tests use the product from outside, and its contract',
    { path: '^e2e/' },
    {
      path: '^src/',
      pathNot: '^src/(engine/contract|desktop-contract)/|^src/engine/testing/private-postgres',
    },
  ),
];

module.exports = {
  forbidden: [
    ...engineRules,
    ...mainRules,
    ...rendererRules,
    ...thirdPartyRules,
    ...proofRules,
    ...editingRules,
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
