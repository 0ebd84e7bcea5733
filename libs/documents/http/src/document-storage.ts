import { createHash } from 'node:crypto';
import { type DocumentRecord, DomainError } from '@tracking/contracts';
import {
  type BytesToStore,
  DocumentBytesStore,
  type StoredDocumentFile,
  DocumentTooLargeError,
  EmptyDocumentError,
  type StorageQuotaLimiter,
  StorageQuotaExceededError,
  type StorageReservation,
  type StorageUsage,
  UnsupportedDocumentTypeError,
} from '@tracking/documents';
import { RequestError, createRequestLogFields, formatSize } from '@tracking/http';
import {
  type Counter,
  isErrorWithoutEffect,
  type Logger,
  type Metrics,
  type ObjectStore,
  type Position,
  StorageFullError,
} from '@tracking/ports';
import type { FastifyRequest } from 'fastify';

interface DocumentStorageDependencies {
  readonly objects: Pick<ObjectStore, 'putObject' | 'getObject' | 'deleteObject'>;
  readonly quota: StorageQuotaLimiter;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Bytes that the request reserved, until the command that stores the document uses them. */
    storageReservation: StorageReservation | null;
  }
}

/** Precondition that no shipment meets, since versions start at 1. Only a command that was executed before succeeds. */
const ONLY_REPEATED_COMMAND_PRECONDITION = { expected_versions: [0] } as const;
/** Seconds after which a client may repeat an upload for which the disk had no room. */
const STORAGE_FULL_RETRY_S = '60';

/** A document with the id of its stored file. */
interface DocumentWithFileId {
  readonly document: DocumentRecord;
  readonly object_id: string;
}

/** Offsets of the first byte and of the byte after the last. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Property in which a stored file differs from its document. */
type Damage = 'size' | 'checksum';

/** Maximum number of damaged files that a process remembers. It forgets the oldest first. */
const MAX_REMEMBERED_DAMAGED_FILES = 10_000;

/** Stores and reads the bytes of documents. Destroys the bytes of a request that fails. */
export class DocumentStorage {
  private readonly bytes: DocumentBytesStore;
  private readonly damagedFiles: Counter;
  /** Ids of objects known to be damaged, in order of detection. */
  private readonly damaged = new Set<string>();

  constructor(private readonly parts: DocumentStorageDependencies) {
    this.bytes = new DocumentBytesStore(parts);
    this.damagedFiles = parts.metrics.createCounter(
      'documents_damaged_total',
      'Number of stored files found to differ from their documents, by difference.',
      ['why'],
    );
  }

  /**
   * Opens the file of a document; undefined if it does not exist. The returned bytes have exactly the recorded length,
   * or the iteration throws before its last bytes. Without a range, the same holds for the checksum. A file that is
   * known to be damaged is verified completely before it is opened.
   * @throws RequestError `document_damaged`, also from the iteration; UnavailableError
   */
  async openDocumentFile(
    request: FastifyRequest,
    stored: DocumentWithFileId,
    range?: ByteRange,
  ): Promise<AsyncIterable<Uint8Array> | undefined> {
    const { document, object_id } = stored;
    const content = await this.parts.objects.getObject(object_id, range);
    if (content === undefined) return undefined;
    if (content.sizeBytes !== document.size_bytes) throw this.createDamagedDocumentError(request, stored, 'size');
    if (this.damaged.has(object_id)) await this.recheckDamagedFile(request, stored);
    return this.readVerifiedBytes(request, stored, content.bytes, range);
  }

  /**
   * Reads the complete file, and forgets its damage if the file matches its document.
   * @throws RequestError `document_damaged`; UnavailableError
   */
  private async recheckDamagedFile(request: FastifyRequest, stored: DocumentWithFileId): Promise<void> {
    const whole = await this.parts.objects.getObject(stored.object_id);
    const bytes = this.readVerifiedBytes(request, stored, whole?.bytes ?? []);
    while ((await bytes.next()).done !== true) continue;
    this.damaged.delete(stored.object_id);
    this.parts.logger.info(createDocumentLogFields(request, stored), 'file of a document is no longer damaged');
  }

  /** Yields the bytes of the source, the last ones only after the length and the checksum are verified. */
  private async *readVerifiedBytes(
    request: FastifyRequest,
    stored: DocumentWithFileId,
    source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    range?: ByteRange,
  ): AsyncGenerator<Uint8Array> {
    const { size_bytes, checksum_sha256 } = stored.document;
    const { start, end } = range ?? { start: 0, end: size_bytes };
    const hash = end - start === size_bytes ? createHash('sha256') : undefined;
    let missing = end - start;
    let last: Uint8Array | undefined;
    for await (const bytes of source) {
      // Skip empty chunks: an empty last chunk would release the last bytes unverified.
      if (bytes.length === 0) continue;
      missing -= bytes.length;
      if (missing < 0) throw this.createDamagedDocumentError(request, stored, 'size');
      hash?.update(bytes);
      if (last !== undefined) yield last;
      last = bytes;
    }
    if (missing > 0) throw this.createDamagedDocumentError(request, stored, 'size');
    if (hash !== undefined && hash.digest('hex') !== checksum_sha256)
      throw this.createDamagedDocumentError(request, stored, 'checksum');
    if (last !== undefined) yield last;
  }

  /** Returns the error for a damaged file. Logs and counts the damage when it is first found. */
  private createDamagedDocumentError(request: FastifyRequest, stored: DocumentWithFileId, why: Damage): RequestError {
    if (!this.damaged.has(stored.object_id)) {
      const [oldest] = this.damaged;
      if (oldest !== undefined && this.damaged.size >= MAX_REMEMBERED_DAMAGED_FILES) this.damaged.delete(oldest);
      this.damaged.add(stored.object_id);
      this.damagedFiles.add(1, { why });
      this.parts.logger.error({ ...createDocumentLogFields(request, stored), why }, 'file of a document is damaged');
    }
    return new RequestError('document_damaged', 'The stored file of the document is damaged.');
  }

  /**
   * @throws RequestError `body_too_large`, `empty_file`, `unsupported_document_type`, `storage_full`; UnavailableError;
   *   the error of the source
   */
  async storeFile(request: FastifyRequest, bytes: BytesToStore): Promise<StoredDocumentFile> {
    try {
      return await this.bytes.storeAndCheckDocumentBytes(bytes);
    } catch (error) {
      if (error instanceof StorageFullError) {
        const fields = { ...createRequestLogFields(request), free_bytes: error.freeBytes };
        this.parts.logger.warn(fields, 'disk has no room for documents beyond DISK_RESERVE; upload refused');
      }
      throw convertToRequestError(error);
    }
  }

  /** @throws UnavailableError */
  readStorageUsage(workspaceId: string): Promise<StorageUsage> {
    return this.parts.quota.readStorageUsage(workspaceId);
  }

  /**
   * Reserves bytes of the workspace for a file that is about to be received.
   * @throws RequestError `storage_quota_exceeded`; UnavailableError
   */
  reserveStorageBytes(workspaceId: string, bytes: number, maxMs: number): Promise<StorageReservation> {
    return this.convertQuotaRefusal(this.parts.quota.reserveStorageBytes(workspaceId, bytes, maxMs));
  }

  /**
   * Reserves bytes for a further upload of a pending document.
   * @throws RequestError `storage_quota_exceeded`; UnavailableError
   */
  reserveBytesOfPendingUpload(
    workspaceId: string,
    documentId: string,
    bytes: number,
    maxMs: number,
  ): Promise<StorageReservation> {
    return this.convertQuotaRefusal(
      this.parts.quota.reserveBytesOfPendingUpload(workspaceId, documentId, bytes, maxMs),
    );
  }

  /**
   * Runs a command that creates a document of this size, if the workspace has room for it. Without room, a repeat of a
   * command that was executed before still gets its answer.
   * @param command runs the command with these fields
   * @throws RequestError `storage_quota_exceeded`; the error of the command
   */
  async runWithStorageReservation<Written extends { readonly position: Position }>(
    reservation: StorageReservation,
    bytes: number,
    command: (fields: Partial<typeof ONLY_REPEATED_COMMAND_PRECONDITION>) => Promise<Written>,
  ): Promise<Written> {
    try {
      await this.convertQuotaRefusal(reservation.changeReservedBytes(bytes));
    } catch (refusal) {
      if (!(refusal instanceof RequestError)) throw refusal;
      return command(ONLY_REPEATED_COMMAND_PRECONDITION).catch((error: unknown) => {
        const isNew = error instanceof DomainError && error.code === 'precondition_failed';
        throw isNew ? refusal : error;
      });
    }
    return reservation.runAndReleaseReservation(() => command({}), isErrorWithoutWrite);
  }

  private async convertQuotaRefusal<T>(reserving: Promise<T>): Promise<T> {
    try {
      return await reserving;
    } catch (error) {
      this.bytes.countRefusal(error);
      throw convertToRequestError(error);
    }
  }

  /** Returns true if the object exists, without reading it. @throws UnavailableError */
  async hasObject(objectId: string): Promise<boolean> {
    return (await this.parts.objects.getObject(objectId)) !== undefined;
  }

  /** Destroys the object if the command was refused. If the command may have run, the sweep of orphans decides later. */
  async runAndDestroyObjectIfRefused<T>(
    request: FastifyRequest,
    objectId: string,
    command: () => Promise<T>,
  ): Promise<T> {
    try {
      return await command();
    } catch (error) {
      if (isErrorWithoutWrite(error)) await this.deleteStoredObjectOrLog(request, objectId);
      throw error;
    }
  }

  /** Logs that the bytes of a document are missing. */
  logMissingDocumentBytes(request: FastifyRequest, objectId: string | null): void {
    const fields = { ...createRequestLogFields(request), object_id: objectId };
    this.parts.logger.error(fields, 'file of a document is missing in the object store');
  }

  /** Destroys an object. If that fails, the sweep of orphans deletes the object later. */
  async deleteStoredObjectOrLog(request: FastifyRequest, objectId: string): Promise<void> {
    await this.parts.objects.deleteObject(objectId).catch((error: unknown) => {
      const fields = { ...createRequestLogFields(request), object_id: objectId, error: String(error) };
      this.parts.logger.warn(fields, 'could not delete an uploaded file; a later sweep deletes the file');
    });
  }
}

function createDocumentLogFields(request: FastifyRequest, { document, object_id }: DocumentWithFileId): object {
  return { ...createRequestLogFields(request), document_id: document.id, object_id };
}

/** The file of a form after its bytes are stored and checked. */
export class ReceivedFile {
  constructor(
    readonly fileName: string,
    readonly object: StoredDocumentFile,
  ) {}

  /** The content of the file, for comparing requests. The id of its object differs with each upload. */
  toJSON(): object {
    const { sha256, content_type } = this.object;
    return { file_name: this.fileName, sha256, content_type };
  }
}

/** Returns true if the error proves that nothing was written. */
function isErrorWithoutWrite(error: unknown): boolean {
  return error instanceof DomainError || error instanceof RequestError || isErrorWithoutEffect(error);
}

function convertToRequestError(error: unknown): unknown {
  if (error instanceof DocumentTooLargeError) {
    return new RequestError('body_too_large', `The file is larger than ${formatSize(error.limitBytes)}.`);
  }
  if (error instanceof StorageQuotaExceededError) return new RequestError('storage_quota_exceeded', error.message);
  if (error instanceof StorageFullError) {
    const headers = { 'Retry-After': STORAGE_FULL_RETRY_S };
    return new RequestError('storage_full', 'The service has no disk space left for documents.', [], headers);
  }
  if (error instanceof EmptyDocumentError) return new RequestError('empty_file', error.message);
  if (error instanceof UnsupportedDocumentTypeError)
    return new RequestError('unsupported_document_type', error.message);
  return error;
}
