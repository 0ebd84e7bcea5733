import { A, B, C, Story, WRONG_DIGIT, dataOf, day, shipment, types, voyage } from '../../test/story.ts';
import type { ShipmentException } from '../events/event-data.ts';

const box = (container_number: string) => ({ container_number });
const loaded = () => voyage({ container_numbers: [A, B] });

describe('opening and resolving', () => {
  it('happens in the same append, with counts', () => {
    const story = voyage();
    const opened = story.post('customs_hold', day(20), { reason_code: 'customs_exam' });
    expect(types(opened)).toEqual(['milestone.recorded.v1', 'exception.opened.v1']);
    const exception: ShipmentException = {
      id: 'exc_0000020',
      shipment_id: 'shp_abcdefghijklmnopqrstuvwxya',
      container_number: null,
      type: 'customs_hold',
      severity: 'high',
      status: 'open',
      title: 'Customs hold',
      detail: `Customs hold since ${day(20)}.`,
      detected_by: 'system',
      rule: 'customs_hold',
      milestone_id: opened.milestone.id,
      reason_code: 'customs_exam',
      assignee: null,
      metrics: {},
      resolution: null,
      opened_at: '2026-06-01T00:02:00.000Z',
      acknowledged_at: null,
      resolved_at: null,
    };
    expect(dataOf(opened, 'exception.opened.v1')).toEqual({ exception, open_exceptions_count: 1 });
    expect(story.record.open_exceptions_count).toBe(1);
    const resolved = story.post('import_customs_cleared', day(21));
    expect(dataOf(resolved, 'exception.resolved.v1')).toEqual({
      exception: {
        ...exception,
        status: 'resolved',
        resolution: { code: 'auto_cleared', note: null, by: { type: 'system', id: 'system' } },
        resolved_at: '2026-06-01T00:03:00.000Z',
      },
      open_exceptions_count: 0,
    });
    expect(story.record.open_exceptions_count).toBe(0);
  });

  it('at most one per shipment, container and type is not resolved', () => {
    const story = loaded();
    story.post('customs_hold', day(20), box(A));
    story.post('customs_inspection', day(21), box(A));
    expect(story.exceptions).toEqual([`customs_hold ${A} open`]);
    story.post('customs_hold', day(20), box(B));
    expect(story.exceptions).toEqual([`customs_hold ${A} open`, `customs_hold ${B} open`]);
  });

  it('opens again under a new id when the condition comes back', () => {
    const story = voyage();
    story.post('customs_hold', day(20));
    story.post('import_customs_cleared', day(21));
    story.post('customs_hold', day(22));
    expect(story.exceptions).toEqual(['customs_hold resolved auto_cleared', 'customs_hold open']);
    expect(new Set(story.state?.exceptions.map(({ id }) => id)).size).toBe(2);
  });

  it.each([
    ['customs_hold', 'customs_hold'],
    ['delivery_attempted', 'delivery_failed'],
  ])('%s: for the container that the milestone names, else one for the shipment', (code, type) => {
    for (const story of [voyage(), loaded()]) {
      story.post(code, day(20));
      expect(story.exceptions).toEqual([`${type} open`]);
    }
    const story = loaded();
    story.post(code, day(20), box(A));
    story.post(code, day(20));
    story.post(code, day(20), box(B));
    expect(story.exceptions).toEqual([`${type} ${A} open`, `${type} open`, `${type} ${B} open`]);
  });

  it('of a container rule a milestone that names none counts for each container', () => {
    const story = loaded();
    story.post('delivered', day(20));
    story.post('discharged', day(23));
    expect(story.exceptions).toEqual([`milestone_conflict ${A} open`, `milestone_conflict ${B} open`]);
  });

  it('resolves when the milestone is corrected', () => {
    const story = voyage();
    story.post('customs_hold', day(20), { external_id: 'EV-1' });
    story.post('in_transit_checkpoint', day(20), { external_id: 'EV-1' });
    expect(story.exceptions).toEqual(['customs_hold resolved auto_cleared']);
  });

  it('resolves when the container is taken off', () => {
    const story = loaded();
    story.post('customs_hold', day(20), box(A));
    const decision = story.upsert({ container_numbers: [B] });
    expect(types(decision)).toContain('exception.resolved.v1');
    expect(story.exceptions).toEqual([`customs_hold ${A} resolved auto_cleared`]);
    story.upsert({ container_numbers: [A, B] });
    expect(story.open).toEqual(['customs_hold']);
  });

  it('one opened by hand is not touched by rules, stands in their way, and goes with its container', () => {
    const story = loaded();
    const { state } = story;
    if (state === undefined) throw new Error('no state');
    story.post('customs_hold', day(20), box(B));
    const [byRule] = story.state?.exceptions ?? [];
    if (byRule === undefined) throw new Error('nothing opened');
    const byHand: ShipmentException = {
      ...byRule,
      id: 'exc_hand',
      container_number: A,
      rule: null,
      detected_by: 'manual',
    };
    story.state = { ...state, exceptions: [byHand], record: { ...state.record, open_exceptions_count: 1 } };
    expect(types(story.post('customs_hold', day(20), box(A)))).toEqual(['milestone.recorded.v1']);
    expect(types(story.post('import_customs_cleared', day(21)))).toEqual(['milestone.recorded.v1']);
    expect(types(story.upsert({ container_numbers: [B] }))).toContain('exception.resolved.v1');
  });

  it('opens no more than 500 in all', () => {
    const story = loaded();
    story.post('customs_hold', day(20), box(A));
    const { state } = story;
    const [one] = state?.exceptions ?? [];
    if (state === undefined || one === undefined) throw new Error('nothing opened');
    const resolved = { ...one, status: 'resolved' as const };
    story.state = { ...state, exceptions: [...Array.from({ length: 498 }, () => resolved), one] };
    expect(types(story.post('customs_hold', day(21), box(B)))).toContain('exception.opened.v1');
    expect(types(story.post('delivery_attempted', day(21)))).not.toContain('exception.opened.v1');
  });
});

describe('customs_hold', () => {
  it.each(['customs_hold', 'customs_inspection'])('opens by %s, high', (code) => {
    const story = voyage();
    story.post(code, day(20));
    expect(story.state?.exceptions).toMatchObject([{ type: 'customs_hold', severity: 'high' }]);
  });

  it.each(['export_customs_cleared', 'import_customs_cleared'])('%s dated at or after it resolves it', (code) => {
    const story = voyage();
    story.post('customs_hold', day(20));
    story.post(code, day(19));
    expect(story.open).toEqual(['customs_hold']);
    story.post(code, day(20));
    expect(story.open).toEqual([]);
  });

  it('does not open when the later-dated clearance came first', () => {
    const story = voyage();
    story.post('import_customs_cleared', day(21));
    story.post('customs_hold', day(20));
    expect(story.exceptions).toEqual([]);
  });

  it('a later hold needs a later clearance', () => {
    const story = voyage();
    story.post('customs_hold', day(20));
    story.post('customs_inspection', day(22));
    story.post('import_customs_cleared', day(21));
    expect(story.open).toEqual(['customs_hold']);
  });

  it.each(['available_for_pickup', 'gated_out', 'out_for_delivery', 'delivered', 'returned_to_shipper'])(
    'feeds skip steps: %s after it resolves it',
    (code) => {
      const story = voyage();
      story.post('customs_hold', day(20));
      story.post(code, day(21));
      expect(story.open).toEqual([]);
    },
  );

  it.each(['vessel_arrived', 'discharged', 'carrier_released', 'arrival_notice_issued', 'unavailable_for_pickup'])(
    'what tells nothing of a clearance does not: %s',
    (code) => {
      const story = voyage();
      story.post('vessel_departed', day(2));
      story.post('customs_hold', day(20));
      story.post(code, day(21));
      expect(story.open).toEqual(['customs_hold']);
    },
  );

  it('an export hold ends with the departure, an import hold not with one from before or on the way', () => {
    const story = voyage();
    story.post('customs_hold', day(1));
    expect(story.open).toEqual(['customs_hold']);
    story.post('vessel_departed', day(2));
    expect(story.open).toEqual([]);
    story.post('customs_hold', day(5));
    story.post('transshipment_departed', day(7));
    expect(story.open).toEqual(['customs_hold']);
  });

  it('the clearance of one container does not resolve the other’s', () => {
    const story = loaded();
    story.post('customs_hold', day(20), box(A));
    story.post('customs_hold', day(20), box(B));
    story.post('import_customs_cleared', day(21), box(A));
    expect(story.exceptions).toEqual([`customs_hold ${A} resolved auto_cleared`, `customs_hold ${B} open`]);
  });

  it('the shipment’s resolves once every container is cleared', () => {
    const story = loaded();
    story.post('customs_hold', day(20));
    story.post('import_customs_cleared', day(21), box(A));
    expect(story.exceptions).toEqual(['customs_hold open']);
    story.post('gated_out', day(22), box(B));
    expect(story.exceptions).toEqual(['customs_hold resolved auto_cleared']);
  });

  it('a clearance that names none clears the container too', () => {
    const story = loaded();
    story.post('customs_hold', day(20), box(A));
    story.post('import_customs_cleared', day(20));
    expect(story.open).toEqual([]);
  });

  describe('before the first departure', () => {
    const held = (fields: Parameters<typeof voyage>[0] = {}) => {
      const story = voyage(fields);
      story.post('customs_hold', day(3));
      return story;
    };

    it.each(['booking_confirmed', 'gated_in', 'loaded_on_vessel', 'rail_loaded'])('%s clears nothing', (code) => {
      const story = held();
      story.post(code, day(4));
      expect(story.open).toEqual(['customs_hold']);
    });

    it.each([
      'export_customs_cleared',
      'vessel_departed',
      'rail_departed',
      'transshipment_departed',
      'transshipment_arrived',
      'vessel_arrived',
      'import_customs_cleared',
    ])('%s clears it', (code) => {
      const story = held();
      story.post(code, day(4));
      expect(story.exceptions).toEqual(['customs_hold resolved auto_cleared']);
    });

    it.each([
      ['road', []],
      ['courier', []],
      ['ocean', ['customs_hold']],
    ] as const)('a pick-up by %s leaves %j open', (mode, open) => {
      const story = held({ mode });
      story.post('picked_up', day(4));
      expect(story.open).toEqual(open);
    });

    it('the ship sailing on is no departure', () => {
      const story = held();
      story.post('vessel_departed', day(4), { location: 'USLAX' });
      expect(story.open).toEqual(['customs_hold']);
    });

    it('of the container itself: one that another one names is not its own', () => {
      const story = voyage({ container_numbers: [A, B] });
      story.post('customs_hold', day(3), box(A));
      story.post('vessel_departed', day(4), box(B));
      expect(story.open).toEqual(['customs_hold']);
      story.post('vessel_departed', day(5), box(A));
      expect(story.open).toEqual([]);
    });
  });

  describe('after the first departure', () => {
    const held = (fields: Parameters<typeof voyage>[0] = {}) => {
      const story = voyage(fields);
      story.post('vessel_departed', day(2));
      story.post('customs_hold', day(20));
      return story;
    };

    it.each(['export_customs_cleared', 'rail_departed', 'transshipment_departed', 'rail_unloaded', 'gated_in'])(
      '%s does not clear it',
      (code) => {
        const story = held();
        story.post(code, day(21));
        expect(story.open).toEqual(['customs_hold']);
      },
    );

    it.each(['import_customs_cleared', 'available_for_pickup', 'gated_out', 'out_for_delivery', 'delivered'])(
      '%s does',
      (code) => {
        const story = held();
        story.post(code, day(20));
        expect(story.exceptions).toEqual(['customs_hold resolved auto_cleared']);
      },
    );

    it('whichever arrives first', () => {
      const story = voyage();
      story.post('customs_hold', day(20));
      story.post('export_customs_cleared', day(21));
      expect(story.open).toEqual([]);
      story.post('vessel_departed', day(2));
      expect(story.open).toEqual(['customs_hold']);
    });

    it('an arrival tells of a departure that no feed reported', () => {
      const story = voyage();
      story.post('vessel_arrived', day(19));
      story.post('customs_hold', day(20));
      story.post('export_customs_cleared', day(21));
      expect(story.open).toEqual(['customs_hold']);
    });

    it('the gate-out of a consolidated container shows nothing of customs', () => {
      const story = held({ load_type: 'lcl' });
      story.post('gated_out', day(21));
      expect(story.open).toEqual(['customs_hold']);
    });
  });

  it.each(['estimated', 'planned'] as const)('one that is %s opens none', (classifier) => {
    const story = voyage();
    story.post('customs_hold', day(20), { classifier });
    expect(story.exceptions).toEqual([]);
  });
});

describe('delivery_failed', () => {
  it('opens by delivery_attempted, medium, and resolves by delivered', () => {
    const story = voyage();
    story.post('delivery_attempted', day(20));
    expect(story.state?.exceptions).toMatchObject([
      { type: 'delivery_failed', severity: 'medium', container_number: null },
    ]);
    story.post('out_for_delivery', day(21));
    expect(story.open).toEqual(['delivery_failed']);
    story.post('delivered', day(21));
    expect(story.exceptions).toEqual(['delivery_failed resolved auto_cleared']);
  });

  it.each(['cargo_stripped', 'empty_returned', 'returned_to_shipper'])('feeds skip steps: %s resolves it', (code) => {
    const story = voyage();
    story.post('delivery_attempted', day(20));
    story.post(code, day(22));
    expect(story.open).toEqual([]);
  });

  it('does not open for a container that is delivered; the shipment’s resolves with the last one', () => {
    const story = loaded();
    story.post('delivered', day(20), box(A));
    story.post('delivery_attempted', day(19));
    expect(story.exceptions).toEqual(['delivery_failed open']);
    story.post('delivery_attempted', day(19), box(A));
    expect(story.exceptions).toEqual(['delivery_failed open']);
    story.post('delivered', day(21), box(B));
    expect(story.exceptions).toEqual(['delivery_failed resolved auto_cleared']);
  });
});

describe('milestone_conflict', () => {
  it.each(['delivered', 'empty_returned', 'returned_to_shipper'])(
    '%s dated more than 24 h before a movement',
    (code) => {
      const story = voyage();
      const end = story.post(code, day(20)).milestone;
      story.post('vessel_arrived', day(21));
      expect(story.exceptions).toEqual([]);
      story.post('discharged', day(21, 13));
      expect(story.state?.exceptions).toMatchObject([
        { type: 'milestone_conflict', severity: 'low', container_number: null, milestone_id: end.id },
      ]);
    },
  );

  it.each([
    'empty_picked_up',
    'gated_in',
    'loaded_on_vessel',
    'rail_loaded',
    'border_crossed',
    'arrived_at_destination',
    'available_for_pickup',
    'out_for_delivery',
  ])('%s is a movement', (code) => {
    const story = voyage();
    story.post('delivered', day(20));
    story.post(code, day(23));
    expect(story.open).toEqual(['milestone_conflict']);
  });

  it.each([
    'booking_confirmed',
    'export_customs_cleared',
    'import_customs_cleared',
    'arrival_notice_issued',
    'delivery_attempted',
    'cargo_stripped',
    'empty_returned',
  ])('%s is none', (code) => {
    const story = voyage();
    story.post('delivered', day(20));
    story.post(code, day(23));
    expect(story.exceptions).toEqual([]);
  });

  it('whichever of them arrives first', () => {
    const story = voyage();
    story.post('discharged', day(23));
    story.post('delivered', day(20));
    expect(story.open).toEqual(['milestone_conflict']);
  });

  it('only of the same container', () => {
    const story = loaded();
    story.post('delivered', day(20), box(A));
    story.post('discharged', day(23), box(B));
    expect(story.exceptions).toEqual([]);
    story.post('discharged', day(23));
    expect(story.exceptions).toEqual([`milestone_conflict ${A} open`]);
  });

  it('the ship sailing on is no movement', () => {
    const story = voyage();
    story.post('delivered', day(20));
    story.post('vessel_departed', day(23), { location: 'USLAX' });
    expect(story.exceptions).toEqual([]);
  });

  it('delivery does not resolve it, a correction does', () => {
    const story = voyage();
    story.post('delivered', day(20));
    story.post('discharged', day(23), { external_id: 'EV-1' });
    story.post('empty_returned', day(24));
    expect(story.open).toEqual(['milestone_conflict']);
    story.post('discharged', day(19), { external_id: 'EV-1' });
    expect(story.exceptions).toEqual(['milestone_conflict resolved auto_cleared']);
  });

  it('booking_cancelled after delivery opens one for the shipment', () => {
    const story = loaded();
    story.post('delivered', day(20));
    const { milestone } = story.post('booking_cancelled', day(21), { external_id: 'EV-1' });
    expect(story.state?.exceptions).toMatchObject([
      { type: 'milestone_conflict', container_number: null, milestone_id: milestone.id, status: 'open' },
    ]);
    story.post('booking_confirmed', day(22));
    expect(story.exceptions).toEqual(['milestone_conflict resolved auto_cleared']);
  });
});

describe('cancelling', () => {
  it('resolves what is open as shipment_cancelled', () => {
    const story = voyage({ container_numbers: [WRONG_DIGIT] });
    story.post('customs_hold', day(20));
    story.post('booking_cancelled', day(21));
    expect(story.exceptions).toEqual([
      `invalid_container_number ${WRONG_DIGIT} resolved shipment_cancelled`,
      'customs_hold resolved shipment_cancelled',
    ]);
    expect(story.record.open_exceptions_count).toBe(0);
  });

  it('nothing but movements opens any more', () => {
    const story = voyage();
    story.post('booking_cancelled', day(3));
    story.post('customs_hold', day(4));
    story.post('delivery_attempted', day(4));
    story.upsert({ container_numbers: [WRONG_DIGIT] });
    expect(story.exceptions).toEqual(['movement_after_cancel open']);
  });

  it('the client’s does so too, and reopened what is still wrong opens again', () => {
    const story = voyage();
    story.post('customs_hold', day(4));
    story.post('delivery_attempted', day(4));
    expect(types(story.cancel())).toEqual([
      'shipment.cancelled.v1',
      'shipment.changed.v1',
      'exception.resolved.v1',
      'exception.resolved.v1',
    ]);
    story.post('import_customs_cleared', day(5));
    story.reopen();
    expect(story.exceptions).toEqual([
      'customs_hold resolved shipment_cancelled',
      'delivery_failed resolved shipment_cancelled',
      'delivery_failed open',
    ]);
    expect(story.record.open_exceptions_count).toBe(1);
  });

  it('taken back, what is still wrong opens again', () => {
    const story = voyage();
    story.post('customs_hold', day(4));
    story.post('booking_cancelled', day(5));
    story.post('booking_confirmed', day(6));
    expect(story.exceptions).toEqual(['customs_hold resolved shipment_cancelled', 'customs_hold open']);
  });
});

describe('movement_after_cancel', () => {
  const cancelled = () => {
    const story = loaded();
    story.post('vessel_departed', day(2));
    story.post('booking_cancelled', day(3));
    return story;
  };

  it('opens by an actual movement that arrives after the cancellation, high', () => {
    const story = cancelled();
    const { milestone } = story.post('discharged', day(1));
    expect(story.state?.exceptions).toMatchObject([
      { type: 'movement_after_cancel', severity: 'high', container_number: null, milestone_id: milestone.id },
    ]);
  });

  it('for the container that the movement names', () => {
    const story = cancelled();
    story.post('discharged', day(20), box(A));
    story.post('gated_out', day(21), box(A));
    story.post('gated_out', day(21), box(B));
    expect(story.exceptions).toEqual([`movement_after_cancel ${A} open`, `movement_after_cancel ${B} open`]);
  });

  it('not by those from before', () => {
    const story = cancelled();
    story.post('booking_cancelled', day(4));
    story.upsert({ house_bill: 'HB' });
    expect(story.exceptions).toEqual([]);
  });

  it.each([
    'booking_confirmed',
    'export_customs_cleared',
    'customs_hold',
    'import_customs_cleared',
    'carrier_released',
    'arrival_notice_issued',
  ])('not by %s', (code) => {
    const story = cancelled();
    story.post(code, day(1));
    expect(story.exceptions).toEqual([]);
  });

  it('not by what is estimated, nor by the ship sailing on', () => {
    const story = cancelled();
    story.estimate('vessel_arrived', day(20));
    story.post('vessel_departed', day(22), { location: 'USLAX' });
    expect(story.exceptions).toEqual([]);
  });

  it('stays open while cancelled, and resolves with the cancellation taken back', () => {
    const story = cancelled();
    story.post('discharged', day(20));
    story.upsert({ house_bill: 'HB' });
    expect(story.open).toEqual(['movement_after_cancel']);
    story.post('booking_confirmed', day(5));
    expect(story.exceptions).toEqual(['movement_after_cancel resolved auto_cleared']);
  });

  it('resolves when the movement is corrected away', () => {
    const story = cancelled();
    story.post('discharged', day(20), { external_id: 'EV-1' });
    story.post('customs_hold', day(20), { external_id: 'EV-1' });
    expect(story.exceptions).toEqual(['movement_after_cancel resolved auto_cleared']);
  });

  it('not for a container that was taken off', () => {
    const story = cancelled();
    story.post('discharged', day(20), box(A));
    story.upsert({ container_numbers: [B] });
    story.upsert({ house_bill: 'HB' });
    expect(story.exceptions).toEqual([`movement_after_cancel ${A} resolved auto_cleared`]);
  });

  it('opens after the client cancelled, and resolves by reopening', () => {
    const story = loaded();
    story.post('vessel_departed', day(2));
    story.cancel();
    story.post('vessel_departed', day(2));
    story.post('in_transit_checkpoint', day(4));
    expect(story.exceptions).toEqual(['movement_after_cancel open']);
    const decision = story.reopen();
    expect(types(decision)).toContain('exception.resolved.v1');
    expect(story.exceptions).toEqual(['movement_after_cancel resolved auto_cleared']);
  });

  it('opens by an estimate from before that became an actual one', () => {
    const story = cancelled();
    story.estimate('discharged', day(20), { external_id: 'EV-1' });
    const alike = loaded();
    alike.estimate('discharged', day(20), { external_id: 'EV-1' });
    alike.cancel();
    for (const each of [story, alike]) {
      each.post('discharged', day(21), { external_id: 'EV-1', source: 'carrier' });
      expect(each.exceptions).toEqual(['movement_after_cancel open']);
    }
  });

  it('not by the note of a movement from before', () => {
    const story = loaded();
    story.post('vessel_departed', day(2), { external_id: 'EV-1' });
    story.cancel();
    story.post('vessel_departed', day(2), { external_id: 'EV-1', note: 'late' });
    expect(story.exceptions).toEqual([]);
  });

  it('counts from the first cancellation that stands', () => {
    const story = loaded();
    story.post('booking_cancelled', day(3));
    story.post('discharged', day(20));
    story.cancel();
    expect(story.open).toEqual(['movement_after_cancel']);
    story.post('booking_confirmed', day(4));
    expect(story.record.status).toBe('cancelled');
    expect(story.exceptions).toEqual(['movement_after_cancel resolved auto_cleared']);
    story.post('gated_out', day(21));
    expect(story.open).toEqual(['movement_after_cancel']);
  });

  it('stays open when the cancellation itself is corrected', () => {
    const story = loaded();
    story.post('booking_cancelled', day(3), { external_id: 'EV-1' });
    story.post('discharged', day(20));
    story.post('booking_cancelled', day(4), { external_id: 'EV-1' });
    expect(story.open).toEqual(['movement_after_cancel']);
  });
});

describe('invalid_container_number', () => {
  it('opens with the shipment or with the container, low', () => {
    const story = new Story();
    story.upsert({ container_numbers: [A, WRONG_DIGIT] });
    expect(story.state?.exceptions).toMatchObject([
      { type: 'invalid_container_number', severity: 'low', container_number: WRONG_DIGIT, milestone_id: null },
    ]);
    const later = shipment();
    later.upsert({ container_numbers: [WRONG_DIGIT] });
    expect(later.open).toEqual(['invalid_container_number']);
  });

  it('does not open again by a resend', () => {
    const story = shipment({ container_numbers: [WRONG_DIGIT] });
    expect(story.upsert({ container_numbers: [WRONG_DIGIT] })).toMatchObject({ outcome: 'unchanged', events: [] });
  });

  it('resolves when corrected, not when delivered', () => {
    const story = shipment({ container_numbers: [WRONG_DIGIT] });
    story.post('delivered', day(20));
    expect(story.open).toEqual(['invalid_container_number']);
    story.upsert({ container_numbers: [A] });
    expect(story.exceptions).toEqual([`invalid_container_number ${WRONG_DIGIT} resolved auto_cleared`]);
  });

  it('a ULD has no check digit to be wrong', () => {
    const story = shipment({ mode: 'air', container_numbers: ['AKE12345LH'] });
    expect(story.exceptions).toEqual([]);
    expect(story.container('AKE12345LH').valid_check_digit).toBeNull();
  });

  it('of several containers each has its own', () => {
    const story = shipment({ container_numbers: [WRONG_DIGIT, A, 'MSCU1234568', C] });
    expect(story.exceptions).toEqual([
      `invalid_container_number ${WRONG_DIGIT} open`,
      'invalid_container_number MSCU1234568 open',
    ]);
    expect(story.record.open_exceptions_count).toBe(2);
  });
});
