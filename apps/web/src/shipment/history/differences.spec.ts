import { listDifferences } from './value-labels.ts';

it('lists every value that differs, at any depth', () => {
  const from = { eta: 'a', legs: [{ port: 'X' }, { port: 'Y' }], metadata: { team: 'blue' }, same: [1, 2] };
  const to = { eta: 'b', legs: [{ port: 'X' }], metadata: { team: 'red' }, same: [1, 2] };
  expect(listDifferences(from, to)).toEqual([
    { path: ['eta'], from: 'a', to: 'b' },
    { path: ['legs', '2', 'port'], from: 'Y', to: null },
    { path: ['metadata', 'team'], from: 'blue', to: 'red' },
  ]);
});

it('matches list items by an identifying field, not by position', () => {
  const [one, two] = [
    { number: 'A', days: 1 },
    { number: 'B', days: 2 },
  ];
  expect(listDifferences([one, two], [two, one])).toEqual([]);
  expect(listDifferences([one, two], [{ ...two, days: 3 }])).toEqual([
    { path: ['A', 'number'], from: 'A', to: null },
    { path: ['A', 'days'], from: 1, to: null },
    { path: ['B', 'days'], from: 2, to: 3 },
  ]);
});

it('treats all empty values as equal', () => {
  expect(listDifferences({ a: null, b: [] }, { a: undefined, b: null, c: null })).toEqual([]);
});
