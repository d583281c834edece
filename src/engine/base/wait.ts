/** Resolves after so many milliseconds, or when the signal aborts. Keeps no process alive. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    timer.unref();
    signal?.addEventListener('abort', end);
  });
}
