import { type ComponentType, lazy, Suspense } from 'react';

/**
 * React's `lazy`, with the style sheets of the components that no first page has. Every component that is fetched on its
 * own is made by this or by `later`.
 */
export function lazyStyled<Props>(fetch: () => Promise<ComponentType<Props>>) {
  return lazy(async () => {
    const [loaded] = await Promise.all([fetch(), import('./mantine-more.css')]);
    return { default: loaded };
  });
}

/** A component with code of its own, which `load` fetches ahead of its first show. */
export type LaterComponent<Props> = ComponentType<Props> & { readonly load: () => void };

/**
 * Makes a component whose code is fetched when it is first shown, so that the first page does without it; until it has
 * arrived, nothing is shown in its place.
 */
export function later<Props extends object>(
  fetch: () => Promise<ComponentType<Props>>,
): LaterComponent<Props> {
  const Loaded = lazyStyled(fetch);
  function Later(props: Props) {
    return (
      <Suspense fallback={null}>
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
