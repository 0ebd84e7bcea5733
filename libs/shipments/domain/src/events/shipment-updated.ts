import { applyLastMilestones } from '../changes.ts';
import { setSchedule } from '../state.ts';
import type { StoredEventDescriptor } from './descriptor.ts';
import type { LastMilestones, LastSent, LegTimesWritten, ScheduleFields } from './event-data.ts';

/** What must be remembered of an upsert beside what it changed visibly. Announces nothing; `shipment.changed.v1` does. */
export interface ShipmentUpdated {
  readonly type: 'shipment.updated.v1';
  readonly data: {
    /** What the client set of the fields that estimates move too: estimates of before no longer count for them. */
    readonly fields: ScheduleFields;
    /** By leg: which events set its times; absent where this one sets all of them, or no legs. */
    readonly legs_written?: readonly LegTimesWritten[];
    readonly sent: LastSent;
    readonly last: LastMilestones;
  };
}

export const shipmentUpdated: StoredEventDescriptor<ShipmentUpdated> = {
  type: 'shipment.updated.v1',
  applyToRecord: (record, { last }) => applyLastMilestones(record, last),
  applyToState(draft, { fields, legs_written, sent }, revision) {
    draft.schedule = setSchedule(draft.schedule, fields, revision, legs_written);
    draft.sent = sent;
  },
};
