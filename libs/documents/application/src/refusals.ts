import type { DocumentContentType } from '@tracking/contracts';

/** More bytes than are allowed. Nothing of them is kept. */
export class DocumentTooLarge extends Error {
  override readonly name = 'DocumentTooLarge';
  constructor(readonly limitBytes: number) {
    super(`The file is larger than ${limitBytes} bytes.`);
  }
}

/** No bytes at all. */
export class EmptyDocument extends Error {
  override readonly name = 'EmptyDocument';
  constructor() {
    super('The file is empty.');
  }
}

/** By its content it is nothing that is taken. Nothing of it is kept. The message is for whoever sent it. */
export class UnsupportedDocumentType extends Error {
  override readonly name = 'UnsupportedDocumentType';
  constructor(why: string) {
    super(`The file is not accepted: ${why}.`);
  }
}

/** All that storing refuses by what is sent; whatever else it throws is the source's or the engine's. */
export type DocumentRefusal = DocumentTooLarge | EmptyDocument | UnsupportedDocumentType;

export function isDocumentRefusal(error: unknown): error is DocumentRefusal {
  return (
    error instanceof DocumentTooLarge || error instanceof EmptyDocument || error instanceof UnsupportedDocumentType
  );
}

export const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
export const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
export type OfficeType = Extract<DocumentContentType, typeof DOCX | typeof XLSX>;
