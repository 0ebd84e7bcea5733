import type { Shipment } from '@tracking/client';

export type Selection = ReadonlySet<string>;
export const NO_SELECTED_SHIPMENTS: Selection = new Set();

/** Selects a shipment, or deselects it if it is already selected. */
export function toggleShipment(selection: Selection, id: string): Selection {
  const next = new Set(selection);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** Removes the given shipments from the selection. */
export function deselectShipments(selection: Selection, shipments: readonly Shipment[]): Selection {
  const next = new Set(selection);
  for (const { id } of shipments) next.delete(id);
  return next;
}

/** Selects all rows between two positions. Either position may come first. */
export function selectRowRange(selection: Selection, rows: readonly Shipment[], from: number, to: number): Selection {
  const range = rows.slice(Math.min(from, to), Math.max(from, to) + 1);
  return new Set([...selection, ...range.map(({ id }) => id)]);
}

/** Returns the selected shipments that the list still contains. Actions apply only to these shipments. */
export function listSelectedShipments(selection: Selection, rows: readonly Shipment[]): readonly Shipment[] {
  return selection.size === 0 ? [] : rows.filter(({ id }) => selection.has(id));
}

/** Action in the shipment list that a keyboard shortcut starts. */
export type KeyAction =
  | { readonly kind: 'move'; readonly to: number; readonly selects: boolean }
  | { readonly kind: 'select' | 'select-none' | 'search' | 'help' };

interface PressedKey {
  readonly key: string;
  readonly shiftKey: boolean;
}
export interface ActiveRowIndexAndCount {
  /** Index of the active row in the list. It is -1 if no row is active. */
  readonly active: number;
  readonly count: number;
  /** Number of rows that the Page Up and Page Down keys move. */
  readonly page: number;
}

/** Returns the action of a pressed key. Returns undefined if the key is not a shortcut. */
export function findKeyboardAction(
  { key, shiftKey }: PressedKey,
  place: ActiveRowIndexAndCount,
): KeyAction | undefined {
  switch (key) {
    case '/':
      return { kind: 'search' };
    case '?':
      return { kind: 'help' };
    case 'x':
      return { kind: 'select' };
    case 'Escape':
      return { kind: 'select-none' };
    default: {
      const to = findRowIndexForKey(key, place);
      if (to === undefined || place.count === 0) return undefined;
      return { kind: 'move', to: Math.max(0, Math.min(place.count - 1, to)), selects: shiftKey };
    }
  }
}

function findRowIndexForKey(key: string, { active, count, page }: ActiveRowIndexAndCount): number | undefined {
  switch (key) {
    case 'ArrowDown':
    case 'j':
    case 'J':
      return active + 1;
    case 'ArrowUp':
    case 'k':
    case 'K':
      return active - 1;
    case 'PageDown':
      return active + page;
    case 'PageUp':
      return active - page;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return undefined;
  }
}
