/**
 * Checks the documentation pages: every link has a target, every code block is run, parsed as what it is, or listed
 * here as not run, and the README files beside the code name existing files and types. http/tour.test.ts runs the calls
 * on pages, mcp/docs-agents.test.ts checks the configurations of agents, scripts/reference-pages.test.mjs the
 * reference.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { configurationOf } from '../../engine/contract/agent-setup.ts';
import { operations } from '../../engine/contract/operations.ts';
import { routeOf } from '../../engine/contract/testing/read-configuration.ts';
import { parseKnowledgeText } from '../../engine/index.ts';
import { parseArguments } from '../command-line/arguments.ts';
import { type Block, blocksOf } from '../http/testing/tour.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const filesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
    (name) => `${folder}/${name.replaceAll('\\', '/')}`,
  );
const sources = filesIn('src');
/** The READMEs that explain mechanisms beside the code. */
const notes = sources.filter((path) => path.endsWith('.md')).sort();
const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  'client/README.md',
  ...['docs', 'bench/history'].flatMap(filesIn).filter((path) => path.endsWith('.md')),
  ...notes,
].sort();
const texts = new Map(pages.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
const blocks = [...texts].flatMap(([page, text]) => blocksOf(text).map((block) => ({ page, ...block })));

/** Run or checked by tests of their own. */
const walked = /^(?:README|docs\/(?:tutorial|http|a2a|agents|how-to\/.*|reference\/.*))\.md$/;

/** The anchors of a page's headings, as GitHub generates them. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.*)$/gm)) {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    let name = slug;
    for (let count = 1; anchors.has(name); count++) name = `${slug}-${count}`;
    anchors.add(name);
  }
  return anchors;
}

/** A page's links within the project, without those in code. */
function linksOf(text: string): string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link));
}

describe('links', () => {
  it.each(pages)('of %s have existing files and headings as targets', (page) => {
    const dead = linksOf(texts.get(page) ?? '').filter((link) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : normalize(join(dirname(page), path)).replaceAll('\\', '/');
      if (!existsSync(join(root, target))) return true;
      return anchor !== undefined && !anchorsOf(texts.get(target) ?? '').has(anchor);
    });
    expect(dead).toEqual([]);
  });

  it('are found, and a dead one would be', () => {
    expect(pages.flatMap((page) => linksOf(texts.get(page) ?? '')).length).toBeGreaterThan(150);
    expect(anchorsOf('# One, `two`\n```sh\n# no\n```\n## One two\n## [Three](x.md)?')).toEqual(
      new Set(['one-two', 'one-two-1', 'three']),
    );
  });
});

/** The types, functions and constants that the sources declare. */
function declaredNames(): Set<string> {
  const declaration = /\b(?:class|interface|type|function|const|enum) (\w+)/g;
  return new Set(
    sources
      .filter((path) => /\.tsx?$/.test(path))
      .flatMap((path) => [...readFileSync(join(root, path), 'utf8').matchAll(declaration)])
      .map(([, name = '']) => name),
  );
}

/**
 * Names in a README beside the code that do not exist: files and folders, relative to its own folder or one above, and
 * types (`Name` or `Name.member`).
 */
function missingNames(page: string, text: string, declared: ReadonlySet<string>): string[] {
  const folders = ['.', ...dirname(page).split('/')].map((_, at, parts) => parts.slice(0, at + 1).join('/'));
  return [...text.matchAll(/`([^`\n]+)`/g)]
    .map(([, name = '']) => name)
    .filter((name) => {
      if (/^[\w.-][\w./-]*(?:\.(?:ts|tsx|mjs|cjs|css|txt)|\/)$/.test(name))
        return !folders.some((folder) => existsSync(join(root, folder, name)));
      const [, type = null] = /^([A-Z][a-z]+\w*)(?:\.\w+)?$/.exec(name) ?? [];
      return type !== null && !declared.has(type);
    });
}

describe('READMEs beside the code', () => {
  const declared = declaredNames();

  it.each(notes)('%s names files, folders and types that exist', (page) => {
    expect(missingNames(page, texts.get(page) ?? '', declared)).toEqual([]);
  });

  it('are found, and an unknown name would be', () => {
    expect(notes).toContain('src/engine/datalog/README.md');
    expect(
      missingNames(
        'src/engine/log/README.md',
        '`log.ts` `state/apply.ts` `src/main/` `FactStore` `gone.ts` `state/gone.ts` `gone/` `GoneStore.all`',
        declared,
      ),
    ).toEqual(['gone.ts', 'state/gone.ts', 'gone/', 'GoneStore.all']);
  });

  it('name every folder of the engine', () => {
    const index = texts.get('src/engine/README.md') ?? '';
    const folders = readdirSync(join(root, 'src/engine'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    expect(folders.filter((name) => !index.includes(`\`${name}/\``))).toEqual([]);
  });
});

/** Commands that the tests do not run: the blocks of each page. A new one belongs here, with a reason. */
const notRun = {
  'CONTRIBUTING.md': 1,
  'README.md': 1,
  'docs/benchmarks.md': 1,
  'docs/command-line.md': 1,
  'docs/how-to/backup.md': 3,
  'docs/how-to/follower.md': 3,
  'docs/how-to/postgresql.md': 5,
  'docs/how-to/keys-and-tls.md': 3,
  'docs/how-to/knowledge-as-files.md': 5,
  'docs/how-to/read-a-plan.md': 1,
  'docs/language-models.md': 3,
  'docs/mcp.md': 1,
  'docs/packaging.md': 4,
  'docs/service.md': 5,
  'docs/tutorial.md': 1,
};

/** The words of a shell line, without variables set before its command; quotation marks group. */
function wordsOf(line: string): string[] {
  const words = [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) => word);
  const command = words.findIndex((word) => !/^[A-Z_]+=/.test(word));
  const end = words.findIndex((word) => word.startsWith('#'));
  return words
    .slice(command, end === -1 ? undefined : end)
    .map((word) => word.replaceAll(/^(['"])(.*)\1$/g, '$2'));
}

/** The commands of a block, including several on one line. */
function commandsOf({ text }: Block): string[][] {
  return text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .flatMap((line) => line.split(' && '))
    .map(wordsOf);
}

describe('code blocks', () => {
  it('name their language and are not indented, so these tests see them', () => {
    for (const [page, text] of texts) expect(text, page).not.toMatch(/^[ \t]+```/m);
    const kinds = new Set(blocks.map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(
      [
        'datalog',
        'ebnf',
        'elisp',
        'hexdump',
        'js',
        'json',
        'lua',
        'markdown',
        'sh',
        'sh not-run',
        'text',
        'toml',
        'ts',
      ].sort(),
    );
  });

  it('with commands are run, or listed as not run', () => {
    const unwalked = blocks.filter(({ page, kind }) => kind === 'sh' && !walked.test(page));
    expect(unwalked.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
    const counts: Record<string, number> = {};
    for (const { page, kind } of blocks) if (kind === 'sh not-run') counts[page] = (counts[page] ?? 0) + 1;
    expect(counts).toEqual(notRun);
  });

  it('with commands that are not run name existing scripts, commands and options', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    let known = 0;
    for (const block of blocks.filter(({ kind }) => kind === 'sh not-run'))
      for (const [program = '', ...words] of commandsOf(block)) {
        const place = `${block.page}:${block.line}`;
        if (program === 'npm' && words[0] === 'run') expect(scripts, place).toHaveProperty([words[1] ?? '']);
        else if (program === 'corollary') expect(() => parseArguments(words), place).not.toThrow();
        else if (program === 'node' && words[0] === 'out/main/headless.js')
          expect(() => parseArguments(words.slice(1)), place).not.toThrow();
        else continue;
        known++;
      }
    expect(known).toBeGreaterThan(25);
    expect(() => parseArguments(wordsOf("A=b corollary ask --prof 'p(?x)'  # no").slice(1))).toThrow(
      '--prof',
    );
  });

  it('in the language parse', () => {
    const programs = blocks.filter(({ kind }) => kind === 'datalog');
    expect(programs.length).toBeGreaterThan(2);
    for (const { page, line, text } of programs) {
      const { items, errors } = parseKnowledgeText(text, { tests: true });
      expect(errors, `${page}:${line}`).toEqual([]);
      expect(items.length).toBeGreaterThan(1);
    }
  });

  it('of JSON outside of executed pages are a valid rule, or configurations that clients read', () => {
    const place = {
      address: 'http://127.0.0.1:9300',
      database: 'my-project',
      tenant: 'default',
      key: null,
      bridge: { command: 'node', args: ['/path/to/corollary/out/bridge/corollary-mcp.js'] },
    };
    const found = blocks.filter(
      ({ page, kind, text }) =>
        kind === 'json' && (!walked.test(page) || (page === 'README.md' && text.includes('mcpServers'))),
    );
    for (const { page, text } of found)
      if (page === 'docs/grammar.md')
        expect(operations.assertRule.body.safeParse(JSON.parse(text))).toMatchObject({ success: true });
      else {
        const program = text.includes('"command"') ? 'other-stdio' : 'other-http';
        const route = configurationOf(program, place)?.route;
        expect(routeOf(program, text, null), page).toEqual(route);
      }
    expect(found.map(({ page }) => page)).toEqual([
      'README.md',
      'docs/grammar.md',
      'docs/mcp.md',
      'docs/mcp.md',
    ]);
  });

  it('in JavaScript, and in TypeScript that is also JavaScript, parse and call existing operations', () => {
    const scripts = blocks.filter(({ kind }) => kind === 'js' || kind === 'ts');
    expect(scripts).toHaveLength(3);
    for (const { text } of scripts) {
      const body = text.replaceAll(/^import .*$/gm, '');
      expect(() => new Script(`async () => {${body}}`)).not.toThrow();
      for (const [, method = ''] of body.matchAll(/client\.(\w+)\(/g))
        expect(operations).toHaveProperty([method]);
    }
  });
});
