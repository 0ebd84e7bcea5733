/**
 * How often a property is tried: all of it with `PROPERTY_ROUNDS=all`, as CI does, else a few times, a fifth by default; so
 * many times as often as all of it where it is a number.
 */
export function rounds(all: number, few: number = all / 5): number {
  const asked = process.env['PROPERTY_ROUNDS'];
  if (asked === 'all') return all;
  return Math.ceil(asked === undefined ? few : all * Number(asked));
}

/** The run of a property by fast-check, with the seed that a failure told, where `PROPERTY_SEED` has it. */
export function propertyRun(all: number, few?: number): { readonly numRuns: number; readonly seed?: number } {
  const seed = process.env['PROPERTY_SEED'];
  return { numRuns: rounds(all, few), ...(seed !== undefined && { seed: Number(seed) }) };
}
