import sharedPb, { type UUID } from '@eventstore/db-client/generated/shared_pb.js';
import streamsPb, {
  type AppendReq,
  type BatchAppendReq,
  type ReadResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import type { NewEvent, Position, StoredEvent } from '@tracking/ports';

/** Positions of a node are byte offsets of its log: they grow in steps, and not every number is one. */
const STEP = 64n;
/** A node counts time in units of 100 ns. */
const TICKS_PER_MS = 10_000n;
const UUID_FORM = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The 64-bit number that the protocol has for a position of the store, as decimal text. */
export function toLogPosition(position: Position): string {
  return String(BigInt(`0x${position}`) * STEP);
}

/** The last position of the store at or before one of the protocol's. */
export function fromLogPosition(logPosition: string): Position {
  return (BigInt(logPosition) / STEP).toString(16).padStart(16, '0');
}

export function toIdentifier(stream: string) {
  return new sharedPb.StreamIdentifier().setStreamName(Buffer.from(stream));
}

/** Bytes are kept as they came, a character each: a node does not look into them either. */
function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

export function bytesOf(text: unknown): Buffer {
  return Buffer.from(String(text), 'latin1');
}

/**
 * An event that a client proposes, in the store's form.
 * @throws RequestRefused where its id is no UUID
 */
export function toNewEvent(proposed: AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage): NewEvent {
  const described = proposed.getMetadataMap();
  return newEvent({
    id: fromUuid(proposed.getId()),
    type: described.get('type') ?? '',
    contentType: described.get('content-type') ?? 'application/octet-stream',
    data: proposed.getData_asU8(),
    metadata: proposed.getCustomMetadata_asU8(),
  });
}

/** An event as a node knows it: bytes. */
interface EventBytes {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata?: Uint8Array;
}

export function newEvent({ id, type, contentType, data, metadata = new Uint8Array() }: EventBytes): NewEvent {
  return {
    id,
    type,
    data: { bytes: toText(data) },
    metadata: { bytes: toText(metadata), content_type: contentType, created: Date.now() },
  };
}

/** Bytes of an event as a node counts them against the limit of an append: the data alone. */
export function sizeOf({ data }: NewEvent): number {
  return String(data['bytes']).length;
}

export function toReadResponse({ id, type, stream, revision, position, data, metadata }: StoredEvent): ReadResp {
  const logPosition = toLogPosition(position);
  const recorded = new streamsPb.ReadResp.ReadEvent.RecordedEvent()
    .setId(new sharedPb.UUID().setString(id))
    .setStreamIdentifier(toIdentifier(stream))
    .setStreamRevision(String(revision))
    .setPreparePosition(logPosition)
    .setCommitPosition(logPosition)
    .setData(bytesOf(data['bytes']))
    .setCustomMetadata(bytesOf(metadata['bytes']));
  recorded
    .getMetadataMap()
    .set('type', type)
    .set('content-type', String(metadata['content_type']))
    .set('created', String(BigInt(Number(metadata['created'])) * TICKS_PER_MS));
  const event = new streamsPb.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(logPosition);
  return new streamsPb.ReadResp().setEvent(event);
}

function fromUuid(uuid: UUID | undefined): string {
  const structured = uuid?.getStructured();
  if (structured === undefined) {
    const text = uuid?.getString() ?? '';
    if (!UUID_FORM.test(text)) throw new RequestRefused({ kind: 'bad_request', message: `not a UUID: ${text}` });
    return text;
  }
  const bytes = Buffer.alloc(16);
  bytes.writeBigInt64BE(BigInt(structured.getMostSignificantBits()), 0);
  bytes.writeBigInt64BE(BigInt(structured.getLeastSignificantBits()), 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** The stream's last revision as a client expects it. */
export type AppendExpectedRevision = number | 'no_stream' | 'any' | 'stream_exists';

/** Why a node says no. */
export type RefusalReason =
  | {
      readonly kind: 'wrong_expected_version';
      readonly stream: string;
      readonly expected: AppendExpectedRevision;
      /** Undefined: there is no such stream. */
      readonly current: number | undefined;
    }
  | { readonly kind: 'stream_deleted'; readonly stream: string }
  | { readonly kind: 'append_too_large'; readonly limit: number }
  | { readonly kind: 'consumer_too_slow' }
  | { readonly kind: 'shutting_down' }
  | { readonly kind: 'bad_request'; readonly message: string };

export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason) {
    super(reason.kind);
    this.reason = reason;
  }
}
