import { OUTLOOK_MESSAGE_MEDIA_TYPE, UnsupportedDocumentTypeError } from '../refusals.ts';

/** Signature of a compound file ([MS-CFB], 2.2), the format of Outlook messages and of older Office files. */
export const COMPOUND_SIGNATURE = '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1';

/** Bytes of a directory entry. Sectors have a multiple of it, so entries begin at multiples of it. */
const DIRECTORY_ENTRY_BYTES = 128;
const MAX_COMPOUND_FILE_ENTRY_NAME_BYTES = 64;
const ROOT_ENTRY_TYPE = 5;
const COMPOUND_FILE_ENTRY_TYPES: readonly number[] = [1, 2, ROOT_ENTRY_TYPE];
/** Stream that every message has in its root ([MS-OXMSG], 2.4). */
const OUTLOOK_PROPERTIES_STREAM_NAME = '__properties_version1.0';
/** Class of Outlook messages, {00020D0B-0000-0000-C000-000000000046}, as stored. */
const OUTLOOK_MESSAGE_CLASS_ID = '0b0d020000000000c000000000000046';
/** Class of a file whose writer did not set one. */
const NO_CLASS_ID = '0'.repeat(32);
/** Names of the main streams of older Office files. A message in such a file does not make it a message. */
const OFFICE_FILE_STREAM_NAMES: readonly string[] = ['WordDocument', 'Workbook', 'Book', 'PowerPoint Document'];

/**
 * Judges a compound file: accepts messages of Outlook, and refuses older Office files and others. Reads the directory
 * entries as they pass, in memory for one entry.
 */
export class OutlookMessageFileChecker {
  private readonly rest = Buffer.alloc(DIRECTORY_ENTRY_BYTES);
  private restBytes = 0;
  private position = 0;
  /** Offset of the root entry. */
  private readonly rootOffset: number;
  private rootClass: string | undefined;
  private readonly found = new Set<string>();

  /** @param head the first bytes, which are passed again with the rest */
  constructor(head: Buffer) {
    const padded = Buffer.concat([head, Buffer.alloc(DIRECTORY_ENTRY_BYTES)]);
    this.rootOffset = (padded.readUInt32LE(48) + 1) * 2 ** padded.readUInt16LE(30);
  }

  checkContentBytes(bytes: Buffer): void {
    let at = 0;
    if (this.restBytes > 0) {
      at = bytes.copy(this.rest, this.restBytes, 0, DIRECTORY_ENTRY_BYTES - this.restBytes);
      this.restBytes += at;
      if (this.restBytes < DIRECTORY_ENTRY_BYTES) return;
      this.readCompoundDirectoryEntry(this.rest, 0);
    }
    for (; at + DIRECTORY_ENTRY_BYTES <= bytes.length; at += DIRECTORY_ENTRY_BYTES)
      this.readCompoundDirectoryEntry(bytes, at);
    this.restBytes = bytes.copy(this.rest, 0, at);
  }

  /** @throws UnsupportedDocumentTypeError */
  determineFileType(): typeof OUTLOOK_MESSAGE_MEDIA_TYPE {
    const isUnclassified =
      this.rootClass === NO_CLASS_ID && !OFFICE_FILE_STREAM_NAMES.some((name) => this.found.has(name));
    const isMessage =
      this.found.has(OUTLOOK_PROPERTIES_STREAM_NAME) && (this.rootClass === OUTLOOK_MESSAGE_CLASS_ID || isUnclassified);
    if (isMessage) return OUTLOOK_MESSAGE_MEDIA_TYPE;
    throw new UnsupportedDocumentTypeError(
      'the file is an older Office file, or damaged, and not a message of Outlook',
    );
  }

  private readCompoundDirectoryEntry(bytes: Buffer, at: number): void {
    const nameBytes = bytes.readUInt16LE(at + 64);
    const type = bytes[at + 66] ?? 0;
    if (
      nameBytes >= 2 &&
      nameBytes <= MAX_COMPOUND_FILE_ENTRY_NAME_BYTES &&
      nameBytes % 2 === 0 &&
      COMPOUND_FILE_ENTRY_TYPES.includes(type)
    ) {
      const name = bytes.toString('utf16le', at, at + nameBytes - 2);
      if (name === OUTLOOK_PROPERTIES_STREAM_NAME || OFFICE_FILE_STREAM_NAMES.includes(name)) this.found.add(name);
      if (type === ROOT_ENTRY_TYPE && this.position === this.rootOffset)
        this.rootClass = bytes.toString('hex', at + 80, at + 96);
    }
    this.position += DIRECTORY_ENTRY_BYTES;
  }
}
