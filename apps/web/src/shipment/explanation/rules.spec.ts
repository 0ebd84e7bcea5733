import { type ResolvedBy, getFieldPathLabel, describeResolvingEvent } from './rules.ts';

const way = (more: Partial<ResolvedBy>): ResolvedBy => ({
  ...{ by: 'milestone', codes: [], occurred_from: null, milestone_ids: [], fields: [], document_types: [] },
  ...more,
});
const labels = new Map([
  ['import_customs_cleared', 'Import customs cleared'],
  ['gated_out', 'Gated out'],
]);

describe('an explanation in words', () => {
  it.each([
    ['eta', 'ETA'],
    ['status', 'Status'],
    ['legs[1].etd', 'ETD of leg 2'],
    ['seal_number', 'seal number'],
  ])('converts %s to the label %s', (field, label) => {
    expect(getFieldPathLabel(field)).toBe(label);
  });

  it('explains what resolves an exception', () => {
    const codes: ResolvedBy['codes'] = ['import_customs_cleared', 'gated_out'];
    expect(describeResolvingEvent(way({ codes }), labels)).toBe('a milestone: Import customs cleared or Gated out');
    expect(describeResolvingEvent(way({ by: 'field_changed', fields: ['eta', 'legs[0].eta'] }), labels)).toBe(
      'change of ETA or ETA of leg 1',
    );
    expect(describeResolvingEvent(way({ by: 'document_approved', document_types: ['packing_list'] }), labels)).toBe(
      'approval of a document: Packing list',
    );
  });

  it('shows an unknown milestone code as it is', () => {
    expect(describeResolvingEvent(way({ codes: ['delivered'] }), new Map())).toBe('a milestone: delivered');
  });
});
