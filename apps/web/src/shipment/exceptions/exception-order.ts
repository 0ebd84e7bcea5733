import type { ShipmentException } from '@tracking/client';
import { SEVERITY_LABELS } from '../../exceptions/exception-labels.ts';

const GRAVEST_FIRST = Object.keys(SEVERITY_LABELS);

/** What is to be dealt with, the gravest first and of these the oldest; and what is over, the last first. */
export function inOrder(all: readonly ShipmentException[]) {
  const toDo = all.filter(({ status }) => status !== 'resolved');
  const over = all.filter(({ status }) => status === 'resolved');
  const gravity = ({ severity }: ShipmentException) => GRAVEST_FIRST.indexOf(severity);
  return {
    toDo: toDo.sort((one, other) => gravity(one) - gravity(other) || one.opened_at.localeCompare(other.opened_at)),
    over: over.sort((one, other) => (other.resolved_at ?? '').localeCompare(one.resolved_at ?? '')),
  };
}
