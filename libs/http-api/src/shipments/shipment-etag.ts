import type { ShipmentRecord } from '@tracking/contracts';

/** Changes with every change of the shipment. */
export function shipmentEtag(record: ShipmentRecord): string {
  return `"${record.version}"`;
}

/** Whether `If-None-Match` names the tag; weak tags compare like strong ones (RFC 9110, 13.1.2). */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()));
}
