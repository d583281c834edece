/** The contents of the documentation, for the site and for the pages that the service serves. */
import { readdirSync, readFileSync } from 'node:fs';

/** @typedef {{text: string, link?: string, collapsed?: boolean, items?: Entry[]}} Entry of the contents; `link` without its extension */

const guides = [
  ['Connect an agent', '/agents'],
  ['Use the desktop application', '/how-to/desktop'],
  ['Import from CSV and RDF', '/how-to/import'],
  ['Give knowledge a shape', '/how-to/shape'],
  ['Scopes, and merging them', '/how-to/scopes'],
  ['Why not, and what if', '/how-to/why-not'],
  ['See the past', '/how-to/history'],
  ['Read a plan', '/how-to/read-a-plan'],
  ['Back up, restore, encrypt', '/how-to/backup'],
  ['Run a follower', '/how-to/follower'],
  ['Keys, and TLS', '/how-to/keys-and-tls'],
  ['Tune limits', '/how-to/limits'],
  ['Use a language model', '/language-models'],
  ['Package and deploy', '/packaging'],
  ['On the command line', '/command-line'],
];

const operations = [
  'facts',
  'entities',
  'shape',
  'rules',
  'constraints',
  'tests',
  'inference',
  'history',
  'transactions',
  'scopes',
  'memory',
  'context',
  'language',
  'transfer',
  'databases',
  'authentication',
  'agents',
  'replication',
  'service',
].map((tag) => [tag.charAt(0).toUpperCase() + tag.slice(1), `/reference/${tag}`]);

const reference = [
  ['Problems', '/reference/problems'],
  ['Configuration', '/reference/configuration'],
  ['Command line', '/reference/command-line'],
  ['The language', '/grammar'],
  ['Glossary', '/glossary'],
  ['The service', '/service'],
  ['The API, by curl', '/http'],
  ['MCP', '/mcp'],
  ['A2A', '/a2a'],
  ['Replication', '/replication'],
  ['Format of the files', '/format'],
];

const explanation = [
  ['How it reasons', '/explanation'],
  ['The workbench', '/workbench'],
  ['Salience', '/salience'],
  ['Benchmarks', '/benchmarks'],
  ['How it is tested', '/testing'],
  ['Flows of the desktop application', '/desktop-flows'],
  ['Roadmap', '/roadmap'],
];

/** @param {readonly string[][]} pairs @returns {Entry[]} */
const itemsOf = (pairs) => pairs.map(([text = '', link = '']) => ({ text, link }));

/**
 * The anchor of a heading as GitHub makes it, so that a link leads to the same place here and there.
 * @param {string} heading
 */
export const slugify = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');

const decisionsFolder = new URL('../decisions/', import.meta.url);
const decisions = readdirSync(decisionsFolder)
  .sort()
  .map((name) => [
    readFileSync(new URL(name, decisionsFolder), 'utf8').split('\n')[0]?.replace(/^# /, '') ?? '',
    `/decisions/${name.replace('.md', '')}`,
  ]);

/** @type {readonly Entry[]} */
export const contents = [
  {
    text: 'Start',
    items: itemsOf([
      ['Overview', '/'],
      ['Tutorial', '/tutorial'],
    ]),
  },
  { text: 'How-to guides', items: itemsOf(guides) },
  {
    text: 'Reference',
    items: [
      {
        text: 'Every operation',
        link: '/reference/operations',
        collapsed: true,
        items: itemsOf(operations),
      },
      ...itemsOf(reference),
    ],
  },
  {
    text: 'Explanation',
    items: [...itemsOf(explanation), { text: 'Decisions', collapsed: true, items: itemsOf(decisions) }],
  },
];
