/**
 * How often a property is tried: all of it with `PROPERTY_ROUNDS=all`, as CI does, else a fifth; so many times as often
 * where it is a number.
 */
export function rounds(all: number): number {
  const asked = process.env['PROPERTY_ROUNDS'];
  return asked === 'all' ? all : Math.ceil(all * Number(asked ?? 0.2));
}

/** The run of a property by fast-check, with the seed that a failure told, where `PROPERTY_SEED` has it. */
export function propertyRun(all: number): { readonly numRuns: number; readonly seed?: number } {
  const seed = process.env['PROPERTY_SEED'];
  return { numRuns: rounds(all), ...(seed !== undefined && { seed: Number(seed) }) };
}
