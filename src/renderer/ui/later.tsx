import { type ComponentType, lazy, type ReactNode, Suspense } from 'react';

/** React's `lazy` for a component that is a named export. */
export function lazyComponent<Props>(fetch: () => Promise<ComponentType<Props>>) {
  return lazy(async () => ({ default: await fetch() }));
}

/** A component with code of its own, which `load` fetches ahead of its first show. */
export type LaterComponent<Props> = ComponentType<Props> & { readonly load: () => void };

/**
 * Makes a component whose code is fetched when it is first shown, so that the first page does without it; until it has
 * arrived, `meanwhile` is shown in its place.
 */
export function later<Props extends object>(
  fetch: () => Promise<ComponentType<Props>>,
  meanwhile: ReactNode = null,
): LaterComponent<Props> {
  const Loaded = lazyComponent(fetch);
  function Later(props: Props) {
    return (
      <Suspense fallback={meanwhile}>
        <Loaded {...props} />
      </Suspense>
    );
  }
  return Object.assign(Later, {
    load: () => {
      // If this fails, showing the component fetches it again, and reports it.
      fetch().catch(() => undefined);
    },
  });
}
