import { randomBytes } from 'node:crypto';
import type { DocumentContentType } from '@tracking/contracts';
import { type Counter, type Metrics, type ObjectStore, StorageFullError, UnavailableError } from '@tracking/ports';
import { checkArchiveParts } from './content/archive-parts.ts';
import { FileTypeDetector } from './content/judgement.ts';
import type { DeclaredFileTypeAndName } from './content/text-judge.ts';
import { DocumentTooLargeError, EmptyDocumentError, isDocumentRefusal, StorageQuotaExceededError } from './refusals.ts';

/** A stored object, complete and durable, to which commands refer. */
export interface StoredDocumentFile {
  readonly id: string;
  readonly size_bytes: number;
  /** SHA-256 in lower-case hexadecimal digits. */
  readonly sha256: string;
  /** Media type, determined from the bytes. */
  readonly content_type: DocumentContentType;
}

export interface BytesToStore {
  /** Id of the shipment, `shp_…`: the object's id begins with its token. */
  readonly shipmentId: string;
  readonly source: AsyncIterable<Uint8Array>;
  readonly limitBytes: number;
  /** Size declared by the sender: refused immediately if it is zero or too large. */
  readonly declaredBytes?: number;
  readonly hint?: DeclaredFileTypeAndName;
}

export interface DocumentBytesDependencies {
  readonly objects: Pick<ObjectStore, 'putObject' | 'getObject' | 'deleteObject'>;
  readonly metrics: Metrics;
  readonly random?: (bytes: number) => Uint8Array;
}

/** Stores sent bytes as the file of a document, before any command refers to them. */
export class DocumentBytesStore {
  private readonly stored: Counter;
  private readonly refused: Counter;

  constructor(private readonly parts: DocumentBytesDependencies) {
    const { metrics } = parts;
    this.stored = metrics.createCounter(
      'document_bytes_stored_total',
      'Number of bytes of completely stored documents.',
    );
    this.refused = metrics.createCounter(
      'documents_refused_total',
      'Number of files refused as documents, by reason.',
      ['why'],
    );
  }

  /**
   * Stores all bytes of the source with a new id, and judges them as they pass. If it throws, nothing is kept; an
   * `UnavailableError` may leave an object without a reference, which the sweep of orphans deletes.
   * @throws DocumentTooLargeError, EmptyDocumentError, UnsupportedDocumentTypeError, StorageFullError,
   *   UnavailableError; errors of the source
   */
  async storeAndCheckDocumentBytes(bytes: BytesToStore): Promise<StoredDocumentFile> {
    const { shipmentId, declaredBytes, limitBytes, source, hint = {} } = bytes;
    try {
      if (declaredBytes !== undefined && declaredBytes > limitBytes) throw new DocumentTooLargeError(limitBytes);
      if (declaredBytes === 0) throw new EmptyDocumentError();
      const id = createDocumentObjectId(shipmentId, this.parts.random ?? randomBytes);
      const judgement = new FileTypeDetector(hint);
      const passing = new DocumentBytesChecker(source, limitBytes, judgement);
      const { sizeBytes, sha256 } = await this.parts.objects.putObject(id, passing.streamBytesCheckingSizeAndType());
      await this.deleteArchiveIfRefused(id, judgement);
      this.stored.add(sizeBytes);
      return { id, size_bytes: sizeBytes, sha256, content_type: passing.getContentType() };
    } catch (error) {
      this.countRefusal(error);
      throw error;
    }
  }

  /** Checks the parts of a stored archive, as its directory lists them, and deletes the archive if it is refused. */
  private async deleteArchiveIfRefused(id: string, { archiveParts }: FileTypeDetector): Promise<void> {
    if (archiveParts.length === 0) return;
    const { objects } = this.parts;
    try {
      const content = await objects.getObject(id);
      if (content === undefined)
        throw new UnavailableError('object store', `object ${id} is missing after it was stored`);
      await checkArchiveParts(archiveParts, content.bytes);
    } catch (error) {
      // If this fails, the sweep of orphans deletes the file.
      await objects.deleteObject(id).catch(() => undefined);
      throw error;
    }
  }

  /** Counts an error that is a refusal of a file. */
  countRefusal(error: unknown): void {
    const isRefusal =
      isDocumentRefusal(error) || error instanceof StorageQuotaExceededError || error instanceof StorageFullError;
    if (isRefusal) this.refused.add(1, { why: error.name });
  }
}

/** Checks a source on its way to the object store. If a check throws, the store keeps no object. */
class DocumentBytesChecker {
  private contentType: DocumentContentType | undefined;

  constructor(
    private readonly source: AsyncIterable<Uint8Array>,
    private readonly limitBytes: number,
    private readonly judgement: FileTypeDetector,
  ) {}

  async *streamBytesCheckingSizeAndType(): AsyncGenerator<Uint8Array> {
    let size = 0;
    for await (const bytes of this.source) {
      size += bytes.length;
      if (size > this.limitBytes) throw new DocumentTooLargeError(this.limitBytes);
      await this.judgement.checkContentBytes(bytes);
      yield bytes;
    }
    if (size === 0) throw new EmptyDocumentError();
    this.contentType = await this.judgement.determineFileType();
  }

  getContentType(): DocumentContentType {
    if (this.contentType === undefined) throw new Error('The object store did not read the file to its end.');
    return this.contentType;
  }
}

const SHIPMENT_ID_PREFIX = 'shp_';
/** Alphabet of base 32 (RFC 4648), in lower case. */
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const RANDOM_CHARACTER_COUNT = 26;
const DOCUMENT_OBJECT_ID_PATTERN = /^([a-z2-7]{26})-[a-z2-7]{26}$/;

/**
 * Returns a new object id: the token of its shipment, so that the shipment can be asked whether the object is needed,
 * and 130 random bits.
 */
function createDocumentObjectId(shipmentId: string, random: (bytes: number) => Uint8Array): string {
  const characters = Array.from(random(RANDOM_CHARACTER_COUNT), (byte) => BASE32.charAt(byte & 31));
  return `${shipmentId.slice(SHIPMENT_ID_PREFIX.length)}-${characters.join('')}`;
}

/**
 * Returns the id of the shipment that an object belongs to; undefined if the id is not an id of a document's object.
 */
export function parseShipmentIdFromStoredFileId(objectId: string): string | undefined {
  const token = DOCUMENT_OBJECT_ID_PATTERN.exec(objectId)?.[1];
  return token === undefined ? undefined : SHIPMENT_ID_PREFIX + token;
}
