import type { Scope } from '@tracking/contracts';
import type { Filter } from '@tracking/ports';

/** The fields by which a row is of a scope: indexes of what is listed by scope begin with them. */
export const SCOPE_FIELDS = ['workspace_id', 'environment'] as const;

/** The scope alone, also of something that has more fields. */
export function scopeOf({ workspace_id, environment }: Scope): Scope {
  return { workspace_id, environment };
}

export function inScope(scope: Scope): Filter {
  return { ...scopeOf(scope) };
}
