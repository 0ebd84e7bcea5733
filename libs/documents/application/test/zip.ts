import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipPart {
  readonly name: string;
  readonly content: string | Buffer;
  readonly isStored?: boolean;
  /** Declared size of the content, in place of the real one. */
  readonly claimedBytes?: number;
  /** True for a part that is only in the directory: its bytes are those of the previous part. */
  readonly isShared?: boolean;
  readonly flags?: number;
}

interface ZipOptions {
  readonly comment?: string;
  /** Bytes before the archive, included in its offsets. */
  readonly before?: Buffer;
  /** Names in the directory that differ from the names of the parts. */
  readonly renamed?: Readonly<Record<string, string>>;
}

/** Returns a ZIP of the parts, in order. */
export function createZip(
  parts: readonly ZipPart[],
  { comment = '', before = Buffer.alloc(0), renamed = {} }: ZipOptions = {},
): Buffer {
  const files: Buffer[] = [before];
  const directory: Buffer[] = [];
  let end = before.length;
  let last = end;
  for (const part of parts) {
    const content = Buffer.from(part.content);
    const data = part.isStored ? content : deflateRawSync(content);
    const header = (name: Buffer) => {
      const fields = Buffer.alloc(26);
      fields.writeUInt16LE(20, 0);
      fields.writeUInt16LE(part.flags ?? 0, 2);
      fields.writeUInt16LE(part.isStored ? 0 : 8, 4);
      fields.writeUInt32LE(crc32(content), 10);
      fields.writeUInt32LE(data.length, 14);
      fields.writeUInt32LE(part.claimedBytes ?? content.length, 18);
      fields.writeUInt16LE(name.length, 22);
      return fields;
    };
    if (!part.isShared) {
      const name = Buffer.from(part.name);
      const file = Buffer.concat([Buffer.from('PK\x03\x04'), header(name), name, data]);
      files.push(file);
      last = end;
      end += file.length;
    }
    const name = Buffer.from(renamed[part.name] ?? part.name);
    const behind = Buffer.alloc(14);
    behind.writeUInt32LE(last, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), header(name), behind, name]));
  }
  const entries = Buffer.concat(directory);
  const record = Buffer.alloc(22);
  record.write('PK\x05\x06');
  record.writeUInt16LE(parts.length, 8);
  record.writeUInt16LE(parts.length, 10);
  record.writeUInt32LE(entries.length, 12);
  record.writeUInt32LE(end, 16);
  record.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...files, entries, record, Buffer.from(comment)]);
}
