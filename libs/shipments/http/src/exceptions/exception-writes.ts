import { Inject, Injectable } from '@nestjs/common';
import type { ShipmentException, Warning } from '@tracking/contracts';
import { etagOf, ReadYourWrites } from '@tracking/http';
import type { Written } from '@tracking/shipments';
import type { FastifyReply } from 'fastify';

type WrittenException = Written<{
  readonly exception: ShipmentException;
  readonly shipment_version: number;
  readonly warnings: readonly Warning[];
}>;
export type ExceptionWithWarnings = ShipmentException & { readonly warnings: readonly Warning[] };

/** Answers writes of an exception: with a token, the ETag of its shipment, and warnings. */
@Injectable()
export class ExceptionWrites {
  constructor(@Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites) {}

  /** @param ignored warnings of the request's body */
  async answer(
    reply: FastifyReply,
    { answer, position }: WrittenException,
    ignored: readonly Warning[],
  ): Promise<ExceptionWithWarnings> {
    const { exception, shipment_version, warnings } = answer;
    reply.request.about = { shipment_id: exception.shipment_id, exception_id: exception.id };
    await this.readYourWrites.wrote(reply, position);
    reply.header('ETag', etagOf(shipment_version));
    return { ...exception, warnings: [...ignored, ...warnings] };
  }
}
