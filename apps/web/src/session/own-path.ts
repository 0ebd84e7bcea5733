/** Only addresses of this page: another's would have somebody land elsewhere after signing in. */
export function isOwnPath(path: string | undefined): path is string {
  return path !== undefined && /^\/(?![/\\])/.test(path) && !path.startsWith('/sign-in');
}
