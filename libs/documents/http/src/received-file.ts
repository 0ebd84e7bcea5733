import type { DocumentObject } from '@tracking/documents';

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
