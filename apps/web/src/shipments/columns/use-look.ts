import { useLocalStorage } from '@mantine/hooks';
import type { SearchState } from '../search/use-shipment-search.ts';
import { type ColumnName, readColumns, USUAL_COLUMNS } from './column-names.ts';

export type Density = 'comfortable' | 'compact';

/** How the list looks: columns by the address, else as they were chosen last in this browser; density as chosen last. */
export function useLook({ search, change }: SearchState) {
  const [density, setDensity] = useLocalStorage<Density>({
    key: 'shipment-density',
    defaultValue: 'comfortable',
    serialize: (value) => value,
    deserialize: (text) => (text === 'compact' ? 'compact' : 'comfortable'),
  });
  const [own, setOwn] = useLocalStorage<readonly ColumnName[]>({
    key: 'shipment-columns',
    defaultValue: USUAL_COLUMNS,
    serialize: (names) => names.join(','),
    deserialize: (text) => readColumns(text) ?? USUAL_COLUMNS,
  });
  return {
    density,
    setDensity,
    columns: readColumns(search.columns) ?? own,
    /** The address has them too: whoever gets it sees the same ones. */
    setColumns: (names: readonly string[]) => {
      const columns = readColumns(names.join(',')) ?? USUAL_COLUMNS;
      const isUsual = columns.join() === USUAL_COLUMNS.join();
      setOwn(columns);
      change({ columns: isUsual ? undefined : columns.join(',') });
    },
  };
}
export type Look = ReturnType<typeof useLook>;
