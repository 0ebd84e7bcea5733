import type { FilterCondition, Scalar } from '@tracking/ports';

/** What may stand in a document where a filter looks. */
export type StoredField = Scalar | readonly Scalar[] | { readonly [member: string]: Scalar };

/** The port's words about conditions, as plainly as they can be written. */
export function holds(value: StoredField | undefined, given: FilterCondition): boolean {
  if (given === null || typeof given !== 'object') return elements(value).includes(given);
  if ('in' in given) return elements(value).some((element) => given.in.includes(element));
  if ('ne' in given) return !elements(value).includes(given.ne);
  if ('exists' in given) return (value !== undefined) === given.exists;
  if ('all' in given) return given.all.every((one) => holds(value, one));
  return elements(value).some((element) =>
    Object.entries(given).every(([bound, limit]) => limit !== undefined && within(bound, element, limit)),
  );
}

function elements(value: StoredField | undefined): readonly Scalar[] {
  if (Array.isArray(value)) return value as readonly Scalar[];
  return value === undefined || (typeof value === 'object' && value !== null) ? [] : [value as Scalar];
}

function within(bound: string, element: Scalar, limit: Scalar): boolean {
  if (element === null || limit === null) return element === limit && bound.endsWith('e');
  if (typeof element !== typeof limit) return false;
  return { gt: element > limit, gte: element >= limit, lt: element < limit, lte: element <= limit }[bound] ?? false;
}
