import { Inject, Injectable } from '@nestjs/common';
import { type ShipmentDocument, type Warning, documentResource } from '@tracking/contracts';
import { etagOf, ReadYourWrites, SETTINGS } from '@tracking/http';
import type { DocumentAnswer, Written } from '@tracking/shipments';
import type { FastifyReply } from 'fastify';
import type { DocumentsHttpDependencies } from './dependencies.ts';

export type DocumentWithWarnings = ShipmentDocument & { readonly warnings: readonly Warning[] };

/** Answers writes of a document: with a token, the ETag of its shipment, and warnings. */
@Injectable()
export class DocumentWrites {
  constructor(
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites,
    @Inject(SETTINGS) private readonly settings: DocumentsHttpDependencies['settings'],
  ) {}

  /** @param ignored warnings of the request's body */
  async answer(
    reply: FastifyReply,
    { answer, position }: Written<DocumentAnswer>,
    ignored: readonly Warning[],
  ): Promise<DocumentWithWarnings> {
    const { document, shipment_version, warnings } = answer;
    reply.request.about = { shipment_id: document.shipment_id, document_id: document.id };
    await this.readYourWrites.wrote(reply, position);
    reply.header('ETag', etagOf(shipment_version));
    return { ...documentResource(document, this.settings), warnings: [...ignored, ...warnings] };
  }

  /** The same of one that was made. */
  made(
    reply: FastifyReply,
    written: Written<DocumentAnswer>,
    ignored: readonly Warning[],
  ): Promise<DocumentWithWarnings> {
    const { document } = written.answer;
    reply.code(201).header('Location', `${this.settings.baseUrl}/v1/documents/${document.id}`);
    return this.answer(reply, written, ignored);
  }
}
