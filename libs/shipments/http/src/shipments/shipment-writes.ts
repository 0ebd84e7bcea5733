import { Inject, Injectable } from '@nestjs/common';
import type { Shipment, ShipmentRecord, Warning } from '@tracking/contracts';
import { etagOf, ReadYourWrites, SETTINGS } from '@tracking/http';
import type { Written } from '@tracking/shipments';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { PossibleDuplicates } from './possible-duplicates.ts';
import { ShipmentReader } from './shipment-reader.ts';

type ChangedShipment = Written<{
  readonly outcome: string;
  readonly shipment: ShipmentRecord;
  readonly warnings: readonly Warning[];
}>;
export type ShipmentWithWarnings = Shipment & { readonly warnings: readonly Warning[] };

/** Answers writes of a shipment: with a token, an ETag, and warnings. */
@Injectable()
export class ShipmentWrites {
  constructor(
    @Inject(ShipmentReader) private readonly reader: ShipmentReader,
    @Inject(PossibleDuplicates) private readonly duplicates: PossibleDuplicates,
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites,
    @Inject(SETTINGS) private readonly settings: ShipmentsHttpDependencies['settings'],
  ) {}

  locationOf({ id }: Shipment): string {
    return `${this.settings.baseUrl}/v1/shipments/${id}`;
  }

  /** @param ignored warnings of the request's body */
  async answer(
    reply: FastifyReply,
    written: ChangedShipment,
    ignored: readonly Warning[],
  ): Promise<ShipmentWithWarnings> {
    await this.acknowledge(reply, written);
    const { shipment, warnings } = written.answer;
    return { ...this.reader.resource(shipment), warnings: [...ignored, ...warnings] };
  }

  /** The same for a write that leaves the shipment open: warns of others with the same house bill or container. */
  async answerOpen<T extends ChangedShipment>(
    reply: FastifyReply,
    writing: Promise<T>,
    ignored: readonly Warning[],
  ): Promise<{ readonly outcome: T['answer']['outcome']; readonly shipment: ShipmentWithWarnings }> {
    const written = await writing;
    await this.acknowledge(reply, written);
    const { outcome, shipment, warnings } = written.answer;
    const duplicates = await this.duplicates.warningsOfWrite(reply.request, shipment, written.position);
    const all = [...ignored, ...warnings, ...duplicates];
    return { outcome, shipment: { ...this.reader.resource(shipment), warnings: all } };
  }

  /** The same for one of many items of a request; others are looked for when all are written. */
  answerOpenItem(
    request: FastifyRequest,
    { answer: { shipment, warnings }, position }: ChangedShipment,
    ignored: readonly Warning[],
  ) {
    this.duplicates.remember(request, shipment);
    return {
      resource: this.reader.resource(shipment),
      warnings: [...ignored, ...warnings],
      position,
      later: () => this.duplicates.warnings(request, shipment),
    };
  }

  private async acknowledge(reply: FastifyReply, { answer: { shipment }, position }: ChangedShipment): Promise<void> {
    reply.request.about = { shipment_id: shipment.id };
    await this.readYourWrites.wrote(reply, position);
    reply.header('ETag', etagOf(shipment.version));
  }
}
