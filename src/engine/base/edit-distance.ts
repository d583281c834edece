/** The Damerau-Levenshtein distance: insertions, deletions, replacements and transpositions of neighbours. */
export function editDistance(left: string, right: string): number {
  let before: number[] = [];
  let above = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let row = 1; row <= left.length; row++) {
    const here = [row];
    for (let at = 1; at <= right.length; at++) {
      const isSame = left[row - 1] === right[at - 1];
      let min = Math.min(
        (above[at] as number) + 1,
        (here[at - 1] as number) + 1,
        (above[at - 1] as number) + (isSame ? 0 : 1),
      );
      if (row > 1 && at > 1 && left[row - 1] === right[at - 2] && left[row - 2] === right[at - 1])
        min = Math.min(min, (before[at - 2] as number) + 1);
      here.push(min);
    }
    [before, above] = [above, here];
  }
  return above[right.length] as number;
}
