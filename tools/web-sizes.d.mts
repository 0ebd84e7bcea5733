export const MAX_FIRST_LOAD_BYTES: number;
export function computeFirstLoads(folder: string): Promise<{ page: string; bytes: number }[]>;
