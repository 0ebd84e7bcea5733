/** Ids are of one environment alone, as `shp_5f3c2k7q`. */
const ID = /^[a-z]{2,5}_[0-9a-z]+$/;

/** Where to be in the other environment: on the same page, but where that is of one thing, which is not there, on the list of such. */
export function pathInOther(path: string): string {
  const segments = path.split('/');
  const at = segments.findIndex((segment) => ID.test(segment));
  return at === -1 ? path : segments.slice(0, at).join('/');
}
