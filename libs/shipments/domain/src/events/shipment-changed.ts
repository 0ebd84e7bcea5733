import type { EtaSetBy } from '@tracking/contracts';
import { applyChanges } from '../changes.ts';
import { takenOffAfter } from '../given-of-container.ts';
import type { StoredEventDescriptor } from './descriptor.ts';
import type { Changes } from './event-data.ts';

/** Every client-visible difference of one command, set or derived. */
export interface ShipmentChanged {
  readonly type: 'shipment.changed.v1';
  readonly data: {
    readonly changes: Changes;
    /** What set the `eta` that the changes name; absent without, and where it was stored before it was remembered. */
    readonly eta_set_by?: EtaSetBy;
  };
}

export const shipmentChanged: StoredEventDescriptor<ShipmentChanged> = {
  type: 'shipment.changed.v1',
  applyToRecord: (record, { changes }) => applyChanges(record, changes),
  applyToState(draft, { changes }) {
    draft.takenOff = takenOffAfter(draft.takenOff, changes);
  },
  isNews: ({ changes }) => changes.eta !== undefined,
  tell: ({ changes: { milestone: _, ...changes } }) =>
    Object.keys(changes).length === 0 ? undefined : { type: 'shipment.updated', changes },
  announce: ({ changes }) => ({ type: 'shipment.updated', data: (shipment) => ({ shipment, changes }) }),
};
