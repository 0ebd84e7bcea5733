export function findCycles(importsOf: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[];
