/** The editor, loaded when it is first shown: Monaco is far larger than everything else together. */
import { Skeleton } from '@mantine/core';
import { type ComponentProps, lazy, Suspense } from 'react';

const Loaded = lazy(async () => ({ default: (await import('./code-editor.tsx')).CodeEditor }));

type Props = ComponentProps<typeof Loaded>;

export function LazyCodeEditor(props: Props) {
  const lines = props.lines?.[0];
  return (
    <Suspense fallback={<Skeleton height={lines === undefined ? '100%' : lines * 18 + 16} radius={0} />}>
      <Loaded {...props} />
    </Suspense>
  );
}
