/**
 * Markdown as the pages of docs/ use it, as HTML: headings, paragraphs, lists, tables, quotes, code, images, links and
 * emphasis, and comments, which nobody sees. Anything else stays as text, which a test of all pages would notice.
 */

const headingLine = /^(#{1,6}) (.*)$/;
const fenceLine = /^```(.*)$/;
const itemLine = /^(?:[-*]|(\d+)\.) +/;
const tableRule = /^\|(?: *:?-+:? *\|)+ *$/;

/**
 * @typedef {object} PageLinks
 * @property {(target: string) => string | null} addressOf the address of a link's target; null: there is no such page
 * @property {(heading: string) => string} slugify the anchor of a heading
 */

/** @param {string} text */
export function escapeHtml(text) {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/**
 * The text as HTML.
 * @param {string} text
 * @param {PageLinks} links
 */
export function markdownAsHtml(text, links) {
  const used = new Map();
  const shown = text.replaceAll(/^<!--.*?-->$/gms, '');
  return blocksOf(shown.split('\n'), links, used).join('\n');
}

/**
 * @param {readonly string[]} lines
 * @param {PageLinks} links
 * @param {Map<string, number>} used how often each anchor was used
 * @returns {string[]}
 */
function blocksOf(lines, links, used) {
  const blocks = [];
  for (let at = 0; at < lines.length; ) {
    const { html, next } = blockAt(lines, at, links, used);
    if (html !== '') blocks.push(html);
    at = next;
  }
  return blocks;
}

/**
 * The block that begins at a line, and the line after it.
 * @param {readonly string[]} lines
 * @param {number} at
 * @param {PageLinks} links
 * @param {Map<string, number>} used
 * @returns {{html: string, next: number}}
 */
function blockAt(lines, at, links, used) {
  const line = lines[at] ?? '';
  if (line.trim() === '') return { html: '', next: at + 1 };
  const heading = headingLine.exec(line);
  if (heading !== null) return { html: headingAsHtml(heading, links, used), next: at + 1 };
  const fence = fenceLine.exec(line);
  if (fence !== null) {
    const end = endOf(lines, at + 1, (each) => !each.startsWith('```'));
    return { html: codeAsHtml(lines.slice(at + 1, end), fence[1]?.split(' ')[0] ?? ''), next: end + 1 };
  }
  if (line.startsWith('    ')) {
    const end = endOf(lines, at, (each) => each.startsWith('    '));
    return {
      html: codeAsHtml(
        lines.slice(at, end).map((each) => each.slice(4)),
        '',
      ),
      next: end,
    };
  }
  if (line.startsWith('|') && tableRule.test(lines[at + 1] ?? '')) {
    const end = endOf(lines, at, (each) => each.startsWith('|'));
    return { html: tableAsHtml(lines.slice(at, end), links), next: end };
  }
  if (line.startsWith('>')) {
    const end = endOf(lines, at, (each) => each.startsWith('>'));
    const quoted = lines.slice(at, end).map((each) => each.replace(/^> ?/, ''));
    return { html: `<blockquote>${blocksOf(quoted, links, used).join('\n')}</blockquote>`, next: end };
  }
  if (itemLine.test(line)) return listAt(lines, at, links, used);
  const end = endOf(lines, at + 1, (each) => each.trim() !== '' && !beginsBlock(each));
  return { html: `<p>${inlineAsHtml(lines.slice(at, end).join('\n'), links)}</p>`, next: end };
}

/** @param {string} line */
function beginsBlock(line) {
  return headingLine.test(line) || fenceLine.test(line) || itemLine.test(line) || /^[|>]/.test(line);
}

/**
 * @param {readonly string[]} lines
 * @param {number} from
 * @param {(line: string) => boolean} belongs
 */
function endOf(lines, from, belongs) {
  let end = from;
  while (end < lines.length && belongs(lines[end] ?? '')) end += 1;
  return end;
}

/**
 * @param {RegExpExecArray} heading
 * @param {PageLinks} links
 * @param {Map<string, number>} used
 */
function headingAsHtml([, marks = '', text = ''], links, used) {
  const slug = links.slugify(text.replaceAll(/[`*]|\[([^\]]*)\]\([^)]*\)/g, '$1'));
  const before = used.get(slug) ?? 0;
  used.set(slug, before + 1);
  const id = before === 0 ? slug : `${slug}-${before}`;
  return `<h${marks.length} id="${escapeHtml(id)}">${inlineAsHtml(text, links)}</h${marks.length}>`;
}

/**
 * @param {readonly string[]} lines
 * @param {string} language
 */
function codeAsHtml(lines, language) {
  const kind = language === '' ? '' : ` class="language-${escapeHtml(language)}"`;
  // A scrolling region is reached by keyboard.
  return `<pre tabindex="0"><code${kind}>${escapeHtml(lines.join('\n'))}</code></pre>`;
}

/**
 * @param {readonly string[]} lines
 * @param {PageLinks} links
 */
function tableAsHtml(lines, links) {
  const [head = [], , ...rows] = lines.map(cellsOf);
  /** @param {readonly string[]} cells @param {string} tag */
  const row = (cells, tag) =>
    `<tr>${cells.map((cell) => `<${tag}>${inlineAsHtml(cell, links)}</${tag}>`).join('')}</tr>`;
  // A head without a word is only Markdown's.
  const shownHead = head.every((cell) => cell === '') ? '' : `<thead>${row(head, 'th')}</thead>`;
  const body = rows.map((cells) => row(cells, 'td')).join('\n');
  return `<div class="table" tabindex="0"><table>${shownHead}<tbody>${body}</tbody></table></div>`;
}

/** @param {string} line */
function cellsOf(line) {
  return line
    .replace(/^\|/, '')
    .replace(/\|\s*$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.replaceAll('\\|', '|').trim());
}

/**
 * A list: its items' further lines are indented, or follow without a blank line.
 * @param {readonly string[]} lines
 * @param {number} at
 * @param {PageLinks} links
 * @param {Map<string, number>} used
 */
function listAt(lines, at, links, used) {
  const isOrdered = /^\d/.test(lines[at] ?? '');
  const items = [];
  let next = at;
  for (;;) {
    const first = itemLine.exec(lines[next] ?? '');
    if (first === null || (first[1] !== undefined) !== isOrdered) break;
    const indent = first[0].length;
    const content = [(lines[next] ?? '').slice(indent)];
    for (next += 1; next < lines.length; next += 1) {
      const line = lines[next] ?? '';
      const isIndented = line.startsWith(' ');
      const isBlankInside = line.trim() === '' && /^ +\S/.test(lines[next + 1] ?? '');
      if (!isIndented && !isBlankInside && (line.trim() === '' || beginsBlock(line))) break;
      content.push(line.slice(Math.min(indent, line.length - line.trimStart().length)));
    }
    const blocks = blocksOf(content, links, used);
    const [only = ''] = blocks;
    items.push(`<li>${blocks.length === 1 ? only.replace(/^<p>(.*)<\/p>$/s, '$1') : blocks.join('\n')}</li>`);
    // A blank line between two items.
    if ((lines[next] ?? '').trim() === '' && itemLine.test(lines[next + 1] ?? '')) next += 1;
  }
  const tag = isOrdered ? 'ol' : 'ul';
  return { html: `<${tag}>${items.join('\n')}</${tag}>`, next };
}

const inline = new RegExp(
  [
    /(?<ticks>`+)(?<code>.*?[^`])\k<ticks>(?!`)/,
    /!\[(?<alternative>[^\]]*)\]\((?<picture>[^)\s]+)\)/,
    /\[(?<label>(?:`[^`]*`|[^[\]`]|\[[^\]]*\])+)\]\((?<target>[^)\s]+)\)/,
    /\*\*(?<strong>(?:`[^`]*`|[^*`]|\*(?!\*))+?)\*\*/,
    /\*(?<emphasis>(?:`[^`]*`|[^*`\s])(?:`[^`]*`|[^*`])*?)\*/,
    /<(?<address>https?:[^>\s]+)>/,
    /<(?<tag>\/?su[bp])>/,
    /\\(?<escaped>[\\`*_{}[\]()#+.!|<>-])/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gs',
);

/**
 * @param {string} text
 * @param {PageLinks} links
 * @returns {string}
 */
function inlineAsHtml(text, links) {
  let html = '';
  let end = 0;
  for (const match of text.matchAll(inline)) {
    html += escapeHtml(text.slice(end, match.index)) + spanAsHtml(match.groups ?? {}, links);
    end = match.index + match[0].length;
  }
  return html + escapeHtml(text.slice(end));
}

/**
 * @param {Record<string, string | undefined>} found
 * @param {PageLinks} links
 */
function spanAsHtml(found, links) {
  const { code, alternative, picture, label, target, strong, emphasis, address, tag, escaped } = found;
  if (code !== undefined) return `<code>${escapeHtml(code.replace(/^ (`.*`) $/s, '$1'))}</code>`;
  if (picture !== undefined)
    return `<img src="${escapeHtml(picture)}" alt="${escapeHtml(alternative ?? '')}" loading="lazy">`;
  if (label !== undefined) {
    const shown = inlineAsHtml(label, links);
    const leadsTo = links.addressOf(target ?? '');
    return leadsTo === null ? `<span>${shown}</span>` : `<a href="${escapeHtml(leadsTo)}">${shown}</a>`;
  }
  if (strong !== undefined) return `<strong>${inlineAsHtml(strong, links)}</strong>`;
  if (emphasis !== undefined) return `<em>${inlineAsHtml(emphasis, links)}</em>`;
  if (address !== undefined) return `<a href="${escapeHtml(address)}">${escapeHtml(address)}</a>`;
  if (tag !== undefined) return `<${tag}>`;
  return escapeHtml(escaped ?? '');
}
