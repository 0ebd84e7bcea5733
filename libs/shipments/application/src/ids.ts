import { hash } from 'node:crypto';
import type { Environment } from '@tracking/contracts';
import { createShipmentIdFromToken, removeShipmentIdPrefix } from '@tracking/shipments-domain';
import { v5 } from 'uuid';

/** Alphabet of base32 (RFC 4648), in lower case. */
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** Encodes bytes in base32 without padding. */
function encodeBase32(bytes: Uint8Array): string {
  let text = '';
  let pending = 0;
  let bits = 0;
  for (const byte of bytes) {
    pending = (pending << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32.charAt((pending >> bits) & 31);
    }
    pending &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + BASE32.charAt((pending << (5 - bits)) & 31);
}

/**
 * Returns the first `bits` (whole bytes) of a SHA-256 hash. The input contains each text after its length, so that
 * different lists of texts never have the same input.
 */
function computeHashOfTexts(bits: number, ...parts: readonly string[]): string {
  const prefixed = parts.flatMap((part) => {
    const bytes = Buffer.from(part);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return [length, bytes];
  });
  return encodeBase32(hash('sha256', Buffer.concat(prefixed), 'buffer').subarray(0, bits / 8));
}

/**
 * Returns the id of a shipment: `shp_` and 26 characters. All upserts with the same `external_id` get the same id in
 * every process, so concurrent upserts use the same stream. Without an `external_id`, each command creates a new
 * shipment.
 */
export function createShipmentId(
  scope: { readonly workspace_id: string; readonly environment: Environment },
  externalId: string | null | undefined,
  commandId: string,
): string {
  const token =
    typeof externalId === 'string'
      ? computeHashOfTexts(128, scope.workspace_id, scope.environment, externalId)
      : computeHashOfTexts(128, commandId);
  return createShipmentIdFromToken(token);
}

/**
 * Returns the id of the n-th resource of a kind that a command creates in a shipment. The id contains the shipment's
 * token, so that a later command finds the stream from the id alone.
 */
export function createIdOfShipmentPart(kind: string, shipmentId: string, commandId: string, n: number): string {
  return `${kind}_${removeShipmentIdPrefix(shipmentId)}${computeHashOfTexts(80, commandId, kind, String(n))}`;
}

/**
 * Returns the command id for one item of a bulk request. It is derived from the request's command id, so that a
 * repeated request has the same ids.
 */
export function createCommandIdOfBulkItem(commandId: string, index: number): string {
  return v5(`item ${index}`, commandId);
}
