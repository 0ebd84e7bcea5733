import { Button, Group, Indicator, Pill, TextInput } from '@mantine/core';
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks';
import { IconAdjustmentsHorizontal, IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { LazyMultiSelect, LazySelect, createOnDemandComponent } from '../../app/lazy.tsx';
import { PlaceName } from '../../values/place.tsx';
import classes from './filter-bar.module.css';
import { SHIPMENT_SORT_LABELS, type ShipmentSearchState, getFilterLabel, formatFilterValue } from './filters.ts';
import {
  type FilterName,
  LIST_FILTER_OPTIONS,
  SHIPMENT_SORTS,
  type ShipmentFilters,
  type ShipmentSort,
  DEFAULT_SHIPMENT_LIST_SORT,
  pickShipmentFilters,
} from './shipment-search.ts';

const LazyFilterDrawer = createOnDemandComponent(
  async () => (await import('./filter-drawer.tsx')).FilterDrawer,
  ({ opened }) => opened,
);

/** Id of the search field's HTML element. A keyboard shortcut focuses this element. */
export const SEARCH_FIELD_ID = 'shipment-search';
const SHIPMENT_SORT_OPTIONS = SHIPMENT_SORTS.map((value) => ({ value, label: SHIPMENT_SORT_LABELS[value] }));
/** Milliseconds between the last keystroke in the search field and the search. */
const SEARCH_DELAY_MS = 250;

export function ShipmentFilterBar({ state }: { readonly state: ShipmentSearchState }) {
  const { search, change } = state;
  const [isOpen, { open, close }] = useDisclosure(false);
  const { q: _q, status: _status, ...others } = pickShipmentFilters(search);
  const count = Object.keys(others).length;
  return (
    <>
      <Group gap="xs" align="end" role="search" aria-label="Shipments">
        <SearchBox q={search.q ?? ''} onSearch={(q) => change({ q })} />
        <LazyMultiSelect
          className={classes['wide']}
          label="Status"
          placeholder={search.status === undefined ? 'Any' : ''}
          data={LIST_FILTER_OPTIONS.status}
          value={search.status?.split(',') ?? []}
          onChange={(values) => change({ status: values.join(',') })}
          clearable
          miw={180}
          maw={360}
        />
        <LazySelect
          className={classes['order']}
          label="Sort by"
          data={SHIPMENT_SORT_OPTIONS}
          value={search.sort ?? DEFAULT_SHIPMENT_LIST_SORT}
          onChange={(sort) => change({ sort: sort as ShipmentSort })}
          allowDeselect={false}
          w={200}
        />
        <Indicator label={count} size={18} disabled={count === 0} color="blue.8">
          <Button
            variant="default"
            leftSection={<IconAdjustmentsHorizontal size={16} aria-hidden />}
            onClick={open}
            aria-haspopup="dialog"
          >
            Filters
          </Button>
        </Indicator>
      </Group>
      <FilterPills state={state} />
      <LazyFilterDrawer state={state} opened={isOpen} onClose={close} />
    </>
  );
}

interface SearchBoxProps {
  readonly q: string;
  readonly onSearch: (q: string | undefined) => void;
}

/**
 * Search field of the shipment list. The search runs while the user types. If the page URL changes meanwhile, the field
 * keeps the typed text.
 */
function SearchBox({ q, onSearch }: SearchBoxProps) {
  const [typed, setTyped] = useState(q);
  const sent = useRef(q);
  const find = useDebouncedCallback((text: string) => {
    sent.current = text.trim();
    onSearch(sent.current === '' ? undefined : sent.current);
  }, SEARCH_DELAY_MS);
  useEffect(() => {
    if (q === sent.current) return;
    sent.current = q;
    setTyped(q);
  }, [q]);
  return (
    <TextInput
      id={SEARCH_FIELD_ID}
      className={classes['search']}
      label="Search"
      placeholder="Reference, container, party or vessel"
      leftSection={<IconSearch size={16} aria-hidden />}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        find(event.currentTarget.value);
      }}
    />
  );
}

/** Shows the active filters. Each filter has a button that removes it. */
function FilterPills({ state: { search, change, replace } }: { readonly state: ShipmentSearchState }) {
  const filters = pickShipmentFilters(search);
  const names = Object.keys(filters) as FilterName[];
  if (names.length === 0) return null;
  const clear = () => replace({ sort: search.sort, columns: search.columns });
  return (
    <Group gap={6} role="group" aria-label="Active filters">
      {names
        .filter((name) => name !== 'q')
        .map((name) => (
          <Pill
            key={name}
            size="md"
            withRemoveButton
            onRemove={() => change({ [name]: undefined })}
            removeButtonProps={{
              'aria-label': `Remove filter ${getFilterLabel(name)}`,
              'aria-hidden': false,
              tabIndex: 0,
            }}
          >
            {getFilterLabel(name)}: <FilterValueText name={name} filters={filters} />
          </Pill>
        ))}
      <Button size="compact-sm" variant="subtle" onClick={clear}>
        Clear filters
      </Button>
    </Group>
  );
}

function FilterValueText({ name, filters }: { readonly name: FilterName; readonly filters: ShipmentFilters }) {
  const value = filters[name];
  if (value === undefined) return null;
  if (name === 'origin_port' || name === 'destination_port') return <PlaceName code={String(value)} />;
  return <>{formatFilterValue(name, value)}</>;
}
