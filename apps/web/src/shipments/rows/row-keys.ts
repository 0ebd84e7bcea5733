/** What a key asks of the list. */
export type KeyAction =
  | { readonly kind: 'move'; readonly to: number; readonly selects: boolean }
  | { readonly kind: 'select' | 'select-none' | 'search' | 'help' };

export interface KeyPress {
  readonly key: string;
  readonly shiftKey: boolean;
}
export interface KeyPlace {
  /** The row that keys are about; -1 before there is one. */
  readonly active: number;
  readonly count: number;
  /** Rows in view. */
  readonly page: number;
}

/** Undefined where it asks nothing. */
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
