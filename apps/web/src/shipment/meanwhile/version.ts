/** The version that an ETag names; 0, which nothing has, where it names none. */
export function versionIn(etag: string | undefined): number {
  return Number(/^"(\d+)"$/.exec(etag ?? '')?.[1] ?? 0);
}
