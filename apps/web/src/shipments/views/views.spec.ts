import { BUILT_IN_VIEWS, isSearchOfSavedView, parseStoredViews, addOrReplaceView, removeView } from './views.ts';

const late = { name: 'Late', search: { mode: 'ocean', sort: 'eta' } } as const;

it('parses stored views and leaves out invalid ones', () => {
  const kept = [late, { name: '' }, 'x', { name: 'Odd', search: { mode: 'balloon', q: 7 } }, null];
  expect(parseStoredViews(JSON.stringify(kept))).toEqual([late, { name: 'Odd', search: { q: '7' } }]);
});

it.each([undefined, '', '{', '7', 'null'])('parses “%s” as no views', (text) => {
  expect(parseStoredViews(text)).toEqual([]);
});

it('replaces the view with the same name', () => {
  const other = { name: 'Other', search: {} };
  const changed = { ...late, search: { q: 'x' } };
  expect(addOrReplaceView([late, other], changed)).toEqual([changed, other]);
  expect(addOrReplaceView([other], late)).toEqual([other, late]);
  expect(removeView([late, other], 'Late')).toEqual([other]);
});

it('recognizes the current view with parameters in any order, and compares columns only if the view has some', () => {
  expect(isSearchOfSavedView(late, { sort: 'eta', mode: 'ocean' })).toBe(true);
  expect(isSearchOfSavedView(late, { sort: 'eta', mode: 'ocean', columns: 'status' })).toBe(true);
  expect(isSearchOfSavedView(late, { mode: 'ocean' })).toBe(false);
  const narrow = { ...late, search: { ...late.search, columns: 'status' } };
  expect(isSearchOfSavedView(narrow, { sort: 'eta', mode: 'ocean', columns: 'eta' })).toBe(false);
});

it('has built-in views that are valid searches', () => {
  for (const view of BUILT_IN_VIEWS) expect(parseStoredViews(JSON.stringify([view]))).toEqual([view]);
});
