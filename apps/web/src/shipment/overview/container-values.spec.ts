import { containerChanges, containerValues, isSameContainer } from './container-values.ts';
import type { Container } from './free-time.ts';

const container = {
  ...{ number: 'MSKU1234565', status: 'in_transit', size_type: '45G1', seal_number: null },
  ...{ last_free_day: '2026-11-26', empty_return_by: null },
} as unknown as Container;

describe('a form of a container', () => {
  it('sends nothing where nothing differs', () => {
    expect(containerChanges(container, containerValues(container))).toEqual({});
  });

  it('sends what differs, and null where it was cleared', () => {
    const values = { ...containerValues(container), size_type: ' 22G1 ', last_free_day: '' };
    expect(containerChanges(container, values)).toEqual({ size_type: '22G1', last_free_day: null });
  });

  it('takes a container for the same where only milestones changed it', () => {
    expect(isSameContainer(container, { ...container, status: 'arrived' })).toBe(true);
    expect(isSameContainer(container, { ...container, seal_number: 'S1' })).toBe(false);
  });
});
