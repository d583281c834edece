import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, it } from 'vitest';
import { slugify } from '../../docs/.vitepress/contents.mjs';
import { root } from '../prepare.mjs';
import { markdownAsHtml } from './markdown.mjs';
import { documentationPages, documentationPictures, pagePaths } from './pages.mjs';

const pages = documentationPages();
const links = { addressOf: (/** @type {string} */ target) => target, slugify };

/** @param {string} text */
const html = (text) => markdownAsHtml(text, links);

/** @param {string} page */
function anchorsOf(page) {
  return new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
}

/** @param {string} page */
function proseOf(page) {
  return page.replaceAll(/<pre[^>]*>.*?<\/pre>|<code[^>]*>.*?<\/code>|<[^>]+>/gs, ' ');
}

it('has every page of docs/, with its heading as title', () => {
  expect(pagePaths()).toEqual(
    expect.arrayContaining(['index.md', 'how-to/desktop.md', 'reference/facts.md']),
  );
  expect(pages.size).toBe(pagePaths().length);
  expect(pages.get('how-to/desktop.html')).toContain(
    '<title>Use the desktop application – Corollary</title>',
  );
});

it('leaves no Markdown in what a reader sees', () => {
  for (const [path, page] of pages) {
    const prose = proseOf(page);
    expect(prose, path).not.toMatch(/\*\*|`|\]\(|^#+ |^\||&lt;!--/m);
  }
});

it('leads every link to a page, and to a heading that is there', () => {
  for (const [path, page] of pages)
    for (const [, href = ''] of page.matchAll(/<a [^>]*href="([^"]+)"/g)) {
      if (/^(?:https?|mailto):/.test(href)) continue;
      const [file = '', anchor] = href.split('#');
      const target = file === '' ? path : posix.join(posix.dirname(path), file);
      expect([...pages.keys()], `${path}: ${href}`).toContain(target);
      if (anchor !== undefined)
        expect(anchorsOf(pages.get(target) ?? ''), `${path}: ${href}`).toContain(anchor);
    }
});

it('names every page in its contents', () => {
  const named = [...(pages.get('index.html') ?? '').matchAll(/<a [^>]*href="([^"#]+)"/g)].map(
    ([, href]) => href,
  );
  for (const path of pages.keys()) expect(named).toContain(path);
});

it('shows pictures that exist, and runs no script', () => {
  expect(documentationPictures().length).toBeGreaterThan(2);
  for (const picture of documentationPictures())
    expect(existsSync(join(root, 'docs', picture)), picture).toBe(true);
  for (const [path, page] of pages) expect(page, path).not.toMatch(/<script| on[a-z]+=| style=/);
});

it('writes headings, lists, tables, quotes, code and emphasis', () => {
  expect(html('# A `b` c\n\n## D\n\n## D')).toBe(
    '<h1 id="a-b-c">A <code>b</code> c</h1>\n<h2 id="d">D</h2>\n<h2 id="d-1">D</h2>',
  );
  expect(html('- one\n  more\n- **two** and *three*\n\n1. a\n2. b')).toBe(
    '<ul><li>one\nmore</li>\n<li><strong>two</strong> and <em>three</em></li></ul>\n<ol><li>a</li>\n<li>b</li></ol>',
  );
  expect(html('- one\n\n  ```sh\n  ls\n  ```')).toBe(
    '<ul><li><p>one</p>\n<pre tabindex="0"><code class="language-sh">ls</code></pre></li></ul>',
  );
  expect(html('| a | b |\n|---|---|\n| `x \\| y` | 2 |')).toContain('<td><code>x | y</code></td><td>2</td>');
  expect(html('| | |\n|---|---|\n| a | b |')).not.toContain('<thead>');
  expect(html('> quoted\n> text')).toBe('<blockquote><p>quoted\ntext</p></blockquote>');
  expect(html('    X = 2 * Y')).toBe('<pre tabindex="0"><code>X = 2 * Y</code></pre>');
});

it('writes text as text', () => {
  expect(html('a < b & "c" \\* `<script>`')).toBe(
    '<p>a &lt; b &amp; &quot;c&quot; * <code>&lt;script&gt;</code></p>',
  );
  expect(html('2 * 3 * 4')).toBe('<p>2 * 3 * 4</p>');
  expect(html('[a `b]` c](d.md) ![e](f.png) <https://example.org/>')).toBe(
    '<p><a href="d.md">a <code>b]</code> c</a> <img src="f.png" alt="e" loading="lazy"> ' +
      '<a href="https://example.org/">https://example.org/</a></p>',
  );
});
