const SHIPMENT_PREFIX = 'shp_';
/** RFC 4648, lower case. */
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const RANDOM_CHARACTERS = 26;
const OBJECT_ID = /^([a-z2-7]{26})-[a-z2-7]{26}$/;

/**
 * An id for the bytes of one document: the token of its shipment, so that it can be asked whether they are needed, and
 * 130 random bits.
 */
export function freshObjectId(shipmentId: string, random: (bytes: number) => Uint8Array): string {
  const characters = Array.from(random(RANDOM_CHARACTERS), (byte) => BASE32.charAt(byte & 31));
  return `${shipmentId.slice(SHIPMENT_PREFIX.length)}-${characters.join('')}`;
}

/** The id of the shipment that an object belongs to; undefined where the id is none of a document's bytes. */
export function shipmentOfObject(objectId: string): string | undefined {
  const token = OBJECT_ID.exec(objectId)?.[1];
  return token === undefined ? undefined : SHIPMENT_PREFIX + token;
}
