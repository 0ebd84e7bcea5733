import type { Milestone } from '@tracking/client';
import { type Environment, api } from '../../session/api.ts';
import type { Seen } from '../meanwhile/guarded.ts';
import { versionIn } from '../meanwhile/version.ts';

export async function readMilestone(
  environment: Environment,
  { shipment_id, id }: Pick<Milestone, 'shipment_id' | 'id'>,
): Promise<Seen<Milestone>> {
  const { data: thing, etag } = await api(environment).milestones.get(shipment_id, id).withResponse();
  return { thing, version: versionIn(etag) };
}
