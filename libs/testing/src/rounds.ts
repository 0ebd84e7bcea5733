/** How often a property is tried: all of it with `PROPERTY_ROUNDS=all`, as CI does, else a fifth. */
export function rounds(all: number): number {
  return process.env['PROPERTY_ROUNDS'] === 'all' ? all : Math.ceil(all / 5);
}
