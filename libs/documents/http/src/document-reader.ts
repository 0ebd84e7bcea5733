import { Inject, Injectable } from '@nestjs/common';
import { type DocumentRecord, type ShipmentDocument, documentResource } from '@tracking/contracts';
import { notFound, ReadYourWrites, scopeOf, SETTINGS } from '@tracking/http';
import { READ_MODELS, SHIPMENTS } from '@tracking/shipments-http';
import type { PageContent, WrittenResource } from '@tracking/http';
import type { DocumentAnswer, FoundDocument, Written } from '@tracking/shipments';
import type { FastifyRequest } from 'fastify';
import type { SortValues } from '@tracking/read-models';
import type { DocumentsHttpDependencies } from './dependencies.ts';

/** Documents, never older than what the request expects. */
@Injectable()
export class DocumentReader {
  constructor(
    @Inject(SHIPMENTS) private readonly shipments: DocumentsHttpDependencies['shipments'],
    @Inject(READ_MODELS) private readonly readModels: DocumentsHttpDependencies['readModels'],
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites,
    @Inject(SETTINGS) private readonly settings: DocumentsHttpDependencies['settings'],
  ) {}

  /**
   * From its stream, which is as new as any token, with the version that its shipment has now: writes insist on it.
   * @throws RequestError `not_found`, also for ids of another workspace or environment and for what is no id at all
   */
  async current(request: FastifyRequest, document_id: string): Promise<FoundDocument> {
    this.readYourWrites.expected(request);
    const found = await this.shipments.getDocument({ ...scopeOf(request), document_id });
    if (found === undefined) throw notFound('document');
    return found;
  }

  /** From the read model; from the stream where that does not have it yet. @throws RequestError `not_found` */
  async get(request: FastifyRequest, documentId: string): Promise<Pick<FoundDocument, 'document' | 'object_id'>> {
    const expected = this.readYourWrites.expected(request);
    const isShown = await this.readYourWrites.shown('documents', expected);
    const row = isShown ? await this.readModels.queries.documents.get(scopeOf(request), documentId) : undefined;
    return row ?? this.current(request, documentId);
  }

  /** @throws RequestError `read_model_behind` */
  async list(
    request: FastifyRequest,
    shipmentId: string,
    page: { readonly limit: number; readonly after?: SortValues | undefined },
  ): Promise<PageContent<ShipmentDocument>> {
    await this.readYourWrites.waitFor('documents', request);
    const { items, next } = await this.readModels.queries.documents.list(scopeOf(request), shipmentId, page);
    return { items: items.map((document) => this.resource(document)), next };
  }

  /** The response to a write of a document: its `ETag` is the shipment's. */
  written({ answer, position }: Written<DocumentAnswer>): WrittenResource<ShipmentDocument> {
    const { document, shipment_version: version, warnings } = answer;
    const about = { shipment_id: document.shipment_id, document_id: document.id };
    return { body: this.resource(document), position, version, warnings, about };
  }

  /** As it is answered. */
  resource(document: DocumentRecord): ShipmentDocument {
    return documentResource(document, this.settings);
  }
}
