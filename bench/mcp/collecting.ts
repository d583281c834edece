/** Loaded into a server before its own program: collects all garbage when told to by signal, so that memory can be compared. */
process.on('SIGUSR2', () => {
  globalThis.gc?.();
});
