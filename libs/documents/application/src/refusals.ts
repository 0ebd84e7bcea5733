import type { DocumentContentType } from '@tracking/contracts';

/** The file is larger than allowed. No byte of the file is stored. */
export class DocumentTooLargeError extends Error {
  override readonly name = 'DocumentTooLarge';
  constructor(readonly limitBytes: number) {
    super(`The file is larger than ${limitBytes} bytes.`);
  }
}

/** The file is empty. */
export class EmptyDocumentError extends Error {
  override readonly name = 'EmptyDocument';
  constructor() {
    super('The file is empty.');
  }
}

/**
 * The type of the file, determined from its content, is not accepted. No byte of the file is stored. The message is for
 * the sender.
 */
export class UnsupportedDocumentTypeError extends Error {
  override readonly name = 'UnsupportedDocumentType';
  constructor(reason: string) {
    super(`The file is not accepted: ${reason}.`);
  }
}

/** The documents of the workspace would take more bytes than its storage quota. Nothing is stored. */
export class StorageQuotaExceededError extends Error {
  override readonly name = 'StorageQuotaExceeded';
  /** @param usedBytes bytes of documents and of uploads in progress, without the refused ones */
  constructor(
    readonly usedBytes: number,
    readonly limitBytes: number,
    readonly neededBytes: number,
  ) {
    super(
      `The workspace uses ${usedBytes} of ${limitBytes} bytes for documents, so it has no room for ${neededBytes} bytes. Delete documents first.`,
    );
  }
}

/** Refusals that depend on the sent bytes; any other error comes from the source or the engine. */
export type DocumentRefusal = DocumentTooLargeError | EmptyDocumentError | UnsupportedDocumentTypeError;

export function isDocumentRefusal(error: unknown): error is DocumentRefusal {
  return (
    error instanceof DocumentTooLargeError ||
    error instanceof EmptyDocumentError ||
    error instanceof UnsupportedDocumentTypeError
  );
}

export const DOCX_MEDIA_TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
export const XLSX_MEDIA_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
export const OUTLOOK_MESSAGE_MEDIA_TYPE = 'application/vnd.ms-outlook';
export type OfficeType = Extract<DocumentContentType, typeof DOCX_MEDIA_TYPE | typeof XLSX_MEDIA_TYPE>;
