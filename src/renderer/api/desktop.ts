import type { ShellApi } from '../../desktop-contract/channels.ts';

/** Returns the desktop application's interface, `window.corollary` from its preload; null in a browser. */
export function desktopShell(): ShellApi | null {
  return (globalThis as { readonly corollary?: ShellApi }).corollary ?? null;
}
