import { invalidRequest } from '@tracking/http';

/** Nobody but the operator's own tool sends a cursor, so it is neither sealed nor bound to its filters. */
export function placeOf(cursor: string | undefined): string[] | undefined {
  const place = cursor?.split(' ');
  if (place === undefined || place.length === 2) return place;
  throw invalidRequest([{ param: 'cursor', code: 'invalid_cursor', message: 'Must be a next_cursor of this list.' }]);
}
