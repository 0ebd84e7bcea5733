import type { Actor } from '@tracking/contracts';

/** Whoever may open the socket owns the data: operators are not told apart. */
export const OPERATOR: Actor = { type: 'system', id: 'administration' };
