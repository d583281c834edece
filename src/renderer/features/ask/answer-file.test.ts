import { describe, expect, test } from 'vitest';
import type { Sink } from '../../api/save-answer.ts';
import { type FileRow, fileWriter, writeAnswers } from './answer-file.ts';

/** A file in memory. */
class MemoryFile implements Sink {
  text = '';
  state: 'open' | 'closed' | 'abandoned' = 'open';

  async write(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    this.text += new TextDecoder().decode(bytes);
  }

  async close(): Promise<void> {
    this.state = 'closed';
  }

  async abandon(): Promise<void> {
    this.state = 'abandoned';
  }
}

/** Rows in pieces of two, of the numbers from 0; then the failure, if any. */
async function* numbers(count: number, failure?: Error): AsyncGenerator<readonly FileRow[], void, undefined> {
  for (let offset = 0; offset < count; offset += 2)
    yield Array.from({ length: Math.min(2, count - offset) }, (_, index) => [String(offset + index)]);
  if (failure !== undefined) throw failure;
}

const never = new AbortController().signal;

describe('the export of all answers', () => {
  test('writes all rows, with progress', async () => {
    const file = new MemoryFile();
    const told: number[] = [];
    const count = await writeAnswers(numbers(5), fileWriter('ndjson', ['n']), file, never, (written) =>
      told.push(written),
    );
    expect(count).toBe(5);
    expect(file.state).toBe('closed');
    expect(
      file.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([0, 1, 2, 3, 4].map((n) => ({ n: String(n) })));
    expect(told).toEqual([2, 4, 5]);
  });

  test('leaves nothing behind if the answer breaks off', async () => {
    const file = new MemoryFile();
    const breaking = numbers(6, new Error('the connection ended'));
    await expect(
      writeAnswers(breaking, fileWriter('csv', ['n']), file, never, () => undefined),
    ).rejects.toThrow('the connection ended');
    expect(file.state).toBe('abandoned');
  });

  test('leaves nothing behind if it is cancelled', async () => {
    const file = new MemoryFile();
    const stop = new AbortController();
    const cancelling = writeAnswers(numbers(100), fileWriter('csv', ['n']), file, stop.signal, (written) => {
      if (written >= 10) stop.abort();
    });
    await expect(cancelling).rejects.toMatchObject({ name: 'AbortError' });
    expect(file.state).toBe('abandoned');
  });
});

describe('a written file', () => {
  const columns = ['a', 'b'];
  const rows = [
    ['x', 'say "hi", you'],
    ['=1+2', '-5'],
    ['two\nlines', 'a|b*'],
  ];

  function written(
    format: 'csv' | 'tsv' | 'json' | 'ndjson' | 'markdown',
    isForSpreadsheets = false,
  ): string {
    const writer = fileWriter(format, columns, isForSpreadsheets);
    return `${writer.start}${rows.map(writer.row).join('')}${writer.end}`;
  }

  test('is CSV as RFC 4180 has it, with formulas as text only where that is wanted', () => {
    expect(written('csv')).toBe('a,b\r\nx,"say ""hi"", you"\r\n=1+2,-5\r\n"two\nlines",a|b*\r\n');
    expect(written('csv', true)).toContain("'=1+2,-5\r\n");
    expect(written('tsv')).toContain('x\t"say ""hi"", you"\r\n');
  });

  test('is JSON that parses to the same rows', () => {
    const objects = rows.map(([a, b]) => ({ a, b }));
    expect(JSON.parse(written('json'))).toEqual(objects);
    expect(JSON.parse(fileWriter('json', columns).start + fileWriter('json', columns).end)).toEqual([]);
    expect(
      written('ndjson')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(objects);
  });

  test('is a Markdown table whose cells stay in one line', () => {
    expect(written('markdown').split('\n').slice(0, 2)).toEqual(['| a | b |', '| --- | --- |']);
    expect(written('markdown')).toContain('| two<br>lines | a\\|b\\* |');
  });
});
