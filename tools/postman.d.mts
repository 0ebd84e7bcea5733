export const POSTMAN_COLLECTION: string;
export function postmanCollection(description: unknown): object;
