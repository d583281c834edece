/**
 * The documentation as a site: the pages of docs/ as they are, for reading without a network. `npm run docs` builds it.
 *
 * Nothing is loaded from elsewhere: fonts are the system's, the search is an index beside the pages.
 */
import { contents, slugify } from './contents.mjs';

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
    sidebar: contents,
    docFooter: { prev: 'Before', next: 'Next' },
  },
};
