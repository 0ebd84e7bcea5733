import { Inject, Injectable, type PipeTransform } from '@nestjs/common';
import { type DocumentRecord, documentResource, type ShipmentDocument } from '@tracking/contracts';
import { notFound, type PageContent, ReadYourWrites, scopeOf, SETTINGS, type WrittenResource } from '@tracking/http';
import type { SortValues } from '@tracking/read-models';
import { type DocumentAnswer, type FoundDocument, shipmentIdOfPart, type Written } from '@tracking/shipments';
import { READ_MODELS, SHIPMENTS } from '@tracking/shipments-http';
import type { FastifyRequest } from 'fastify';
import type { DocumentsHttpDependencies } from './dependencies.ts';

/** Which document a path names, and of which shipment that is. */
export interface DocumentIds {
  readonly shipment_id: string;
  readonly document_id: string;
}

/** @throws RequestError `not_found` for what is no id of a document at all */
export const DOCUMENT_IDS: PipeTransform<string, DocumentIds> = {
  transform(document_id) {
    const shipment_id = shipmentIdOfPart('document', document_id);
    if (shipment_id === undefined) throw notFound('document');
    return { shipment_id, document_id };
  },
};

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
