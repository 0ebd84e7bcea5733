import type { Milestone } from '@tracking/client';
import { buildSampleMilestone } from '../milestone/build-milestone.ts';
import { calculateDelayHours, buildTimelineRows } from './timeline-rows.ts';

let count = 0;
function milestone(
  code: Milestone['code'],
  classifier: Milestone['classifier'],
  day: number,
  more: Partial<Milestone> = {},
): Milestone {
  count += 1;
  const occurred_at = `2026-11-${String(day).padStart(2, '0')}T08:00:00.000Z`;
  return buildSampleMilestone({
    id: `mil_${count}`,
    code,
    label: code,
    sequence: 10,
    classifier,
    occurred_at,
    location: 'NLRTM',
    recorded_at: occurred_at,
    ...more,
  });
}
const standing = { past: false } as const;

describe('timeline rows', () => {
  it('combine the plan, the estimate and the actual milestone of the same event and place', () => {
    const all = [
      milestone('vessel_arrived', 'planned', 1),
      milestone('vessel_arrived', 'estimated', 2),
      milestone('vessel_arrived', 'actual', 3),
      milestone('vessel_arrived', 'planned', 9, { location: 'DEHAM' }),
    ];
    const rows = buildTimelineRows(all, standing);
    expect(rows.map(({ location }) => location)).toEqual(['NLRTM', 'DEHAM']);
    expect([rows[0]?.planned.length, rows[0]?.estimated.length, rows[0]?.actual.length]).toEqual([1, 1, 1]);
  });

  it('are ordered by the time at which events happened, not by the plan', () => {
    const all = [
      milestone('vessel_arrived', 'planned', 1),
      milestone('discharged', 'actual', 2),
      milestone('vessel_arrived', 'actual', 3),
    ];
    expect(buildTimelineRows(all, standing).map(({ code }) => code)).toEqual(['discharged', 'vessel_arrived']);
  });

  it('contain one row for each time that an event has happened', () => {
    const all = [milestone('customs_hold', 'actual', 2), milestone('customs_hold', 'actual', 5)];
    expect(buildTimelineRows(all, standing)).toHaveLength(2);
  });

  it('include milestones of the selected container and milestones of all containers', () => {
    const all = [
      milestone('discharged', 'actual', 2, { container_number: 'A' }),
      milestone('discharged', 'actual', 3, { container_number: 'B' }),
      milestone('vessel_arrived', 'actual', 1),
    ];
    const rows = buildTimelineRows(all, { past: false, container: 'B' });
    expect(rows.map(({ container }) => container)).toEqual([null, 'B']);
  });

  it('leave out retracted and replaced milestones by default', () => {
    const all = [
      milestone('vessel_arrived', 'estimated', 2, { superseded_at: '2026-11-01T00:00:00.000Z' }),
      milestone('vessel_arrived', 'estimated', 4),
      milestone('discharged', 'actual', 3, { retracted_at: '2026-11-04T00:00:00.000Z' }),
    ];
    expect(buildTimelineRows(all, standing).map(({ code, estimated }) => [code, estimated.length])).toEqual([
      ['vessel_arrived', 1],
    ]);
    expect(buildTimelineRows(all, { past: true }).map(({ code, estimated }) => [code, estimated.length])).toEqual([
      ['discharged', 0],
      ['vessel_arrived', 2],
    ]);
  });

  it('show the delay against the planned time', () => {
    const [late] = buildTimelineRows(
      [milestone('vessel_arrived', 'planned', 1), milestone('vessel_arrived', 'estimated', 2)],
      standing,
    );
    const [unplanned] = buildTimelineRows([milestone('discharged', 'actual', 2)], standing);
    expect(late && calculateDelayHours(late)).toBe(24);
    expect(unplanned && calculateDelayHours(unplanned)).toBeUndefined();
  });
});
