import { Button, Group, Pill } from '@mantine/core';
import { PlaceName } from '../../values/place.tsx';
import { FILTER_LABELS, filterValue } from './filter-labels.ts';
import { type FilterName, filtersOf, type ShipmentFilters } from './shipment-search.ts';
import type { SearchState } from './use-shipment-search.ts';

/** What narrows the list and has no field of its own in view, each to be taken out. */
export function FilterPills({ state: { search, change, replace } }: { readonly state: SearchState }) {
  const filters = filtersOf(search);
  const names = Object.keys(filters) as FilterName[];
  if (names.length === 0) return null;
  const clear = () => replace({ sort: search.sort, columns: search.columns });
  return (
    <Group gap={6} role="group" aria-label="Narrowed by">
      {names
        .filter((name) => name !== 'q')
        .map((name) => (
          <Pill
            key={name}
            size="md"
            withRemoveButton
            onRemove={() => change({ [name]: undefined })}
            removeButtonProps={{
              'aria-label': `Take out ${FILTER_LABELS[name]}`,
              'aria-hidden': false,
              tabIndex: 0,
            }}
          >
            {FILTER_LABELS[name]}: <Value name={name} filters={filters} />
          </Pill>
        ))}
      <Button size="compact-sm" variant="subtle" onClick={clear}>
        Clear all
      </Button>
    </Group>
  );
}

function Value({ name, filters }: { readonly name: FilterName; readonly filters: ShipmentFilters }) {
  const value = filters[name];
  if (value === undefined) return null;
  if (name === 'origin_port' || name === 'destination_port') return <PlaceName code={String(value)} />;
  return <>{filterValue(name, value)}</>;
}
