import { withinQuota } from '@tracking/http';
import type { Quota } from '@tracking/ports';

/** Uploads per minute of one document: whoever sends over a poor line begins anew a few times. */
const PER_DOCUMENT = 20;

/**
 * Bounds how often bytes are sent for a document. A URL needs no key, so no key's quota counts them, and each upload writes
 * an object and an event of its shipment.
 */
export class UploadThrottle {
  constructor(private readonly quota: Quota) {}

  /** @throws RequestError `rate_limited` */
  async upload(documentId: string): Promise<void> {
    const refusal = `More than ${PER_DOCUMENT} uploads of a document within a minute.`;
    await withinQuota(this.quota, `upload:${documentId}`, PER_DOCUMENT, refusal);
  }
}
