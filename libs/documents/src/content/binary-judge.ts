import type { DocumentContentType } from '@tracking/contracts';
import { UnsupportedDocumentType } from '../refusals.ts';
import { Tail } from './tail.ts';

const END_OF_ARCHIVE = 'PK\x05\x06';
const DIRECTORY_ENTRY = 0x02014b50;
const END_BYTES = 22;
/** An archive's last record, with the longest comment. */
const LAST_RECORD_BYTES = END_BYTES + 0xffff;

/** A picture or PDF: told by its beginning; refused where it is a ZIP as well, which readers find by the end. */
export class BinaryJudge {
  private readonly tail = new Tail(LAST_RECORD_BYTES);

  constructor(private readonly contentType: DocumentContentType) {}

  take(bytes: Buffer): void {
    this.tail.take(bytes);
  }

  /** @throws UnsupportedDocumentType */
  end(): DocumentContentType {
    if (endsAsArchive(this.tail.bytes())) throw new UnsupportedDocumentType('there is an archive at its end');
    return this.contentType;
  }
}

/** Whether a last record stands where it ends the file, or with a directory where it says that this is. */
function endsAsArchive(tail: Buffer): boolean {
  for (let at = tail.lastIndexOf(END_OF_ARCHIVE, undefined, 'latin1'); at >= 0;) {
    if (isLastRecord(tail, at)) return true;
    if (at === 0) return false;
    at = tail.lastIndexOf(END_OF_ARCHIVE, at - 1, 'latin1');
  }
  return false;
}

function isLastRecord(tail: Buffer, at: number): boolean {
  if (at + END_BYTES > tail.length) return false;
  if (at + END_BYTES + tail.readUInt16LE(at + 20) === tail.length) return true;
  const directory = at - tail.readUInt32LE(at + 12);
  return directory >= 0 && directory < at && tail.readUInt32LE(directory) === DIRECTORY_ENTRY;
}
