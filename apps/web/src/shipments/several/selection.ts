import type { Shipment } from '@tracking/client';

export type Selection = ReadonlySet<string>;
export const NOTHING: Selection = new Set();

/** With it, or without it where it was selected. */
export function toggled(selection: Selection, id: string): Selection {
  const next = new Set(selection);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** Without these; all others stay selected. */
export function without(selection: Selection, shipments: readonly Shipment[]): Selection {
  const next = new Set(selection);
  for (const { id } of shipments) next.delete(id);
  return next;
}

/** With all rows from one to the other, whichever comes first. */
export function withRange(selection: Selection, rows: readonly Shipment[], from: number, to: number): Selection {
  const range = rows.slice(Math.min(from, to), Math.max(from, to) + 1);
  return new Set([...selection, ...range.map(({ id }) => id)]);
}

/** Those that are there: what one cannot see any more, one does nothing to. */
export function selectedOf(selection: Selection, rows: readonly Shipment[]): readonly Shipment[] {
  return selection.size === 0 ? [] : rows.filter(({ id }) => selection.has(id));
}
