import {
  type Actor,
  DOCUMENT_LIMITS,
  type DocumentRecord,
  type WorkspaceScope,
  type Timestamp,
} from '@tracking/contracts';
import { type OperationId, RequestError, type TokenSigner, requireRequestQuota } from '@tracking/http';
import type { Clock, RequestQuota } from '@tracking/ports';
import type { FastifyInstance } from 'fastify';

const UPLOAD_OPERATION_ID: OperationId = 'putDocumentContent';

/** The permission that an upload URL gives its holder: to upload the file of one document. */
export interface UploadGrant extends WorkspaceScope {
  /** The actor that requested it. */
  readonly actor: Actor;
  /** Size limit of the file in bytes. */
  readonly size_bytes: number;
  readonly expires_at: Timestamp;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Grant from the token of the upload URL; null on routes without such a token. */
    upload: UploadGrant | null;
  }
}

/** Upload request for the file of a document. */
export interface SignedUploadUrl {
  readonly method: 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly expires_at: Timestamp;
}

/** Creates upload URLs that need no key. An unforgeable token binds each URL to one document. */
export class UploadUrlIssuer {
  constructor(
    private readonly sealer: TokenSigner,
    private readonly clock: Clock,
    private readonly baseUrl: string,
  ) {}

  createUploadUrl(document: DocumentRecord, { workspace_id, environment }: WorkspaceScope): SignedUploadUrl {
    const { id, size_bytes, content_type, uploaded_by: actor } = document;
    const expires_at = new Date(this.clock().getTime() + DOCUMENT_LIMITS.uploadUrlMs).toISOString();
    const grant: UploadGrant = { workspace_id, environment, actor, size_bytes, expires_at };
    const token = this.sealer.sealTextWithMac(JSON.stringify(grant), createUploadSealBinding(id));
    const url = `${this.baseUrl}/v1/documents/${id}/content?token=${token}`;
    return { method: 'PUT', url, headers: { 'Content-Type': content_type }, expires_at };
  }

  /** Adds the check of the upload token, which runs before all other checks of a request. */
  addUploadTokenCheck(fastify: FastifyInstance): void {
    fastify.decorateRequest('upload', null);
    fastify.addHook('onRequest', (request, _reply, done) => {
      if (request.routeOptions.config.operation === UPLOAD_OPERATION_ID) {
        const { id } = request.params as { readonly id: string };
        request.upload = this.readUploadGrant(id, (request.query as Readonly<Record<string, unknown>>)['token']);
      }
      done();
    });
  }

  /** @throws RequestError `invalid_upload_url`, without details of the token */
  private readUploadGrant(documentId: string, token: unknown): UploadGrant {
    const text =
      typeof token === 'string'
        ? this.sealer.readTextOfVerifiedToken(token, createUploadSealBinding(documentId))
        : undefined;
    if (text === undefined) throw new RequestError('invalid_upload_url', 'The URL was not issued for this document.');
    const grant = JSON.parse(text) as UploadGrant;
    if (Date.parse(grant.expires_at) > this.clock().getTime()) return grant;
    throw new RequestError('invalid_upload_url', `The URL expired at ${grant.expires_at}. Request a new one.`);
  }
}

function createUploadSealBinding(documentId: string) {
  return { purpose: 'upload-url', binding: documentId } as const;
}

/** Maximum uploads per minute of one document. Clients with a bad connection restart an upload a few times. */
const MAX_UPLOADS_PER_DOCUMENT_PER_MINUTE = 20;

/**
 * Limits uploads of a document. Its URL needs no key, so no quota of a key counts them, and each upload writes an
 * object and an event of the shipment.
 */
export class UploadRateLimiterPerDocument {
  constructor(private readonly quota: RequestQuota) {}

  /** @throws RequestError `rate_limited` */
  async requireUploadsPerMinuteWithinLimit(documentId: string): Promise<void> {
    const refusal = `The limit of ${MAX_UPLOADS_PER_DOCUMENT_PER_MINUTE} uploads per minute and document is exceeded.`;
    await requireRequestQuota(this.quota, `upload:${documentId}`, MAX_UPLOADS_PER_DOCUMENT_PER_MINUTE, refusal);
  }
}
