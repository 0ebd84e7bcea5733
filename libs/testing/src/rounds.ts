import { itWhere } from './subject.ts';

/** True in `npm run soak`, which runs every suite in its long form. `npm test` and CI run the short forms. */
export const IN_SOAK = process.env['SOAK'] === 'true';

/** A test that only `npm run soak` runs, since shorter ones cover what it repeats. Elsewhere it is reported as skipped. */
export const itInSoak = itWhere(IN_SOAK, 'npm run soak runs it');

/**
 * How often a property is tried: `all` in `npm run soak` and with `PROPERTY_ROUNDS=all`, otherwise `few`, a fifth of that by
 * default. A number in `PROPERTY_ROUNDS` multiplies `all`.
 */
export function rounds(all: number, few: number = all / 5): number {
  const asked = process.env['PROPERTY_ROUNDS'];
  if (asked === 'all' || (asked === undefined && IN_SOAK)) return all;
  return Math.ceil(asked === undefined ? few : all * Number(asked));
}

/** Options of a fast-check property: its rounds, and the seed in `PROPERTY_SEED` where it is set. */
export function propertyRun(all: number, few?: number): { readonly numRuns: number; readonly seed?: number } {
  const seed = process.env['PROPERTY_SEED'];
  return { numRuns: rounds(all, few), ...(seed !== undefined && { seed: Number(seed) }) };
}
