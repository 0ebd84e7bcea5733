import type { ContainerProgress } from '../container-progress.ts';
import type { Derived, StatusSubject } from '../derive.ts';
import { RANK } from '../milestone-summary.ts';

// A step is done by its milestone or by any further along: by what counts as its status or a higher one, and by an attempted
// delivery, which leaves the status alone. Feeds skip steps.

/** Whether the goods have left, of whatever container. */
export function hasDeparted({ record, subjects }: Derived): boolean {
  return RANK[record.status] >= RANK.in_transit || subjects.some(isAttempted);
}

/** Whether the goods have arrived, of whatever container; they may have gone on since. */
export function hasArrived({ record, subjects }: Derived): boolean {
  return record.ata !== null || RANK[record.status] >= RANK.arrived || subjects.some(isAttempted);
}

/** Whether the container has left the terminal. */
export function hasLeftTerminal(subject: StatusSubject): boolean {
  return RANK[subject.progress.status] >= RANK.out_for_delivery || isAttempted(subject);
}

export function isDelivered({ status }: Pick<ContainerProgress, 'status'>): boolean {
  return RANK[status] >= RANK.delivered;
}

/** Whether the container is back where it came from, empty or with the goods. */
export function isReturned({ status }: Pick<ContainerProgress, 'status'>): boolean {
  return RANK[status] >= RANK.completed;
}

/** Reports whether a delivery of the container was attempted. */
export function isAttempted({ summaries }: StatusSubject): boolean {
  return summaries.some(({ opening }) => opening['delivery_failed'] !== undefined);
}
