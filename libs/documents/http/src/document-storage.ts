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

interface StorageParts {
  readonly objects: Pick<ObjectStore, 'put' | 'get' | 'delete'>;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** The bytes of documents, for requests: what is stored for one that comes to nothing is destroyed again. */
export class DocumentStorage {
  readonly get: ObjectStore['get'];

  private readonly bytes: DocumentBytes;

  constructor(private readonly parts: StorageParts) {
    this.bytes = new DocumentBytes(parts);
    this.get = parts.objects.get.bind(parts.objects);
  }

  /** @throws RequestError `body_too_large`, `empty_file`, `unsupported_document_type`; Unavailable; what the source throws */
  async store(bytes: BytesToStore): Promise<DocumentObject> {
    try {
      return await this.bytes.store(bytes);
    } catch (error) {
      throw asRequestError(error);
    }
  }

  /** Whether it is there; none of it is read. @throws Unavailable */
  async has(objectId: string): Promise<boolean> {
    return (await this.get(objectId)) !== undefined;
  }

  /** Where a command may have named the object before it failed, it is kept: whoever sweeps orphans asks. */
  async unlessRefused<T>(request: FastifyRequest, objectId: string, command: () => Promise<T>): Promise<T> {
    try {
      return await command();
    } catch (error) {
      if (isCertain(error)) await this.destroy(request, objectId);
      throw error;
    }
  }

  /** For operators: bytes that a document should have. */
  tellMissing(request: FastifyRequest, objectId: string | null): void {
    const fields = { ...requestFields(request), object_id: objectId };
    this.parts.logger.error(fields, 'the bytes of a document are not in the object store');
  }

  /** What is not destroyed now is swept later. */
  async destroy(request: FastifyRequest, objectId: string): Promise<void> {
    await this.parts.objects.delete(objectId).catch((error: unknown) => {
      const fields = { ...requestFields(request), object_id: objectId, error: String(error) };
      this.parts.logger.warn(fields, 'bytes of a document not destroyed yet');
    });
  }
}

/** The file of a form, once its bytes are stored and judged. */
export class ReceivedFile {
  constructor(
    readonly fileName: string,
    readonly object: DocumentObject,
  ) {}

  /** What two requests have in common that send the same file: not where its bytes are. */
  toJSON(): object {
    const { sha256, content_type } = this.object;
    return { file_name: this.fileName, sha256, content_type };
  }
}

/** Whether nothing was written for certain. */
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
