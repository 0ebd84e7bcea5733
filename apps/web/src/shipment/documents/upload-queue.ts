import type { DocumentContentType, DocumentType } from '@tracking/client';

/** A file that the user chose for upload. */
interface FileChosenForUpload {
  readonly file: File;
  readonly type: DocumentType;
  /** Id of the document that the file replaces. */
  readonly replaces?: string | undefined;
  /** Reason why this file cannot be uploaded. */
  readonly error?: string | undefined;
}

/** A file in the upload queue. The file leaves the queue when it is uploaded. */
export interface QueuedUpload extends FileChosenForUpload {
  readonly key: number;
  readonly state: 'chosen' | 'sending' | 'failed';
  /** Number of bytes of the file sent so far. */
  readonly loaded: number;
}

export interface FileUploadOptions {
  readonly onProgress: (loaded: number) => void;
  readonly signal: AbortSignal;
}

interface UploadQueueOptions {
  readonly transfer: (upload: QueuedUpload, options: FileUploadOptions) => Promise<void>;
  readonly describe: (error: unknown) => string;
}

/**
 * Queue of files that are uploaded as documents of a shipment, one file at a time. A file gets the document type that
 * is set when its upload starts.
 */
export class UploadQueue {
  private uploads: readonly QueuedUpload[] = [];
  private lastKey = 0;
  private readonly listeners = new Set<() => void>();
  /** Aborts the uploads that the last call of `uploadFiles` has started. */
  private run: AbortController | undefined;
  private transferring: { readonly key: number; readonly abort: AbortController } | undefined;

  constructor(private readonly parts: UploadQueueOptions) {}

  readonly state = (): readonly QueuedUpload[] => this.uploads;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  addFilesToUploadQueue(files: readonly FileChosenForUpload[]): void {
    const chosen = files.map((file): QueuedUpload => {
      this.lastKey += 1;
      return { ...file, key: this.lastKey, state: file.error === undefined ? 'chosen' : 'failed', loaded: 0 };
    });
    this.setUploadsAndNotifyListeners([...this.uploads, ...chosen]);
  }

  setUploadDocumentType(key: number, type: DocumentType): void {
    this.updateUpload(key, { type });
  }

  /**
   * Uploads the files with the given keys, in this order. A file that was removed from the queue is skipped. The
   * promise never rejects.
   */
  async uploadFiles(keys: readonly number[]): Promise<void> {
    const run = (this.run = new AbortController());
    for (const key of keys) {
      if (run.signal.aborted) return;
      const upload = this.uploads.find((one) => one.key === key);
      if (upload !== undefined) await this.uploadFile(upload);
    }
  }

  /** Removes a file from the queue. If the file is being uploaded, its upload stops. */
  removeUpload(key: number): void {
    if (this.transferring?.key === key) this.transferring.abort.abort();
    this.removeUploadFromQueue(key);
  }

  /** Stops all uploads. The current file and the waiting files stay in the queue. */
  stopUploads(): void {
    this.run?.abort();
    this.transferring?.abort.abort();
  }

  private async uploadFile(upload: QueuedUpload): Promise<void> {
    const { key } = upload;
    const abort = new AbortController();
    this.transferring = { key, abort };
    this.updateUpload(key, { state: 'sending', loaded: 0, error: undefined });
    try {
      const onProgress = (loaded: number) => this.updateUpload(key, { loaded });
      await this.parts.transfer(upload, { onProgress, signal: abort.signal });
      this.removeUploadFromQueue(key);
    } catch (error) {
      if (abort.signal.aborted) this.updateUpload(key, { state: 'chosen', loaded: 0 });
      else this.updateUpload(key, { state: 'failed', error: this.parts.describe(error) });
    } finally {
      this.transferring = undefined;
    }
  }

  private removeUploadFromQueue(key: number): void {
    this.setUploadsAndNotifyListeners(this.uploads.filter((upload) => upload.key !== key));
  }

  private updateUpload(key: number, changes: Partial<QueuedUpload>): void {
    this.setUploadsAndNotifyListeners(
      this.uploads.map((upload) => (upload.key === key ? { ...upload, ...changes } : upload)),
    );
  }

  private setUploadsAndNotifyListeners(uploads: readonly QueuedUpload[]): void {
    this.uploads = uploads;
    for (const listener of this.listeners) listener();
  }
}

/** Content types by file extension. The content type that browsers report differs between operating systems. */
const CONTENT_TYPES_BY_EXTENSION: Readonly<Record<string, DocumentContentType>> = {
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  tif: 'image/tiff',
  tiff: 'image/tiff',
  heic: 'image/heic',
  heif: 'image/heic',
  webp: 'image/webp',
  csv: 'text/csv',
  txt: 'text/plain',
  xml: 'application/xml',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  eml: 'message/rfc822',
  msg: 'application/vnd.ms-outlook',
};
const ACCEPTED_EXTENSIONS = Object.keys(CONTENT_TYPES_BY_EXTENSION).map((ending) => `.${ending}`);

export const MAX_UPLOAD_BYTES = 250 * 2 ** 20;

export function getContentTypeOfFileName(name: string): DocumentContentType | undefined {
  return CONTENT_TYPES_BY_EXTENSION[/\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''];
}

/** Returns the reason why the API would reject the file, or undefined if there is none. */
export function findFileError({ name, size }: Pick<File, 'name' | 'size'>): string | undefined {
  if (getContentTypeOfFileName(name) === undefined)
    return `File type not supported. Use one of: ${ACCEPTED_EXTENSIONS.join(', ')}.`;
  if (size === 0) return 'The file is empty.';
  if (size > MAX_UPLOAD_BYTES) return 'The file is larger than 250 MiB.';
  return undefined;
}

/**
 * Patterns of file names with the document type that each one indicates. The first match wins, so the most specific
 * patterns come first.
 */
const DOCUMENT_TYPE_PATTERNS: readonly (readonly [RegExp, DocumentType])[] = [
  [/house.?(bill|b.?l)|\bhbl\b/, 'house_bill'],
  [/sea.?way.?bill|\bswb\b/, 'sea_waybill'],
  [/air.?way.?bill|\bm?awb\b/, 'air_waybill'],
  [/bill.?of.?lading|\b(m?bl|bol|b_l)\b|konnossement/, 'bill_of_lading'],
  [/freight.?invoice/, 'freight_invoice'],
  [/invoice|\b(inv|ci)\b|factuur|rechnung/, 'commercial_invoice'],
  [/packing.?list|\bpl\b/, 'packing_list'],
  [/certificate.?of.?origin|\bcoo?\b|\beur.?1\b/, 'certificate_of_origin'],
  [/booking.?confirmation|booking/, 'booking_confirmation'],
  [/shipping.?instruction|\bsi\b/, 'shipping_instructions'],
  [/arrival.?notice/, 'arrival_notice'],
  [/delivery.?order/, 'delivery_order'],
  [/proof.?of.?delivery|\bpod\b|\bcmr\b/, 'proof_of_delivery'],
  [/customs|\bmrn\b|declaration.?of.?import/, 'customs_entry'],
  [/\bvgm\b|verified.?gross/, 'verified_gross_mass'],
  [/dangerous|\bdgd?\b|\bimo\b|\bmsds\b/, 'dangerous_goods_declaration'],
  [/phyto/, 'phytosanitary_certificate'],
  [/inspection/, 'inspection_certificate'],
  [/insurance/, 'insurance_certificate'],
];

/** Guesses the document type from the file name. The user can change the type until the upload starts. */
export function guessDocumentType(name: string): DocumentType {
  const plain = name.toLowerCase().replaceAll(/[_\s]+/g, ' ');
  const [, type] = DOCUMENT_TYPE_PATTERNS.find(([hint]) => hint.test(plain)) ?? [];
  if (type !== undefined) return type;
  return getContentTypeOfFileName(name)?.startsWith('image/') ? 'photo' : 'other';
}
