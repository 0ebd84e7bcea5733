import { Inject, Injectable, type PipeTransform } from '@nestjs/common';
import { type DocumentRecord, toDocumentResource, type ShipmentDocument } from '@tracking/contracts';
import {
  createNotFoundError,
  type ItemsAndNextPosition,
  ReadYourWrites,
  getRequestScope,
  SETTINGS_INJECTION_TOKEN,
  type WrittenResource,
} from '@tracking/http';
import type { ReadModelName, SortValues } from '@tracking/read-models';
import {
  type DocumentAnswer,
  type FoundDocument,
  parseShipmentIdOfPart,
  type AnswerWithPosition,
} from '@tracking/shipments';
import { READ_MODELS_INJECTION_TOKEN, SHIPMENTS_INJECTION_TOKEN } from '@tracking/shipments-http';
import type { FastifyRequest } from 'fastify';
import type { DocumentsHttpDependencies } from './dependencies.ts';

/** The document id from a path, and the id of its shipment, which is part of the document id. */
export interface ShipmentAndDocumentIds {
  readonly shipment_id: string;
  readonly document_id: string;
}

/** Reads the id of a document. @throws RequestError `not_found` if the text is not an id */
export const DOCUMENT_ID_PIPE: PipeTransform<string, ShipmentAndDocumentIds> = {
  transform(document_id) {
    const shipment_id = parseShipmentIdOfPart('document', document_id);
    if (shipment_id === undefined) throw createNotFoundError('document');
    return { shipment_id, document_id };
  },
};

/** Reads documents that are at least as recent as the request expects. */
@Injectable()
export class DocumentReader {
  constructor(
    @Inject(SHIPMENTS_INJECTION_TOKEN) private readonly shipments: DocumentsHttpDependencies['shipments'],
    @Inject(READ_MODELS_INJECTION_TOKEN) private readonly readModels: DocumentsHttpDependencies['readModels'],
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites<ReadModelName>,
    @Inject(SETTINGS_INJECTION_TOKEN) private readonly settings: DocumentsHttpDependencies['settings'],
  ) {}

  /**
   * Reads a document from its stream, which is always current, with the version of its shipment, which writes expect.
   * @throws RequestError `not_found`, also for ids of other workspaces and environments
   */
  async readDocumentFromStream(request: FastifyRequest, document_id: string): Promise<FoundDocument> {
    this.readYourWrites.checkConsistencyToken(request);
    const found = await this.shipments.getDocument({ ...getRequestScope(request), document_id });
    if (found === undefined) throw createNotFoundError('document');
    return found;
  }

  /**
   * Reads a document from the read model, or from the stream if the read model is behind.
   * @throws RequestError `not_found`
   */
  async readShipmentDocumentOrThrow(
    request: FastifyRequest,
    documentId: string,
  ): Promise<Pick<FoundDocument, 'document' | 'object_id'>> {
    const expected = this.readYourWrites.readRequiredReadPosition(request);
    const isShown = await this.readYourWrites.waitUntilReadModelReachesPosition('documents', expected);
    const row = isShown
      ? await this.readModels.queries.documents.getDocument(getRequestScope(request), documentId)
      : undefined;
    return row ?? this.readDocumentFromStream(request, documentId);
  }

  /** @throws RequestError `read_model_behind` */
  async listDocuments(
    request: FastifyRequest,
    shipmentId: string,
    page: { readonly limit: number; readonly after?: SortValues | undefined },
  ): Promise<ItemsAndNextPosition<ShipmentDocument>> {
    await this.readYourWrites.waitForReadModelOfList('documents', request);
    const { items, next } = await this.readModels.queries.documents.listDocuments(
      getRequestScope(request),
      shipmentId,
      page,
    );
    return { items: items.map((document) => this.convertToDocumentResource(document)), next };
  }

  /** The response to a write of a document: its `ETag` is the shipment's. */
  toWrittenResource({ answer, position }: AnswerWithPosition<DocumentAnswer>): WrittenResource<ShipmentDocument> {
    const { document, shipment_version: version, warnings } = answer;
    const about = { shipment_id: document.shipment_id, document_id: document.id };
    return { body: this.convertToDocumentResource(document), position, version, warnings, about };
  }

  /** Returns a document in the form of the API. */
  convertToDocumentResource(document: DocumentRecord): ShipmentDocument {
    return toDocumentResource(document, this.settings);
  }
}
