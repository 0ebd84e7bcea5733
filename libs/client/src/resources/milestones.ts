import type { BodyOf, QueryOf } from '../api-types.ts';
import type { Api } from '../http/api.ts';
import type { PostOptions, ReadOptions, RequestOptions, WriteOptions } from '../options.ts';

export class Milestones {
  constructor(private readonly api: Api) {}

  list(shipmentId: string, query: QueryOf<'listMilestones'> = {}, options?: RequestOptions) {
    return this.api.list('listMilestones', { path: { id: shipmentId }, query }, options);
  }

  record(shipmentId: string, milestone: BodyOf<'recordMilestone'>, options?: PostOptions) {
    return this.api.call('recordMilestone', { path: { id: shipmentId }, body: milestone }, options);
  }

  /** Up to 500 at once, of shipments named by any reference, each answered as `record` would. Not atomic. */
  recordMany(milestones: BodyOf<'recordMilestones'>['milestones'], options?: Omit<PostOptions, 'ifMatch'>) {
    return this.api.call('recordMilestones', { body: { milestones } }, options);
  }

  get(shipmentId: string, milestoneId: string, options?: ReadOptions) {
    return this.api.call('getMilestone', { path: { id: shipmentId, milestone_id: milestoneId } }, options);
  }

  correct(shipmentId: string, milestoneId: string, changes: BodyOf<'correctMilestone'>, options?: WriteOptions) {
    const path = { id: shipmentId, milestone_id: milestoneId };
    return this.api.call('correctMilestone', { path, body: changes }, options);
  }

  /** Takes it back: it stays on the timeline, and counts no more. */
  retract(shipmentId: string, milestoneId: string, options?: WriteOptions) {
    return this.api.call('retractMilestone', { path: { id: shipmentId, milestone_id: milestoneId } }, options);
  }

  /** The catalog, in one answer. */
  codes(options?: RequestOptions) {
    return this.api.call('listMilestoneCodes', {}, options);
  }
}
