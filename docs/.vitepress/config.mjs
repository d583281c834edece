/**
 * The documentation as a site: the pages of docs/ as they are, for reading without a network. `npm run docs` builds it.
 *
 * Nothing is loaded from elsewhere: fonts are the system's, the search is an index beside the pages.
 */
import { readdirSync, readFileSync } from 'node:fs';

const guides = [
  ['Connect an agent', '/agents'],
  ['Use the desktop application', '/how-to/desktop'],
  ['Import from CSV and RDF', '/how-to/import'],
  ['Scopes, and merging them', '/how-to/scopes'],
  ['Why not, and what if', '/how-to/why-not'],
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
  'rules',
  'inference',
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
  ['Roadmap', '/roadmap'],
];

const itemsOf = (pairs) => pairs.map(([text, link]) => ({ text, link }));

/** As GitHub makes them, so that a link leads to the same place here and there. */
const slugify = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');

/** Links that leave docs/ (to a file of the sources) have no page here: they stay as words. */
function withoutOutsideLinks(md) {
  md.core.ruler.push('outside-links', ({ tokens, env }) => {
    const depth = env.relativePath.split('/').length - 1;
    for (const { children } of tokens) {
      let isOutside = false;
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const [up = ''] = /^(?:\.\.\/)*/.exec(token.attrGet('href') ?? '') ?? [];
          isOutside = up.length / 3 > depth;
        }
        if (!isOutside || !token.type.startsWith('link_')) continue;
        token.tag = 'span';
        token.attrs = null;
      }
    }
  });
}

const decisionsFolder = new URL('../decisions/', import.meta.url);
const decisions = readdirSync(decisionsFolder)
  .sort()
  .map((name) => [
    readFileSync(new URL(name, decisionsFolder), 'utf8').split('\n')[0].replace(/^# /, ''),
    `/decisions/${name.replace('.md', '')}`,
  ]);

export default {
  title: 'Corollary',
  description: 'Facts and rules, answers by inference, and the proof of every answer',
  lang: 'en',
  outDir: '../dist/docs',
  cacheDir: '../dist/site-cache',
  cleanUrls: false,
  lastUpdated: false,
  srcExclude: ['public/**'],
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: '/corollary.svg' }],
    ['link', { rel: 'stylesheet', href: '/site.css' }],
  ],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark' },
    languageAlias: { datalog: 'prolog' },
    config: withoutOutsideLinks,
    anchor: { slugify },
    toc: { slugify },
    headers: { slugify },
  },
  themeConfig: {
    logo: '/corollary.svg',
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [
      { text: 'Tutorial', link: '/tutorial' },
      { text: 'How-to', link: '/#how-to-guides' },
      { text: 'Reference', link: '/reference/operations' },
      { text: 'Explanation', link: '/explanation' },
    ],
    sidebar: [
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
    ],
    docFooter: { prev: 'Before', next: 'Next' },
  },
};
