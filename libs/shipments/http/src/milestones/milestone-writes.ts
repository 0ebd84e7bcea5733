import { Inject, Injectable } from '@nestjs/common';
import type { Milestone, Warning } from '@tracking/contracts';
import { etagOf, ReadYourWrites, SETTINGS } from '@tracking/http';
import type { Written } from '@tracking/shipments';
import type { FastifyReply } from 'fastify';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';

type WrittenMilestone = Written<{
  readonly milestone: Milestone;
  readonly shipment_version: number;
  readonly warnings: readonly Warning[];
}>;
export type MilestoneWithWarnings = Milestone & { readonly warnings: readonly Warning[] };

/** Answers writes of a milestone: with a token, the ETag of its shipment, and warnings. */
@Injectable()
export class MilestoneWrites {
  constructor(
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites,
    @Inject(SETTINGS) private readonly settings: ShipmentsHttpDependencies['settings'],
  ) {}

  /** Where the milestone is. */
  locationOf({ id, shipment_id }: Milestone): string {
    return `${this.settings.baseUrl}/v1/shipments/${shipment_id}/milestones/${id}`;
  }

  /** @param ignored warnings of the request's body */
  async answer(
    reply: FastifyReply,
    { answer, position }: WrittenMilestone,
    ignored: readonly Warning[],
  ): Promise<MilestoneWithWarnings> {
    const { milestone, shipment_version, warnings } = answer;
    reply.request.about = { shipment_id: milestone.shipment_id, milestone_id: milestone.id };
    await this.readYourWrites.wrote(reply, position);
    reply.header('ETag', etagOf(shipment_version));
    return { ...milestone, warnings: [...ignored, ...warnings] };
  }
}
