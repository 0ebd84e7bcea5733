import { SAMPLE_SHIPMENT_COUNT, buildSampleJourneys } from './sample-journeys.ts';

const TODAY = new Date('2026-11-23T09:30:00Z');

describe('sample journeys', () => {
  const { shipments, milestones } = buildSampleJourneys(TODAY);

  it('have unique references, so that a second request creates no further shipments', () => {
    expect(new Set(shipments.map(({ external_id }) => external_id)).size).toBe(SAMPLE_SHIPMENT_COUNT);
    expect(new Set(milestones.map(({ milestone_external_id }) => milestone_external_id)).size).toBe(milestones.length);
    expect(buildSampleJourneys(new Date('2026-11-23T21:00:00Z'))).toEqual({ shipments, milestones });
  });

  it('have no actual milestones in the future', () => {
    const ahead = milestones.filter(({ occurred_at }) => Date.parse(occurred_at) > TODAY.getTime());
    expect(ahead.map((milestone) => ('classifier' in milestone ? milestone.classifier : 'actual'))).toEqual(
      ahead.map(() => 'estimated'),
    );
    expect(milestones.every(({ external_id }) => shipments.some((each) => each.external_id === external_id))).toBe(
      true,
    );
  });
});
