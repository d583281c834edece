/** The editor, loaded when it is first shown: Monaco is far larger than everything else together. */
import { Skeleton } from '@mantine/core';
import { type ComponentProps, lazy, Suspense, useState } from 'react';

const Loaded = lazy(async () => ({ default: (await import('./code-editor.tsx')).CodeEditor }));

type Props = Omit<ComponentProps<typeof Loaded>, 'focusedAtFirst'>;

export function LazyCodeEditor(props: Props) {
  const lines = props.lines?.[0];
  const [focusedAtFirst] = useState(() => document.activeElement);
  return (
    <Suspense fallback={<Skeleton height={lines === undefined ? '100%' : lines * 18 + 16} radius={0} />}>
      <Loaded {...props} focusedAtFirst={focusedAtFirst} />
    </Suspense>
  );
}
