import { DOCUMENT_LIMITS } from '@tracking/contracts';
import {
  FORM_BODY_KIND,
  type FormFile,
  createInvalidRequestError,
  BYTES_PER_MIB,
  createNotFoundError,
  readForm,
  type AcceptedRouteBody,
  getRequestScope,
} from '@tracking/http';
import { parseShipmentId } from '@tracking/shipments';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { DocumentsHttpDependencies } from './dependencies.ts';
import { type DocumentStorage, ReceivedFile } from './document-storage.ts';
import { checkFileName, stripPathAndNormaliseFileName } from './document.resource.ts';

const FORM_BODY_TIMEOUTS = { idleMs: 30_000, overallMs: 10 * 60_000 };
const FILE_FIELD_NAME = 'file';

/** Milliseconds that a reservation outlasts the longest upload. The command that stores the document runs meanwhile. */
export const RESERVATION_TIME_AFTER_UPLOAD_MS = 60_000;

/** Body kind of a form with a document. The limit is the limit of the file, plus room for the other fields. */
export const DOCUMENT_FORM_BODY_LIMITS: AcceptedRouteBody = {
  kind: FORM_BODY_KIND,
  limit: DOCUMENT_LIMITS.multipartBytes + BYTES_PER_MIB,
  time: FORM_BODY_TIMEOUTS,
};

declare module 'fastify' {
  interface FastifyRequest {
    /** Id of the stored object, until a command refers to it. */
    unnamedObject: string | null;
  }
}

/**
 * Reads forms before anything depends on them, such as an `Idempotency-Key`, which compares requests. Stores the file
 * and puts a {@link ReceivedFile} in its place. If no command uses the file, its object is deleted before the response.
 */
export function registerDocumentFormReader(
  fastify: FastifyInstance,
  shipments: Pick<DocumentsHttpDependencies['shipments'], 'getShipment'>,
  storage: DocumentStorage,
): void {
  fastify.decorateRequest('unnamedObject', null);
  fastify.decorateRequest('storageReservation', null);
  fastify.addHook('preValidation', (request, _reply, done) => {
    if (request.routeOptions.config.body?.kind !== FORM_BODY_KIND) done();
    else receiveDocumentForm(request, shipments, storage).then(() => done(), done);
  });
  fastify.addHook('onSend', (request, _reply, payload, done) => {
    const { unnamedObject: object, storageReservation: reservation } = request;
    request.unnamedObject = null;
    request.storageReservation = null;
    if (object === null && reservation === null) done(null, payload);
    else {
      const destroyed = object === null ? undefined : storage.deleteStoredObjectOrLog(request, object);
      void Promise.all([destroyed, reservation?.deleteStorageReservation()]).then(() => done(null, payload));
    }
  });
}

async function receiveDocumentForm(
  request: FastifyRequest,
  shipments: Pick<DocumentsHttpDependencies['shipments'], 'getShipment'>,
  storage: DocumentStorage,
): Promise<void> {
  const shipmentId = parseShipmentId((request.params as { readonly id: string }).id);
  const scope = getRequestScope(request);
  const found = shipmentId && (await shipments.getShipment({ ...scope, shipment_id: shipmentId }));
  if (!found) throw createNotFoundError('shipment');
  const maxMs = FORM_BODY_TIMEOUTS.overallMs + RESERVATION_TIME_AFTER_UPLOAD_MS;
  request.storageReservation = await storage.reserveStorageBytes(
    scope.workspace_id,
    computeMinFileBytesOfForm(request),
    maxMs,
  );
  const take = (file: FormFile) => storeFile(request, found.record.id, file, storage);
  request.body = await readForm(request, { fileField: FILE_FIELD_NAME, time: FORM_BODY_TIMEOUTS, take });
}

async function storeFile(
  request: FastifyRequest,
  shipmentId: string,
  { bytes, name, mediaType }: FormFile,
  storage: DocumentStorage,
): Promise<ReceivedFile> {
  const kept = stripPathAndNormaliseFileName(name);
  const faults = checkFileName(kept, FILE_FIELD_NAME);
  if (faults.length > 0) throw createInvalidRequestError(faults);
  const hint = { contentType: mediaType ?? null, fileName: String(kept) };
  const object = await storage.storeFile(request, {
    shipmentId,
    source: bytes,
    limitBytes: DOCUMENT_LIMITS.multipartBytes,
    hint,
  });
  request.unnamedObject = object.id;
  return new ReceivedFile(String(kept), object);
}

/**
 * Returns the bytes that the file of a form has at least, so that a form without room is refused before it is received.
 * Returns 0 for a request without `Content-Length`, and for a request with an `Idempotency-Key`: only its complete body
 * shows whether it repeats an earlier one.
 */
function computeMinFileBytesOfForm({ headers }: FastifyRequest): number {
  const { 'content-length': length, 'idempotency-key': key } = headers;
  return length === undefined || key !== undefined ? 0 : Math.max(0, Number(length) - BYTES_PER_MIB);
}
