import { DOCUMENT_LIMITS } from '@tracking/contracts';
import {
  FORM_BODY_KIND,
  type FormFile,
  invalidRequest,
  MIB,
  notFound,
  readForm,
  type RouteBody,
  scopeOf,
} from '@tracking/http';
import { parseShipmentId } from '@tracking/shipments';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { DocumentsHttpDependencies } from './dependencies.ts';
import { type DocumentStorage, ReceivedFile } from './document-storage.ts';
import { fileName, normaliseFileName } from './document.resource.ts';

const TIME = { idleMs: 30_000, overallMs: 10 * 60_000 };
const FILE = 'file';

/** Body kind of a form with a document. The limit is the limit of the file, plus room for the other fields. */
export const DOCUMENT_FORM: RouteBody = {
  kind: FORM_BODY_KIND,
  limit: DOCUMENT_LIMITS.multipartBytes + MIB,
  time: TIME,
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
export function receiveForms(
  fastify: FastifyInstance,
  shipments: Pick<DocumentsHttpDependencies['shipments'], 'getShipment'>,
  storage: DocumentStorage,
): void {
  fastify.decorateRequest('unnamedObject', null);
  fastify.addHook('preValidation', (request, _reply, done) => {
    if (request.routeOptions.config.body?.kind !== FORM_BODY_KIND) done();
    else receive(request, shipments, storage).then(() => done(), done);
  });
  fastify.addHook('onSend', (request, _reply, payload, done) => {
    const object = request.unnamedObject;
    request.unnamedObject = null;
    if (object === null) done(null, payload);
    else void storage.destroy(request, object).then(() => done(null, payload));
  });
}

async function receive(
  request: FastifyRequest,
  shipments: Pick<DocumentsHttpDependencies['shipments'], 'getShipment'>,
  storage: DocumentStorage,
): Promise<void> {
  const shipmentId = parseShipmentId((request.params as { readonly id: string }).id);
  const found = shipmentId && (await shipments.getShipment({ ...scopeOf(request), shipment_id: shipmentId }));
  if (!found) throw notFound('shipment');
  const take = (file: FormFile) => store(request, found.record.id, file, storage);
  request.body = await readForm(request, { fileField: FILE, time: TIME, take });
}

async function store(
  request: FastifyRequest,
  shipmentId: string,
  { bytes, name, mediaType }: FormFile,
  storage: DocumentStorage,
): Promise<ReceivedFile> {
  const kept = normaliseFileName(name);
  const faults = fileName(kept, FILE);
  if (faults.length > 0) throw invalidRequest(faults);
  const hint = { contentType: mediaType, fileName: String(kept) };
  const object = await storage.store({ shipmentId, source: bytes, limitBytes: DOCUMENT_LIMITS.multipartBytes, hint });
  request.unnamedObject = object.id;
  return new ReceivedFile(String(kept), object);
}
