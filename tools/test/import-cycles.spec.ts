import { findCycles } from '../import-cycles.mjs';

const graph = (imports: Readonly<Record<string, readonly string[]>>) => new Map(Object.entries(imports));

describe('import cycles', () => {
  it.each([
    ['files that import each other', { a: ['b'], b: ['a'] }, [['a', 'b', 'a']]],
    ['a way back over several files', { a: ['b'], b: ['c'], c: ['d'], d: ['b'] }, [['b', 'c', 'd', 'b']]],
    ['a file that imports itself', { a: ['a'] }, [['a', 'a']]],
  ])('are found: %s', (_, imports, cycles) => {
    expect(findCycles(graph(imports))).toEqual(cycles);
  });

  it('are not two ways to the same file', () => {
    expect(findCycles(graph({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [] }))).toEqual([]);
  });

  it('are not imports of files that are not sources', () => {
    expect(findCycles(graph({ a: ['generated'] }))).toEqual([]);
  });
});
