import type { ShipmentException } from '@tracking/client';
import type { KeyboardEvent } from 'react';
import { useMay } from '../../session/session.ts';
import type { Act } from './act-dialog.tsx';
import { useActs } from './use-acts.ts';

interface Parts {
  readonly rows: readonly ShipmentException[];
  /** Which one is opened. */
  readonly at: string | undefined;
  readonly me: string;
  readonly selected: ReadonlySet<string>;
  readonly open: (id: string | undefined) => void;
  readonly toggle: (ids: readonly string[], on: boolean) => void;
  readonly ask: (act: Act, exceptions: readonly ShipmentException[]) => void;
}

/** Keys of the queue: they work where it has the focus, and never while somebody types. */
export function useQueueKeys({ rows, at, me, selected, open, toggle, ask }: Parts) {
  const mayWrite = useMay('exceptions:write');
  const { acknowledge } = useActs();

  const move = (step: number) => {
    const next = rows[rows.findIndex(({ id }) => id === at) + step];
    if (next !== undefined) open(next.id);
  };
  const ofOpened: Readonly<Record<string, () => void>> = {
    j: () => move(1),
    k: () => move(-1),
    Escape: () => open(undefined),
  };
  const ofEach: Readonly<Record<string, (exception: ShipmentException) => void>> = {
    a: ({ id, status }) => status === 'open' && acknowledge.mutate({ id }),
    m: ({ id, assignee }) => assignee !== me && acknowledge.mutate({ id, assignee: me }),
    r: (exception) => ask('resolve', [exception]),
    x: ({ id }) => toggle([id], !selected.has(id)),
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const target = event.target as HTMLElement;
    if (!isShortcut(event)) return;
    if (at !== undefined) ofOpened[event.key]?.();
    const current = target.closest<HTMLElement>('[data-exception]')?.dataset['exception'] ?? at;
    const exception = rows.find(({ id, status }) => id === current && status !== 'resolved');
    if (!mayWrite || exception === undefined || ofEach[event.key] === undefined) return;
    // What opens by a key does not get it typed into its first field.
    event.preventDefault();
    ofEach[event.key]?.(exception);
  };
  return { move, onKeyDown };
}

/** Neither of the browser nor of a field that somebody types into. */
function isShortcut({ ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean {
  const isTyping = (target as HTMLElement).closest('form, textarea, select, input:not([type="checkbox"])') !== null;
  return !ctrlKey && !metaKey && !altKey && !isTyping;
}
