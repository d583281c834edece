/** The viewer of long texts, loaded when it is first shown, as the editor is. */
import { Skeleton } from '@mantine/core';
import { type ComponentProps, lazy, Suspense } from 'react';

const Loaded = lazy(async () => ({ default: (await import('./text-viewer.tsx')).TextViewer }));

export function LazyTextViewer(props: ComponentProps<typeof Loaded>) {
  return (
    <Suspense fallback={<Skeleton height="100%" radius={0} />}>
      <Loaded {...props} />
    </Suspense>
  );
}
