import type { Space } from '../../api/space.ts';

/** Navigates to another database, tenant or scope, in the same view. */
export type GoTo = (space: Space) => void;
