/**
 * Meaning of keys in a tree of lines, by the ARIA tree pattern; the tree's owner carries it out. Pure, and shared with
 * the proof page.
 */
interface TreeLine {
  readonly key: string;
  /** Key of the parent line. */
  readonly parent: string | null;
}

/** `to` moves the cursor or leaves it; the other moves act on the current line. */
export type TreeMove<Line> =
  | { readonly kind: 'to'; readonly line: Line }
  | { readonly kind: 'to-parent'; readonly key: string }
  | { readonly kind: 'fold' | 'unfold' | 'unfold-below'; readonly line: Line };

interface TreeLook<Line> {
  readonly lines: readonly Line[];
  /** Key of the line under the cursor; the first line if it does not exist. */
  readonly active: string;
  /** Number of lines in the view. */
  readonly page: number;
  readonly canUnfold: (line: Line) => boolean;
  readonly isUnfolded: (line: Line) => boolean;
}

/** Returns the line under the cursor; undefined without lines. */
export function activeLine<Line extends TreeLine>({
  lines,
  active,
}: Pick<TreeLook<Line>, 'lines' | 'active'>): Line | undefined {
  return lines.find(({ key }) => key === active) ?? lines[0];
}

/** Returns the move of a key; null if the ARIA pattern does not define it, such as Enter. */
export function moveOf<Line extends TreeLine>(key: string, look: TreeLook<Line>): TreeMove<Line> | null {
  const { lines, page, canUnfold, isUnfolded } = look;
  const line = activeLine(look);
  if (line === undefined) return null;
  const index = lines.indexOf(line);
  const to = (target: number): TreeMove<Line> => ({
    kind: 'to',
    line: lines[Math.max(0, Math.min(lines.length - 1, target))] ?? line,
  });
  switch (key) {
    case 'ArrowDown':
      return to(index + 1);
    case 'ArrowUp':
      return to(index - 1);
    case 'PageDown':
      return to(index + page);
    case 'PageUp':
      return to(index - page);
    case 'Home':
      return to(0);
    case 'End':
      return to(lines.length - 1);
    case 'ArrowRight':
      if (!canUnfold(line)) return to(index);
      return isUnfolded(line) ? to(index + 1) : { kind: 'unfold', line };
    case 'ArrowLeft':
      if (canUnfold(line) && isUnfolded(line)) return { kind: 'fold', line };
      return line.parent === null ? to(index) : { kind: 'to-parent', key: line.parent };
    case '+':
      return canUnfold(line) ? { kind: 'unfold', line } : to(index);
    case '-':
      return canUnfold(line) ? { kind: 'fold', line } : to(index);
    case '*':
      return canUnfold(line) ? { kind: 'unfold-below', line } : to(index);
    default:
      return null;
  }
}
