/** Random edits, as an editor sends them, leave the same readings and diagnostics as opening the texts that they make. */
import { TextDocument } from 'vscode-languageserver-textdocument';
import { expect, test } from 'vitest';
import { Prng } from '../../engine/testing/prng.ts';
import { PackageSources } from './package-sources.ts';

const runs = process.env['LONG'] === '1' ? 2_000 : 40;
const editsOfRun = 12;
const names = ['a.kb', 'b.kb', 'c.test.kb'] as const;

const parts = [
  ':declare p(x: entity, y: integer) key x\n',
  ':declare q(from, to)\r\n',
  'p(a, 1).\n',
  'p{x: a, y: 2}.\r\n',
  'p{y: 3, x: 𝒜}.\n',
  'q(a, b). ',
  'r(?x) :- p{x: ?x}, not s(?x).\n',
  's(?x) :- q{from: ?x, to: ?y}, r(?y).\r\n',
  'P(𝒜, "é, (").\n',
  '!- q(?x, ?x) "no loops".\n',
  'r(?x) :- t(?x), not s(?x).\n',
  's(?x) :- r(?x), T(?x).\n',
  't(a).\n',
  'u(?x) :- t(?x), v(?x).\n',
  'v(a).\n',
  'broken(\n',
  '% a comment\n',
  'test "t" {\n  given p(b, 2).\n  expect r(?x) = a.\n}\n',
  '}',
  '.',
  '\r',
  '𝒜',
  ' ',
];

function written(prng: Prng, count: number): string {
  return Array.from({ length: count }, () => prng.pick(parts)).join('');
}

/** The diagnostics that a client shows, by file, after a diagnosis. */
class Shown {
  readonly diagnostics = new Map<string, string>();
  /** Diagnostics of an earlier text were shown. */
  isOutdated = false;
  readonly sources = new PackageSources(
    ({ name, document, file }, diagnostics) => {
      this.isOutdated ||= file.text !== document.getText();
      this.diagnostics.set(name, JSON.stringify(diagnostics));
    },
    (error) => {
      throw error;
    },
  );

  async settled(): Promise<unknown> {
    await this.sources.diagnose();
    const { files, description } = await this.sources.reading();
    this.sources.close();
    return {
      isOutdated: this.isOutdated,
      diagnostics: Object.fromEntries(this.diagnostics),
      uses: files.map(({ name, file: { predicates, variables } }) => ({ name, predicates, variables })),
      predicates: description.predicates,
    };
  }
}

test.each(Array.from({ length: runs }, (_, seed) => seed))('incremental edits, seed %i', async (seed) => {
  const prng = new Prng(seed);
  const edited = new Shown();
  const documents = names.map((name) =>
    TextDocument.create(`file:///${name}`, 'corollary', 1, written(prng, prng.below(8))),
  );
  const put = (to: Shown, document: TextDocument): void => {
    const name = document.uri.slice('file:///'.length);
    to.sources.set(name, name, document, true);
  };
  for (const document of documents) put(edited, document);
  for (let step = 0; step < editsOfRun; step++) {
    const document = prng.pick(documents);
    const length = document.getText().length;
    const start = prng.below(length + 1);
    const end = Math.min(length, start + prng.below(prng.chance(0.2) ? 80 : 6));
    const range = { start: document.positionAt(start), end: document.positionAt(end) };
    const change = { range, text: prng.chance(0.4) ? '' : written(prng, 1 + prng.below(2)) };
    TextDocument.update(document, [change], document.version + 1);
    put(edited, document);
    // Diagnosed in between, or not: several changes may come before a pause.
    if (prng.chance(0.5)) await edited.sources.diagnose();
  }
  const whole = new Shown();
  for (const document of documents)
    put(whole, TextDocument.create(document.uri, 'corollary', 1, document.getText()));
  expect(await edited.settled()).toEqual(await whole.settled());
});
