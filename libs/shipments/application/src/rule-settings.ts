import type { RuleSettings } from '@tracking/contracts';
import { LRUCache } from 'lru-cache';

/** By which exceptions open by themselves, of each workspace. */
export interface RuleSettingsReader {
  /** As they were at most five seconds ago. @throws Unavailable */
  of(workspaceId: string): Promise<RuleSettings>;
}

/** Workspaces whose settings are remembered: the longest unused are forgotten first. */
const MAX_REMEMBERED = 10_000;

/** Goes on with what it knew last where settings cannot be read: a shipment is written also while their store is away. */
export function remembering(reader: RuleSettingsReader, atMost = MAX_REMEMBERED): RuleSettingsReader {
  // As sizes: with `max` the cache takes the memory of all of them when it is made.
  const known = new LRUCache<string, RuleSettings>({ maxSize: atMost, sizeCalculation: () => 1 });
  return {
    async of(workspaceId) {
      try {
        const settings = await reader.of(workspaceId);
        known.set(workspaceId, settings);
        return settings;
      } catch (error) {
        const last = known.get(workspaceId);
        if (last === undefined) throw error;
        return last;
      }
    },
  };
}
