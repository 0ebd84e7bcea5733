import { useEffect, useEffectEvent } from 'react';
import { actionOf, type KeyAction, type KeyPlace } from './row-keys.ts';

/** Where keys mean something of their own. */
const TYPED_INTO = 'input:not([type=checkbox]), textarea, select, [contenteditable]';
const OVER_THE_PAGE = '[role=dialog], [role=menu], [role=listbox], [role=radiogroup]';
/** They scroll the page where nothing of the list has the focus. */
const SCROLL = /^(Arrow|Page|Home|End)/;

/** Keys of the list, wherever on its page the focus is. */
export function useRowKeys(list: React.RefObject<HTMLElement | null>, place: KeyPlace, act: (it: KeyAction) => void) {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const { target } = event;
    if (!(target instanceof Element) || isForOthers(event, target)) return;
    const isInList = list.current?.contains(target) === true || target === document.body;
    if (SCROLL.test(event.key) && !isInList) return;
    const action = actionOf(event, place);
    if (action === undefined) return;
    event.preventDefault();
    act(action);
  });
  useEffect(() => {
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}

function isForOthers({ defaultPrevented, ctrlKey, metaKey, altKey }: KeyboardEvent, target: Element): boolean {
  if (defaultPrevented || ctrlKey || metaKey || altKey) return true;
  // A dialog may have lost the focus to the page.
  if (target === document.body && document.querySelector('[role=dialog]') !== null) return true;
  return target.closest(TYPED_INTO) !== null || target.closest(OVER_THE_PAGE) !== null;
}
