/**
 * Positions in a source text: offsets, lines and columns, and the positions of a statement's parts.
 *
 * Offsets and columns are UTF-16 units, as editors count. A line ends at LF, CR LF or a lone CR; lines and
 * columns count from 1, and an end is exclusive.
 */

/** A range of offsets, the end exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The same range as lines and columns, for editors and people. */
export interface Range {
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/**
 * The positions of a literal's parts. `name`: the predicate, operator or aggregate; `terms`: the arguments in
 * the order of `args` (for an aggregate the result, then `over`); `body`: the literals in the braces.
 */
export interface LiteralSource {
  readonly span: Span;
  readonly name: Span;
  readonly terms: readonly Span[];
  readonly body: readonly LiteralSource[];
}

/** Maps offsets of one text to lines and columns. */
export interface LineTable {
  range(span: Span): Range;
}

/** Scans the text once; each look-up is logarithmic in its lines. */
export function lineTable(text: string): LineTable {
  const starts = [0];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === 10 || (unit === 13 && text.charCodeAt(index + 1) !== 10)) starts.push(index + 1);
  }
  function lineOf(offset: number): number {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
  return {
    range({ start, end }) {
      const first = lineOf(start);
      const last = lineOf(end);
      return {
        startLine: first + 1,
        startColumn: start - (starts[first] as number) + 1,
        endLine: last + 1,
        endColumn: end - (starts[last] as number) + 1,
      };
    },
  };
}
