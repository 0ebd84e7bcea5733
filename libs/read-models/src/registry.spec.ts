import { SHIPMENT_EVENT_TYPES } from '@tracking/contracts';
import { listReadModelsOfEvents } from './registry.ts';

it.each([
  ['shipment.updated', []],
  ['milestone.recorded', ['milestones']],
  ['exception.opened', ['exceptions']],
  ['document.approved', ['documents']],
] as const)('%s has data of shipments, events, and %j', (type, others) => {
  expect(listReadModelsOfEvents([type])).toEqual(['shipments', 'published_events', ...others]);
});

it('all events together have data of all read models that clients query', () => {
  const all = ['shipments', 'published_events', 'milestones', 'exceptions', 'documents'];
  expect(listReadModelsOfEvents(SHIPMENT_EVENT_TYPES).toSorted()).toEqual(all.toSorted());
});
