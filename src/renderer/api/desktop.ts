/** The desktop application around this page, where there is one: `window.corollary`, as its preload gives it. */
import type { ShellApi } from '../../desktop-contract/channels.ts';

/** null in a browser. */
export function desktopShell(): ShellApi | null {
  return (globalThis as { readonly corollary?: ShellApi }).corollary ?? null;
}
