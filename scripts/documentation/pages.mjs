import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { contents, slugify } from '../../docs/.vitepress/contents.mjs';
import { escapeHtml, markdownAsHtml } from './markdown.mjs';

/**
 * The documentation as the service serves it, at /documentation/: the pages of docs/ as plain HTML, without scripts, as
 * the service's content policy wants it. `npm run build` makes it with nothing to fetch; `npm run docs` makes the site
 * with a search from the same pages and the same contents.
 */

const product = 'Corollary';
const docs = fileURLToPath(new URL('../../docs', import.meta.url));
const style = fileURLToPath(new URL('pages.css', import.meta.url));
const icon = join(docs, 'public/corollary.svg');

/** The pages that are part of it, such as `how-to/desktop.md`. */
export function pagePaths() {
  return readdirSync(docs, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.md') && !path.startsWith('.') && !path.startsWith('public/'))
    .toSorted();
}

/**
 * The pages by the paths of their HTML.
 * @returns {Map<string, string>}
 */
export function documentationPages() {
  const paths = pagePaths();
  const known = new Set(paths);
  return new Map(paths.map((path) => [htmlPath(path), pageOf(path, known)]));
}

/** Pictures that pages show, relative to docs/. */
export function documentationPictures() {
  const pictures = pagePaths().flatMap((path) =>
    [...readFileSync(join(docs, path), 'utf8').matchAll(/!\[[^\]]*\]\(([^)\s]+)\)/g)].map(
      ([, picture = '']) => posix.join(posix.dirname(path), picture),
    ),
  );
  return [...new Set(pictures)];
}

/**
 * Writes everything into `folder`; returns its size in bytes.
 * @param {string} folder
 */
export function writeDocumentation(folder) {
  rmSync(folder, { recursive: true, force: true });
  let bytes = 0;
  for (const [path, html] of documentationPages()) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, html);
    bytes += Buffer.byteLength(html);
  }
  const copies = new Map([
    [style, 'pages.css'],
    [icon, 'corollary.svg'],
    ...documentationPictures().map((path) => /** @type {const} */ ([join(docs, path), path])),
  ]);
  for (const [from, path] of copies) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(from, join(folder, path));
    bytes += readFileSync(from).length;
  }
  return bytes;
}

/** @param {string} path */
function htmlPath(path) {
  return path.replace(/\.md$/, '.html');
}

/**
 * @param {string} path
 * @param {ReadonlySet<string>} known
 */
function pageOf(path, known) {
  const text = readFileSync(join(docs, path), 'utf8');
  const title = /^# (.*)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? product;
  const up = '../'.repeat(path.split('/').length - 1);
  const content = markdownAsHtml(text, {
    addressOf: (target) => addressOf(target, path, known),
    slugify,
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title === product ? title : `${title} – ${product}`)}</title>
<link rel="icon" type="image/svg+xml" href="${up}corollary.svg">
<link rel="stylesheet" href="${up}pages.css">
</head>
<body>
<a class="skip" href="#content">Skip to the page</a>
<nav aria-label="Documentation">
<a class="brand" href="${up}index.html"><img src="${up}corollary.svg" alt="" width="24" height="24">${product}</a>
${contents.map((group) => groupAsHtml(group, path, up)).join('\n')}
</nav>
<main id="content" tabindex="-1">
${content}
</main>
</body>
</html>
`;
}

/**
 * The address of a link: another page, the same page, or the web; null for a file that is no page.
 * @param {string} target
 * @param {string} path
 * @param {ReadonlySet<string>} known
 */
function addressOf(target, path, known) {
  if (/^(?:https?:|mailto:|#)/.test(target)) return target;
  const [file = '', ...anchor] = target.split('#');
  if (!known.has(posix.join(posix.dirname(path), file))) return null;
  return [htmlPath(file), ...anchor].join('#');
}

/** @typedef {import('../../docs/.vitepress/contents.mjs').Entry} Entry */

/**
 * A part of the contents with its heading; one that the site folds is folded here too, except around the shown page.
 * @param {Entry} group
 * @param {string} path
 * @param {string} up
 */
function groupAsHtml(group, path, up) {
  return `<h2>${escapeHtml(group.text)}</h2>\n${entriesAsHtml(group.items ?? [], path, up)}`;
}

/**
 * @param {readonly Entry[]} entries
 * @param {string} path
 * @param {string} up
 * @returns {string}
 */
function entriesAsHtml(entries, path, up) {
  return `<ul>\n${entries.map((entry) => `<li>${entryAsHtml(entry, path, up)}</li>`).join('\n')}\n</ul>`;
}

/**
 * @param {Entry} entry
 * @param {string} path
 * @param {string} up
 * @returns {string}
 */
function entryAsHtml({ text, link, items }, path, up) {
  const own = link === undefined ? null : (fileOfLink(link) ?? null);
  const shown = escapeHtml(text);
  const label =
    own === null
      ? shown
      : `<a href="${up}${own}"${own === htmlPath(path) ? ' aria-current="page"' : ''}>${shown}</a>`;
  if (items === undefined) return label;
  const isOpen = items.some(({ link: each }) => each !== undefined && fileOfLink(each) === htmlPath(path));
  // A link inside a summary cannot be folded by it: the page comes first among the entries.
  const inside = own === null ? items : [{ text: 'Overview', link: link ?? '' }, ...items];
  return `<details${isOpen || own === htmlPath(path) ? ' open' : ''}><summary>${shown}</summary>${entriesAsHtml(inside, path, up)}</details>`;
}

/** @param {string} link */
function fileOfLink(link) {
  const path = link === '/' ? 'index' : link.slice(1);
  return existsSync(join(docs, `${path}.md`)) ? `${path}.html` : undefined;
}
