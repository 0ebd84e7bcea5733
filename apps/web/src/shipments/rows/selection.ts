import type { Shipment } from '@tracking/client';

export type Selection = ReadonlySet<string>;
export const NOTHING: Selection = new Set();

/** Adds the shipment, or removes it if it is selected. */
export function toggled(selection: Selection, id: string): Selection {
  const next = new Set(selection);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** Removes these shipments; all others stay selected. */
export function without(selection: Selection, shipments: readonly Shipment[]): Selection {
  const next = new Set(selection);
  for (const { id } of shipments) next.delete(id);
  return next;
}

/** Adds all rows between two positions, in either order. */
export function withRange(selection: Selection, rows: readonly Shipment[], from: number, to: number): Selection {
  const range = rows.slice(Math.min(from, to), Math.max(from, to) + 1);
  return new Set([...selection, ...range.map(({ id }) => id)]);
}

/** The selected shipments that the list still has: actions apply to nothing that is out of the list. */
export function selectedOf(selection: Selection, rows: readonly Shipment[]): readonly Shipment[] {
  return selection.size === 0 ? [] : rows.filter(({ id }) => selection.has(id));
}

/** An action of a key on the list. */
export type KeyAction =
  | { readonly kind: 'move'; readonly to: number; readonly selects: boolean }
  | { readonly kind: 'select' | 'select-none' | 'search' | 'help' };

interface KeyPress {
  readonly key: string;
  readonly shiftKey: boolean;
}
export interface KeyPlace {
  /** The index of the active row; -1 if there is none. */
  readonly active: number;
  readonly count: number;
  /** Number of rows in view. */
  readonly page: number;
}

/** Undefined if the key has no action. */
export function actionOf({ key, shiftKey }: KeyPress, place: KeyPlace): KeyAction | undefined {
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
      const to = placeOf(key, place);
      if (to === undefined || place.count === 0) return undefined;
      return { kind: 'move', to: Math.max(0, Math.min(place.count - 1, to)), selects: shiftKey };
    }
  }
}

function placeOf(key: string, { active, count, page }: KeyPlace): number | undefined {
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
