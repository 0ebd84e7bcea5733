/** A shipment's id and the name of its stream: the same token behind two prefixes. */
const ID_PREFIX = 'shp_';
/** What the names of all shipments' streams begin with; the character behind it is uniform, so that they can be partitioned by it. */
export const SHIPMENT_STREAM_PREFIX = 'shipment-';

/** 128 bits in base32; the last of 26 characters carries three of them, so only eight are possible there. */
const SHIPMENT_ID = /^shp_[a-z2-7]{25}[aeimquy4]$/;

/** Of what belongs to a shipment: behind its token 80 bits that tell it apart. */
const PART_IDS = {
  exception: /^exc_([a-z2-7]{25}[aeimquy4])[a-z2-7]{16}$/,
  document: /^doc_([a-z2-7]{25}[aeimquy4])[a-z2-7]{16}$/,
} as const;

/** The id of the shipment that an exception or a document belongs to; undefined if the id has not the form of one. */
export function shipmentIdOfPart(part: keyof typeof PART_IDS, id: unknown): string | undefined {
  const token = typeof id === 'string' ? PART_IDS[part].exec(id)?.[1] : undefined;
  return token === undefined ? undefined : shipmentIdFrom(token);
}

/** @param token 26 characters of base32 */
export function shipmentIdFrom(token: string): string {
  return ID_PREFIX + token;
}

/** The id if it has the form of a shipment's, else undefined: nothing else may become the name of a stream. */
export function parseShipmentId(id: unknown): string | undefined {
  return typeof id === 'string' && SHIPMENT_ID.test(id) ? id : undefined;
}

/** `shp_<token>` → `<token>`, with which the ids of a shipment's milestones, exceptions and documents begin. */
export function tokenOf(shipmentId: string): string {
  return shipmentId.slice(ID_PREFIX.length);
}

/** `shp_<token>` → `shipment-<token>`; what is no shipment's id comes back as it is, and names no stream. */
export function streamOf(shipmentId: string): string {
  return shipmentId.replace(/^shp_/, SHIPMENT_STREAM_PREFIX);
}

/** `shipment-<token>` → `shp_<token>` */
export function shipmentIdOf(stream: string): string {
  return stream.replace(/^shipment-/, ID_PREFIX);
}

/** Whether a stream is that of a shipment, by its name. */
export function isShipmentStream(stream: unknown): boolean {
  return (
    typeof stream === 'string' &&
    stream.startsWith(SHIPMENT_STREAM_PREFIX) &&
    parseShipmentId(shipmentIdOf(stream)) !== undefined
  );
}
