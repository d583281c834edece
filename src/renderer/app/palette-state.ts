import { create } from 'zustand';

/** Whether the palette is open: what it alone lists is fetched then. */
export const usePaletteState = create<{ readonly isOpen: boolean }>()(() => ({ isOpen: false }));
