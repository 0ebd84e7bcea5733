export const LARGEST_FIRST_LOAD: number;
export function firstLoads(folder: string): Promise<{ page: string; bytes: number }[]>;
