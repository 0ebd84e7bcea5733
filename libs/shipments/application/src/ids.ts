import { hash } from 'node:crypto';
import type { Environment } from '@tracking/contracts';
import { shipmentIdFrom, shipmentToken } from '@tracking/shipments-domain';
import { v5 } from 'uuid';

/** RFC 4648, lower case, no padding. */
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

function base32(bytes: Uint8Array): string {
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

/** The first `bits` (whole bytes) of the SHA-256 of the parts, each behind its length, so that no two lists of parts meet. */
function digest(bits: number, ...parts: readonly string[]): string {
  const prefixed = parts.flatMap((part) => {
    const bytes = Buffer.from(part);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return [length, bytes];
  });
  return base32(hash('sha256', Buffer.concat(prefixed), 'buffer').subarray(0, bits / 8));
}

/**
 * The id of a shipment, `shp_` and 26 characters. With an `external_id` it is the same for every upsert of it, whoever
 * handles that and how many at once: two of them meet in one stream. Without one each command makes a shipment of its own.
 */
export function shipmentIdFor(
  scope: { readonly workspace_id: string; readonly environment: Environment },
  externalId: string | null | undefined,
  commandId: string,
): string {
  const token =
    typeof externalId === 'string'
      ? digest(128, scope.workspace_id, scope.environment, externalId)
      : digest(128, commandId);
  return shipmentIdFrom(token);
}

/**
 * The id of the n-th thing of its kind that a command makes in a shipment. It begins with the shipment's token, so that
 * a later command finds the stream from the id alone.
 */
export function partId(kind: string, shipmentId: string, commandId: string, n: number): string {
  return `${kind}_${shipmentToken(shipmentId)}${digest(80, commandId, kind, String(n))}`;
}

/** The same for every repetition of the command: what is appended again is recognised by the store. */
export function eventId(commandId: string, index: number): string {
  return v5(String(index), commandId);
}

/** The id of the command of an item, from that of the command of the whole request: the same whenever it is repeated. */
export function commandIdOfItem(commandId: string, index: number): string {
  return v5(`item ${index}`, commandId);
}
