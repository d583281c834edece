import type { ReactNode } from 'react';

/** A named action: in the palette, by shortcut, in a native menu. */
export interface AppCommand {
  readonly id: string;
  readonly title: string;
  /** Group in the palette. */
  readonly group: string;
  readonly detail?: string;
  readonly icon?: ReactNode;
  /** The title is a text of the language. */
  readonly isCode?: true;
  /** Such as `Mod+K` or `Alt+1`; `Mod` is Ctrl, or Cmd on a Mac. */
  readonly keys?: string;
  /** Alternative shortcuts. */
  readonly alsoKeys?: string;
  /** Text fields and open dialogs keep these shortcuts to themselves. */
  readonly isOfView?: true;
  readonly run: () => void;
}
