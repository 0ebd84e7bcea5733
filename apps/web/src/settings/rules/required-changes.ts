import type { WorkspaceSettings } from '@tracking/client';
import type { Mode } from '../../values/codes.ts';

export type Required = WorkspaceSettings['required_documents'];
type Types = readonly string[];

/** Modes of which other documents are required than before. */
export function changedModes(before: Required, after: Required): readonly Mode[] {
  const modes = [...new Set([...Object.keys(before), ...Object.keys(after)])] as Mode[];
  return modes.filter((mode) => !isSame(before[mode] ?? [], after[mode] ?? []));
}

/** As a merge patch; a mode that has its default again is null. Undefined where nothing differs. */
export function requiredPatch(
  before: Required,
  after: Required,
  defaults: Required,
): Record<string, Required[string] | null> | undefined {
  const changed = changedModes(before, after);
  if (changed.length === 0) return undefined;
  return Object.fromEntries(
    changed.map((mode) => [mode, isSame(after[mode] ?? [], defaults[mode] ?? []) ? null : (after[mode] ?? [])]),
  );
}

/** Whatever the order. */
function isSame(one: Types, other: Types): boolean {
  return one.length === other.length && one.every((type) => other.includes(type));
}
