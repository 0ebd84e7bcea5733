export function clientTypes(description: unknown): Promise<Readonly<Record<string, string>>>;
