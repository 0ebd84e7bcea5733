import type { RuleSettings } from '@tracking/contracts';

/** By which exceptions open by themselves, of each workspace. */
export interface RuleSettingsReader {
  /** As they were at most five seconds ago. @throws Unavailable */
  of(workspaceId: string): Promise<RuleSettings>;
}

/** Goes on with what it knew last where settings cannot be read: a shipment is written also while their store is away. */
export function remembering(reader: RuleSettingsReader): RuleSettingsReader {
  const known = new Map<string, RuleSettings>();
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
