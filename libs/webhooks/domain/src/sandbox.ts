import type { Environment, JsonObject, PublishedEvent, Timestamp } from '@tracking/contracts';
import { type SampleTimes, sampleDocument, sampleException, sampleMilestone, sampleShipment } from './sample-data.ts';

/** Types that a test of an endpoint may ask for. */
export const SANDBOX_EVENT_TYPES = [
  'shipment.created',
  'shipment.updated',
  'milestone.recorded',
  'milestone.retracted',
  'exception.opened',
  'exception.updated',
  'exception.resolved',
  'document.uploaded',
  'document.approved',
  'document.rejected',
] as const;
export type SandboxEventType = (typeof SANDBOX_EVENT_TYPES)[number];

export interface SandboxContext {
  readonly id: string;
  readonly type: SandboxEventType;
  readonly at: Timestamp;
  readonly workspace_id: string;
  readonly environment: Environment;
  /** Where the web application answers, without a slash at the end. */
  readonly appUrl: string;
}

const HOUR_MS = 3_600_000;

/** An event with invented data in the shape of live ones. */
export function sandboxEvent({ id, type, at, workspace_id, environment, appUrl }: SandboxContext): PublishedEvent {
  const time: SampleTimes = (hours) => new Date(Date.parse(at) + hours * HOUR_MS).toISOString();
  return { id, type, created_at: at, environment, workspace_id, data: sampleData(type, time, appUrl) };
}

function sampleData(type: SandboxEventType, time: SampleTimes, appUrl: string): JsonObject {
  const shipment = sampleShipment(time, appUrl);
  const about = { shipment_id: shipment.id, external_id: shipment.external_id, shipment_version: shipment.version };
  switch (type) {
    case 'shipment.created':
      return { ...about, shipment };
    case 'shipment.updated':
      return { ...about, shipment, changes: { eta: { from: shipment.original_eta, to: shipment.eta } } };
    case 'milestone.recorded':
      return { ...about, milestone: sampleMilestone(time, null) };
    case 'milestone.retracted':
      return { ...about, milestone: sampleMilestone(time, time(0)) };
    case 'exception.opened':
      return { ...about, exception: sampleException(time, 'open') };
    case 'exception.updated':
      return { ...about, exception: sampleException(time, 'acknowledged') };
    case 'exception.resolved':
      return { ...about, exception: sampleException(time, 'resolved') };
    case 'document.uploaded':
      return { ...about, document: sampleDocument(time, appUrl, 'uploaded') };
    case 'document.approved':
      return { ...about, document: sampleDocument(time, appUrl, 'approved') };
    case 'document.rejected':
      return { ...about, document: sampleDocument(time, appUrl, 'rejected') };
  }
}
