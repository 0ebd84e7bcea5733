import { queryOptions } from '@tanstack/react-query';
import type { ItemOf, Milestone } from '@tracking/client';
import { type Environment, api } from '../../session/api.ts';

type HistoryEntry = ItemOf<'listShipmentHistory'>;

/** What became of a milestone in one write; `from` is null when it was recorded, `to` when it was retracted. */
export interface MilestoneChange {
  readonly at: string;
  readonly actor: HistoryEntry['actor'];
  readonly from: Milestone | null;
  readonly to: Milestone | null;
}

/** What an entry of the history of a shipment tells of one of its milestones; undefined where that is nothing. */
export function changeOf({ at, actor, changes }: HistoryEntry, milestoneId: string): MilestoneChange | undefined {
  const { from = null, to = null } = (changes['milestone'] ?? {}) as { from?: Milestone | null; to?: Milestone | null };
  return [from?.id, to?.id].includes(milestoneId) ? { at, actor, from, to } : undefined;
}

/** The corrections and the retraction of a milestone, the newest first; read back to where it was recorded. */
export function milestoneHistoryQuery(environment: Environment, shipmentId: string, { id, revision }: Milestone) {
  return queryOptions({
    queryKey: ['milestone-history', environment, shipmentId, id, revision],
    queryFn: async ({ signal }): Promise<MilestoneChange[]> => {
      const changes: MilestoneChange[] = [];
      for await (const entry of api(environment).shipments.history(shipmentId, { limit: 200 }, { signal })) {
        const change = changeOf(entry, id);
        if (change?.from === null) break;
        if (change !== undefined) changes.push(change);
        if (changes.length >= revision - 1) break;
      }
      return changes;
    },
    enabled: revision > 1,
    staleTime: Infinity,
  });
}
