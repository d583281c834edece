import { create } from 'zustand';

interface PaletteState {
  /** Whether the palette is open: what it alone lists is fetched then. */
  readonly isOpen: boolean;
  /** What was typed before its code had arrived. */
  readonly typedAhead: string;
  /** Whether Enter was pressed after that. */
  readonly isSent: boolean;
}

const closed: PaletteState = { isOpen: false, typedAhead: '', isSent: false };

export const usePaletteState = create<PaletteState>()(() => closed);

/** Opens the palette with an empty field, or closes it. */
export function showPalette(isOpen: boolean): void {
  usePaletteState.setState({ ...closed, isOpen });
}
