import sharedPb, { type UUID } from '@eventstore/db-client/generated/shared_pb.js';
import streamsPb, {
  type AppendReq,
  type BatchAppendReq,
  type ReadResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import type { NewEvent, Position, StoredEvent } from '@tracking/ports';

/**
 * Difference between two positions. The positions of a node are byte offsets of its log: they increase in steps, and
 * not every number is a position.
 */
const POSITION_STEP = 64n;
/** Number of 100 ns units per millisecond. A node measures time in these units. */
const TICKS_PER_MS = 10_000n;
const UUID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Converts a position of the store to the protocol's 64-bit number, as decimal text. */
export function toProtocolLogPosition(position: Position): string {
  return String(BigInt(`0x${position}`) * POSITION_STEP);
}

/** Returns the last position of the store at or before a position of the protocol. */
export function toStorePosition(logPosition: string): Position {
  return (BigInt(logPosition) / POSITION_STEP).toString(16).padStart(16, '0');
}

export function createStreamIdentifier(stream: string) {
  return new sharedPb.StreamIdentifier().setStreamName(Buffer.from(stream));
}

/** Converts bytes to text, one character per byte. Like a node, the stand-in does not interpret them. */
function bytesToLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

export function latin1ToBytes(text: unknown): Buffer {
  return Buffer.from(String(text), 'latin1');
}

/**
 * Converts an event from a client to an event of the store.
 * @throws RequestRefusedError if its id is not a UUID
 */
export function toNewEvent(proposed: AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage): NewEvent {
  const described = proposed.getMetadataMap();
  return createNewEvent({
    id: parseUuid(proposed.getId()),
    type: described.get('type') ?? '',
    contentType: described.get('content-type') ?? 'application/octet-stream',
    data: proposed.getData_asU8(),
    metadata: proposed.getCustomMetadata_asU8(),
  });
}

/** Event as a node stores it, with data and metadata as bytes. */
interface EventEncodedAsBytes {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata?: Uint8Array;
}

export function createNewEvent({
  id,
  type,
  contentType,
  data,
  metadata = new Uint8Array(),
}: EventEncodedAsBytes): NewEvent {
  return {
    id,
    type,
    data: { bytes: bytesToLatin1(data) },
    metadata: { bytes: bytesToLatin1(metadata), content_type: contentType, created: Date.now() },
  };
}

/** Returns the number of bytes that a node counts against the limit of an append: only the data of the event. */
export function computeEventDataBytes({ data }: NewEvent): number {
  return String(data['bytes']).length;
}

export function toReadResponse({ id, type, stream, revision, position, data, metadata }: StoredEvent): ReadResp {
  const logPosition = toProtocolLogPosition(position);
  const recorded = new streamsPb.ReadResp.ReadEvent.RecordedEvent()
    .setId(new sharedPb.UUID().setString(id))
    .setStreamIdentifier(createStreamIdentifier(stream))
    .setStreamRevision(String(revision))
    .setPreparePosition(logPosition)
    .setCommitPosition(logPosition)
    .setData(latin1ToBytes(data['bytes']))
    .setCustomMetadata(latin1ToBytes(metadata['bytes']));
  recorded
    .getMetadataMap()
    .set('type', type)
    .set('content-type', String(metadata['content_type']))
    .set('created', String(BigInt(Number(metadata['created'])) * TICKS_PER_MS));
  const event = new streamsPb.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(logPosition);
  return new streamsPb.ReadResp().setEvent(event);
}

function parseUuid(uuid: UUID | undefined): string {
  const structured = uuid?.getStructured();
  if (structured === undefined) {
    const text = uuid?.getString() ?? '';
    if (!UUID_PATTERN.test(text))
      throw new RequestRefusedError({ kind: 'bad_request', message: `not a UUID: ${text}` });
    return text;
  }
  const bytes = Buffer.alloc(16);
  bytes.writeBigInt64BE(BigInt(structured.getMostSignificantBits()), 0);
  bytes.writeBigInt64BE(BigInt(structured.getLeastSignificantBits()), 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Last revision of the stream that a client expects. */
export type AppendExpectedRevision = number | 'no_stream' | 'any' | 'stream_exists';

/** The reason why a node refuses a request. */
export type RefusalReason =
  | {
      readonly kind: 'wrong_expected_version';
      readonly stream: string;
      readonly expected: AppendExpectedRevision;
      /** Current revision; undefined if the stream does not exist. */
      readonly current: number | undefined;
    }
  | { readonly kind: 'stream_deleted'; readonly stream: string }
  | { readonly kind: 'append_too_large'; readonly limit: number }
  | { readonly kind: 'consumer_too_slow' }
  | { readonly kind: 'shutting_down' }
  | { readonly kind: 'bad_request'; readonly message: string };

export class RequestRefusedError extends Error {
  override readonly name = 'RequestRefusedError';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason) {
    super(reason.kind);
    this.reason = reason;
  }
}
