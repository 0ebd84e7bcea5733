import { Button, Divider, Drawer, Group, MultiSelect, Select, Stack, TextInput } from '@mantine/core';
import { Fragment, useState } from 'react';
import { PlaceSelect } from '../../values/place-select.tsx';
import { DateField } from '../../values/time-fields.tsx';
import { type ShipmentSearchState, getFilterLabel } from './filters.ts';
import {
  type DayFilter,
  type FilterName,
  LIST_FILTER_OPTIONS,
  type ListFilter,
  type ShipmentFilters,
  type YesNoFilter,
  pickShipmentFilters,
  listFiltersOfKind,
  toIsoDate,
  removeEmptyParameters,
} from './shipment-search.ts';

const [OWN_REFERENCE, ...REFERENCES] = listFiltersOfKind('reference');
const REFERENCE_AND_CONTAINER_NUMBER_FILTERS = [OWN_REFERENCE, ...listFiltersOfKind('container'), ...REFERENCES].filter(
  (name) => name !== undefined,
);
const CARRIER_AND_PARTY_FILTERS = listFiltersOfKind('carrier', 'party');
const FILTER_HINTS: Partial<Record<FilterName, string>> = {
  carrier_scac: 'SCAC or IATA code',
  shipper: 'Your code for the party. To find a name, use the search.',
  consignee: 'Your code for the party. To find a name, use the search.',
};

interface FilterDrawerProps {
  readonly state: ShipmentSearchState;
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Drawer with all filters of the shipment list. The list changes when the user confirms the filters. */
export function FilterDrawer({ state, opened, onClose }: FilterDrawerProps) {
  return (
    <Drawer opened={opened} onClose={onClose} title="Filters" position="right" size="sm">
      <ShipmentFilterForm state={state} onClose={onClose} />
    </Drawer>
  );
}

function ShipmentFilterForm({ state: { search, replace }, onClose }: Omit<FilterDrawerProps, 'opened'>) {
  const [draft, setDraft] = useState<ShipmentFilters>(pickShipmentFilters(search));
  // A new key after each clearing of the filters removes unconfirmed text from the form fields.
  const [clearings, setClearings] = useState(0);
  const change = (changes: ShipmentFilters) => setDraft((now) => ({ ...now, ...changes }));
  const show = () => {
    replace({ ...removeEmptyParameters(draft), sort: search.sort, columns: search.columns });
    onClose();
  };
  const clear = () => {
    setDraft(search.q === undefined ? {} : { q: search.q });
    setClearings((count) => count + 1);
  };
  const fields = { draft, change };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        show();
      }}
    >
      <Stack gap="sm">
        <MultiSelectFilterField name="status" {...fields} />
        <YesNoField name="active" yes="Active" no="Delivered, ended or cancelled" {...fields} />
        <YesNoField name="has_open_exceptions" yes="With open exceptions" no="Without open exceptions" {...fields} />
        <MultiSelectFilterField name="mode" {...fields} />
        <MultiSelectFilterField name="incoterm" {...fields} />
        <Divider label="Ports and airports" />
        {listFiltersOfKind('port').map((name) => (
          <PlaceSelect
            key={`${name} ${clearings}`}
            label={getFilterLabel(name)}
            value={draft[name] ?? null}
            onChange={(code) => change({ [name]: code ?? undefined })}
          />
        ))}
        <Divider label="Dates in your time zone" />
        <Fragment key={clearings}>
          <DayRangeFields from="eta_from" to="eta_to" {...fields} />
          <DayRangeFields from="created_from" to="created_to" {...fields} />
          <DayRangeFields from="updated_since" {...fields} />
        </Fragment>
        <Divider label="Exact numbers" />
        {[...REFERENCE_AND_CONTAINER_NUMBER_FILTERS, ...CARRIER_AND_PARTY_FILTERS].map((name) => (
          <TextInput
            key={name}
            label={getFilterLabel(name)}
            description={FILTER_HINTS[name]}
            value={draft[name] ?? ''}
            onChange={(event) => change({ [name]: event.currentTarget.value })}
          />
        ))}
        <Group justify="end">
          <Button variant="default" onClick={clear}>
            Clear filters
          </Button>
          <Button type="submit">Apply filters</Button>
        </Group>
      </Stack>
    </form>
  );
}

interface FilterFieldProps {
  readonly draft: ShipmentFilters;
  readonly change: (changes: ShipmentFilters) => void;
}

function MultiSelectFilterField({ name, draft, change }: FilterFieldProps & { readonly name: ListFilter }) {
  const value = draft[name];
  return (
    <MultiSelect
      label={getFilterLabel(name)}
      placeholder={value === undefined ? 'Any' : ''}
      data={LIST_FILTER_OPTIONS[name]}
      value={value?.split(',') ?? []}
      onChange={(values) => change({ [name]: values.length === 0 ? undefined : values.join(',') })}
      clearable
    />
  );
}

function YesNoField({
  name,
  yes,
  no,
  draft,
  change,
}: FilterFieldProps & { readonly name: YesNoFilter; readonly yes: string; readonly no: string }) {
  const value = draft[name];
  return (
    <Select
      label={getFilterLabel(name)}
      placeholder="Any"
      data={[
        { value: 'yes', label: yes },
        { value: 'no', label: no },
      ]}
      value={value === undefined ? null : value ? 'yes' : 'no'}
      onChange={(chosen) => change({ [name]: chosen === null ? undefined : chosen === 'yes' })}
      clearable
    />
  );
}

function DayRangeFields({
  from,
  to,
  draft,
  change,
}: FilterFieldProps & { readonly from: DayFilter; readonly to?: DayFilter }) {
  const names = to === undefined ? [from] : [from, to];
  return (
    <Group grow gap="xs">
      {names.map((name) => (
        <DateField
          key={name}
          type="date"
          label={getFilterLabel(name)}
          value={draft[name] === undefined ? '' : toIsoDate(draft[name], new Date())}
          onChange={(day) => change({ [name]: day })}
        />
      ))}
    </Group>
  );
}
