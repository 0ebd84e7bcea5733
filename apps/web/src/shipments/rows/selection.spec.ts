import { findKeyboardAction } from './selection.ts';

const place = { active: 5, count: 100, page: 10 };
const press = (key: string, shiftKey = false) => findKeyboardAction({ key, shiftKey }, place);

it.each([
  ['j', 6],
  ['ArrowDown', 6],
  ['k', 4],
  ['ArrowUp', 4],
  ['PageDown', 15],
  ['PageUp', 0],
  ['Home', 0],
  ['End', 99],
])('%s moves to row %i', (key, to) => {
  expect(press(key)).toEqual({ kind: 'move', to, selects: false });
});

it('selects the rows between with Shift', () => {
  expect(press('J', true)).toEqual({ kind: 'move', to: 6, selects: true });
  expect(press('ArrowUp', true)).toEqual({ kind: 'move', to: 4, selects: true });
});

it('moves from no row to the first row, and stays within the rows', () => {
  expect(findKeyboardAction({ key: 'j', shiftKey: false }, { ...place, active: -1 })).toMatchObject({ to: 0 });
  expect(findKeyboardAction({ key: 'j', shiftKey: false }, { ...place, active: 99 })).toMatchObject({ to: 99 });
  expect(findKeyboardAction({ key: 'j', shiftKey: false }, { ...place, count: 0 })).toBeUndefined();
});

it.each([
  ['x', 'select'],
  ['Escape', 'select-none'],
  ['/', 'search'],
  ['?', 'help'],
])('maps %s to the action %s', (key, kind) => {
  expect(press(key)).toEqual({ kind });
});

it('ignores other keys', () => {
  expect(press('Enter')).toBeUndefined();
});
