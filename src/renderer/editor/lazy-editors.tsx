/** Editor, viewer and comparison of texts, each loaded when first shown: Monaco is larger than everything else together. */
import { Skeleton } from '@mantine/core';
import { type ComponentProps, lazy, Suspense, useState } from 'react';

const Diff = lazy(async () => ({ default: (await import('./code-diff.tsx')).CodeDiff }));
const Editor = lazy(async () => ({ default: (await import('./code-editor.tsx')).CodeEditor }));
const Viewer = lazy(async () => ({ default: (await import('./text-viewer.tsx')).TextViewer }));

const lineHeight = 18;
const padding = 16;

/** Height in pixels of an editor of that many lines. */
function heightOf(lines: number): number {
  return lines * lineHeight + padding;
}

const leastHeight = heightOf(3);

/**
 * Returns the height in pixels that an editor in a pane needs for the text, and what the editor tells it to: three lines,
 * and more as the text has more. Until the editor has loaded and says which lines are wrapped, none is.
 */
export function useEditorHeight(text: string): readonly [height: number, onHeight: (height: number) => void] {
  const [measured, setMeasured] = useState<number | null>(null);
  return [Math.max(leastHeight, measured ?? heightOf(text.split('\n').length)), setMeasured];
}

type EditorProps = Omit<ComponentProps<typeof Editor>, 'focusedAtFirst'>;

/** The editor; it takes the focus once loaded unless the focus has moved elsewhere meanwhile. */
export function LazyCodeEditor(props: EditorProps) {
  const lines = props.lines?.[0];
  const [focusedAtFirst] = useState(() => document.activeElement);
  return (
    <Suspense fallback={<Skeleton height={lines === undefined ? '100%' : heightOf(lines)} radius={0} />}>
      <Editor {...props} focusedAtFirst={focusedAtFirst} />
    </Suspense>
  );
}

/** The comparison of two texts. */
export function LazyCodeDiff(props: ComponentProps<typeof Diff>) {
  return (
    <Suspense fallback={<Skeleton height="100%" radius={0} />}>
      <Diff {...props} />
    </Suspense>
  );
}

/** The viewer of long texts. */
export function LazyTextViewer(props: ComponentProps<typeof Viewer>) {
  return (
    <Suspense fallback={<Skeleton height="100%" radius={0} />}>
      <Viewer {...props} />
    </Suspense>
  );
}
