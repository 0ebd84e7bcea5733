export function removeUnusedStyles(folder: string): Promise<void>;
