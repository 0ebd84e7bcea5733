import { deserialize, type Document, serialize } from 'bson';

/** Operation codes of messages (https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/). */
const OP_REPLY_CODE = 1;
const OP_QUERY_CODE = 2_004;
const OP_MSG_CODE = 2_013;
const MONGO_HEADER_BYTES = 16;
/** Size of the flags and the section kind before the body of a command. */
const MONGO_MSG_PREFIX_LENGTH = 5;
const MONGO_BODY_SECTION_KIND = 0;
const CHECKSUM_PRESENT_FLAG = 1;
const MORE_TO_COME_FLAG = 2;
const MONGO_EXHAUST_ALLOWED_FLAG = 1 << 16;
/** Size of the end of the collection name and two numbers before the document of a legacy command. */
const MONGO_QUERY_SUFFIX_BYTES = 9;
/** Size of flags, cursor id, start and count before the documents of a legacy reply. */
const REPLY_PREFIX_BYTES = 20;

/** A command or a reply of MongoDB's wire protocol. */
export interface MongoMessage {
  readonly requestId: number;
  /** Id of the message to which this one responds; 0 for commands. */
  readonly responseTo: number;
  /** Command or reply without its document sequences. Numbers of 64 bits are `Long` objects. */
  readonly body: Document;
  /** True for a command in the format of old servers, in which drivers send their first `hello`. */
  readonly isLegacy: boolean;
  /** True if the sender of a command accepts several replies. */
  readonly allowsExhaust: boolean;
  /** The message as received. */
  readonly bytes: Buffer;
}

/** Returns the name of a command, such as `insert`. */
export function readMongoCommandName(command: object): string {
  return Object.keys(command)[0] ?? '';
}

/** Returns true for the command with which drivers ask for the role of a server, also under its old names. */
export function isMongoHello(command: object): boolean {
  return /^(hello|ismaster)$/i.test(readMongoCommandName(command));
}

/** Splits a stream of bytes into messages. */
export class MongoMessageReader {
  private rest: Buffer = Buffer.alloc(0);

  /** Returns the messages that are complete with these bytes. */
  takeCompleteMongoMessages(bytes: Uint8Array): MongoMessage[] {
    this.rest = Buffer.concat([this.rest, bytes]);
    const messages: MongoMessage[] = [];
    while (this.rest.length >= 4) {
      const length = this.rest.readInt32LE(0);
      if (this.rest.length < length) break;
      messages.push(decodeMongoMessage(this.rest.subarray(0, length)));
      this.rest = this.rest.subarray(length);
    }
    return messages;
  }
}

function decodeMongoMessage(bytes: Buffer): MongoMessage {
  const isLegacy = bytes.readInt32LE(12) !== OP_MSG_CODE;
  return {
    requestId: bytes.readInt32LE(4),
    responseTo: bytes.readInt32LE(8),
    body: decodeDocument(bytes, findMongoBodyStart(bytes)),
    isLegacy,
    allowsExhaust: !isLegacy && (bytes.readInt32LE(MONGO_HEADER_BYTES) & MONGO_EXHAUST_ALLOWED_FLAG) !== 0,
    bytes,
  };
}

function findMongoBodyStart(bytes: Buffer): number {
  const opCode = bytes.readInt32LE(12);
  switch (opCode) {
    case OP_MSG_CODE: {
      // Document sequences can precede the body.
      let at = MONGO_HEADER_BYTES + MONGO_MSG_PREFIX_LENGTH - 1;
      while (bytes.readUInt8(at) !== MONGO_BODY_SECTION_KIND) at += 1 + bytes.readInt32LE(at + 1);
      return at + 1;
    }
    case OP_QUERY_CODE:
      return bytes.indexOf(0, MONGO_HEADER_BYTES + 4) + MONGO_QUERY_SUFFIX_BYTES;
    case OP_REPLY_CODE:
      return MONGO_HEADER_BYTES + REPLY_PREFIX_BYTES;
    default:
      throw new Error(`the operation code ${opCode} of MongoDB's protocol is not supported`);
  }
}

function decodeDocument(bytes: Buffer, at: number): Document {
  const document = bytes.subarray(at, at + bytes.readInt32LE(at));
  return deserialize(document, { promoteLongs: false, promoteValues: true, promoteBuffers: false });
}

/** Returns the message with another body; its document sequences are kept. */
export function replaceMongoBody({ bytes, isLegacy }: MongoMessage, body: Document): Buffer {
  const flags = isLegacy ? 0 : bytes.readInt32LE(MONGO_HEADER_BYTES);
  const start = findMongoBodyStart(bytes);
  const end = bytes.length - ((flags & CHECKSUM_PRESENT_FLAG) === 0 ? 0 : 4);
  const rest = bytes.subarray(start + bytes.readInt32LE(start), end);
  const changed = Buffer.concat([bytes.subarray(0, start), serialize(body), rest]);
  changed.writeInt32LE(changed.length, 0);
  if (!isLegacy) changed.writeInt32LE(flags & ~CHECKSUM_PRESENT_FLAG, MONGO_HEADER_BYTES);
  return changed;
}

/** Returns a command as a message. @param body the command with its `$db` */
export function encodeMongoCommand(requestId: number, body: Document, allowsExhaust = false): Buffer {
  return encodeMongoMsg({ requestId, responseTo: 0, body }, allowsExhaust ? MONGO_EXHAUST_ALLOWED_FLAG : 0);
}

/** Returns a command in the format of old servers. @param body the command without `$db` */
export function encodeLegacyCommand(requestId: number, body: Document): Buffer {
  const prefix = Buffer.concat([Buffer.alloc(4), Buffer.from('admin.$cmd\0'), Buffer.alloc(8)]);
  prefix.writeInt32LE(-1, prefix.length - 4);
  return encodeMongoWireMessage({ requestId, responseTo: 0 }, OP_QUERY_CODE, [prefix, serialize(body)]);
}

/** Returns a reply as a message. @param hasMore true if another reply to the same command follows */
export function encodeMongoReply(
  reply: Pick<MongoMessage, 'requestId' | 'responseTo' | 'body' | 'isLegacy'>,
  hasMore = false,
): Buffer {
  if (!reply.isLegacy) return encodeMongoMsg(reply, hasMore ? MORE_TO_COME_FLAG : 0);
  const prefix = Buffer.alloc(REPLY_PREFIX_BYTES);
  prefix.writeInt32LE(1, REPLY_PREFIX_BYTES - 4);
  return encodeMongoWireMessage(reply, OP_REPLY_CODE, [prefix, serialize(reply.body)]);
}

function encodeMongoMsg(content: MessageIds & { readonly body: Document }, flags: number): Buffer {
  const prefix = Buffer.alloc(MONGO_MSG_PREFIX_LENGTH);
  prefix.writeInt32LE(flags, 0);
  return encodeMongoWireMessage(content, OP_MSG_CODE, [prefix, serialize(content.body)]);
}

type MessageIds = Pick<MongoMessage, 'requestId' | 'responseTo'>;

function encodeMongoWireMessage(
  { requestId, responseTo }: MessageIds,
  opCode: number,
  parts: readonly Uint8Array[],
): Buffer {
  const header = Buffer.alloc(MONGO_HEADER_BYTES);
  const bytes = Buffer.concat([header, ...parts]);
  for (const [at, value] of [bytes.length, requestId, responseTo, opCode].entries()) bytes.writeInt32LE(value, 4 * at);
  return bytes;
}
