/** One thing that can be done by name: in the palette, by its keys, in a native menu. */
import type { ReactNode } from 'react';

export interface AppCommand {
  readonly id: string;
  readonly title: string;
  /** What it is listed under. */
  readonly group: string;
  readonly detail?: string;
  readonly icon?: ReactNode;
  /** As `Mod+K` or `Alt+1`; `Mod` is Ctrl, or Cmd on a Mac. */
  readonly keys?: string;
  /** Other keys that do the same. */
  readonly alsoKeys?: string;
  /** Its keys are left to text that is written, and to a dialog that is open. */
  readonly isOfView?: true;
  readonly run: () => void;
}
