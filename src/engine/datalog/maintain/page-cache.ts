import { renderBody } from '../../language/print.ts';
import type { Program } from '../model/program.ts';
import type { Matches } from '../tables/question.ts';
import { viewKey } from '../model/reader.ts';
import type { PinnedReader } from './table-cache.ts';

/**
 * Pages of answers that were given, for who asks the same again before anything changes: to find the first of a million
 * answers costs time each time, though their tables are there.
 *
 * A page is kept with its own rows alone, and used only for readers of the version and rules that it was made for; so
 * nobody can tell. Long pages are not kept: to write one costs more than to find it. Those used longest ago go first.
 */
export interface OrderedPage {
  /** With the page's rows, and maybe others. */
  readonly matches: Matches;
  /** Numbers of the rows on the page, in order. */
  readonly page: readonly number[];
  readonly isTruncated: boolean;
  /** How many answers there are on all pages. */
  readonly total: number;
}

/** The part of all answers that is asked for. */
interface Part {
  readonly offset: number;
  readonly limit: number | null;
}

export const mostPages = 64;
const mostRows = 100;
/** Texts that an evaluation made for itself are kept with a page: so many bytes of them at most. */
const mostOwnBytes = 0x1_0000;

export class PageCache {
  readonly #pages = new Map<string, OrderedPage>();
  #version = -1;
  #program: Program | null = null;

  find(asked: Matches['question'], reader: PinnedReader, part: Part): OrderedPage | null {
    if (!this.#isFor(reader)) return null;
    const key = keyOf(asked, part);
    const found = this.#pages.get(key);
    if (found === undefined) return null;
    this.#pages.delete(key);
    this.#pages.set(key, found);
    return found;
  }

  keep({ matches, page, isTruncated, total }: OrderedPage, reader: PinnedReader, part: Part): void {
    const { question: asked, constants, columns } = matches;
    if (reader.overlay !== null || reader.version < 0 || reader.version < this.#version) return;
    if (page.length > mostRows || (constants.ownCount > 0 && constants.bytes > mostOwnBytes)) return;
    if (!this.#isFor(reader)) {
      this.#pages.clear();
      this.#version = reader.version;
      this.#program = reader.program;
    }
    const own = columns.map((column) => Int32Array.from(page, (row) => column[row] as number));
    this.#pages.set(keyOf(asked, part), {
      matches: { question: asked, constants, columns: own, count: page.length },
      page: page.map((_, at) => at),
      isTruncated,
      total,
    });
    if (this.#pages.size <= mostPages) return;
    for (const oldest of this.#pages.keys()) {
      this.#pages.delete(oldest);
      return;
    }
  }

  #isFor({ overlay, version, program }: PinnedReader): boolean {
    return overlay === null && version === this.#version && program === this.#program;
  }
}

function keyOf({ view, body }: Matches['question'], { offset, limit }: Part): string {
  return `${offset} ${limit} ${viewKey(view)} ${renderBody(body)}`;
}
