import { DomainError } from '@tracking/contracts';
import {
  type BytesToStore,
  DocumentBytes,
  type DocumentObject,
  DocumentTooLarge,
  EmptyDocument,
  UnsupportedDocumentType,
} from '@tracking/documents';
import { RequestError, requestFields, sizeOf } from '@tracking/http';
import { isKnownUndone, type Logger, type Metrics, type ObjectStore } from '@tracking/ports';
import type { FastifyRequest } from 'fastify';

interface StorageDependencies {
  readonly objects: Pick<ObjectStore, 'put' | 'get' | 'delete'>;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Stores the bytes of documents. The bytes of a request that fails are destroyed again. */
export class DocumentStorage {
  readonly get: ObjectStore['get'];

  private readonly bytes: DocumentBytes;

  constructor(private readonly parts: StorageDependencies) {
    this.bytes = new DocumentBytes(parts);
    this.get = parts.objects.get.bind(parts.objects);
  }

  /** @throws RequestError `body_too_large`, `empty_file`, `unsupported_document_type`; Unavailable; the error of the source */
  async store(bytes: BytesToStore): Promise<DocumentObject> {
    try {
      return await this.bytes.store(bytes);
    } catch (error) {
      throw asRequestError(error);
    }
  }

  /** Returns true if the object exists, without reading it. @throws Unavailable */
  async has(objectId: string): Promise<boolean> {
    return (await this.get(objectId)) !== undefined;
  }

  /** Destroys the object if the command was refused. If the command may have run, the sweep of orphans decides later. */
  async destroyIfRefused<T>(request: FastifyRequest, objectId: string, command: () => Promise<T>): Promise<T> {
    try {
      return await command();
    } catch (error) {
      if (isCertain(error)) await this.destroy(request, objectId);
      throw error;
    }
  }

  /** Logs that the bytes of a document are missing. */
  reportMissing(request: FastifyRequest, objectId: string | null): void {
    const fields = { ...requestFields(request), object_id: objectId };
    this.parts.logger.error(fields, 'file of a document is missing in the object store');
  }

  /** Destroys an object. If that fails, it is swept later. */
  async destroy(request: FastifyRequest, objectId: string): Promise<void> {
    await this.parts.objects.delete(objectId).catch((error: unknown) => {
      const fields = { ...requestFields(request), object_id: objectId, error: String(error) };
      this.parts.logger.warn(fields, 'deletion of an uploaded file failed; it is deleted later');
    });
  }
}

/** The file of a form after its bytes are stored and checked. */
export class ReceivedFile {
  constructor(
    readonly fileName: string,
    readonly object: DocumentObject,
  ) {}

  /** The content of the file, for comparing requests. The id of its object differs with each upload. */
  toJSON(): object {
    const { sha256, content_type } = this.object;
    return { file_name: this.fileName, sha256, content_type };
  }
}

/** Returns true if the error proves that nothing was written. */
function isCertain(error: unknown): boolean {
  return error instanceof DomainError || error instanceof RequestError || isKnownUndone(error);
}

function asRequestError(error: unknown): unknown {
  if (error instanceof DocumentTooLarge) {
    return new RequestError('body_too_large', `The file is larger than ${sizeOf(error.limitBytes)}.`);
  }
  if (error instanceof EmptyDocument) return new RequestError('empty_file', error.message);
  if (error instanceof UnsupportedDocumentType) return new RequestError('unsupported_document_type', error.message);
  return error;
}
