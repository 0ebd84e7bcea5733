/** Where a one-time link is opened. The token is in the fragment, which browsers send to no server: no log has it. */
export function linkAddress(appUrl: string, token: string): string {
  return `${appUrl}/invitation#${token}`;
}
