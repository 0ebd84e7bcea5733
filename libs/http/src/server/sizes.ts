export const MIB = 1_048_576;

/** For people. */
export function sizeOf(bytes: number): string {
  return bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes} bytes`;
}
