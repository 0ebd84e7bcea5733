import { Group, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { LazyMultiSelect, LazySelect } from '../../../app/lazy.tsx';
import { useEnvironment } from '../../../session/session.ts';
import { EVENT_TYPE_OPTIONS, type EventType } from '../../../values/event-types.ts';
import { TimeRangeFields } from '../../../values/time-fields.tsx';
import { endpointsQuery } from '../webhook-queries.ts';
import { type DeliveryListUrlParameters, type FailureReason, parseDeliveryStatuses } from '../webhook-search.ts';
import { DELIVERY_STATUS_LABELS, FAILURE_REASON_LABELS, toSelectOptions } from '../webhook-labels.ts';

const DELIVERY_STATUS_OPTIONS = toSelectOptions(DELIVERY_STATUS_LABELS);
const FAILURE_REASON_OPTIONS = toSelectOptions(FAILURE_REASON_LABELS);

interface DeliveryFiltersProps {
  readonly search: DeliveryListUrlParameters;
  readonly onChange: (search: DeliveryListUrlParameters) => void;
  /** Filters that are hidden because all deliveries in the list have the same value. */
  readonly hiddenFilters?: readonly ('endpoint' | 'status' | 'event')[];
}

export function DeliveryFilters({ search, onChange, hiddenFilters = [] }: DeliveryFiltersProps) {
  const set = (change: DeliveryListUrlParameters) => onChange({ ...search, ...change });
  return (
    <Group gap="xs" align="end" role="search" aria-label="Filter deliveries">
      {!hiddenFilters.includes('endpoint') && (
        <EndpointSelect value={search.endpoint_id} onChange={(endpoint_id) => set({ endpoint_id })} />
      )}
      {!hiddenFilters.includes('status') && (
        <LazyMultiSelect
          size="xs"
          label="Status"
          placeholder={search.status === undefined ? 'Any' : ''}
          data={DELIVERY_STATUS_OPTIONS}
          value={[...parseDeliveryStatuses(search.status)]}
          onChange={(values) => set({ status: values.length > 0 ? values.join(',') : undefined })}
          clearable
        />
      )}
      <LazySelect
        size="xs"
        label="Event type"
        placeholder="Any"
        data={EVENT_TYPE_OPTIONS}
        value={search.event_type ?? null}
        onChange={(value) => set({ event_type: (value as EventType | null) ?? undefined })}
        searchable
        clearable
      />
      <LazySelect
        size="xs"
        label="Failure reason"
        placeholder="Any"
        data={FAILURE_REASON_OPTIONS}
        value={search.reason ?? null}
        onChange={(value) => set({ reason: (value as FailureReason | null) ?? undefined })}
        clearable
      />
      {!hiddenFilters.includes('event') && (
        <TextInput
          // The key resets the text field when the event id in the page URL changes.
          key={search.event_id ?? ''}
          size="xs"
          label="Event"
          placeholder="evt_…"
          defaultValue={search.event_id ?? ''}
          onBlur={(event) => set({ event_id: event.currentTarget.value.trim() || undefined })}
          onKeyDown={(event) => {
            if (event.key === 'Enter') set({ event_id: event.currentTarget.value.trim() || undefined });
          }}
        />
      )}
      <TimeRangeFields range={search} onChange={({ since, until }) => set({ since, until })} />
    </Group>
  );
}

interface EndpointSelectProps {
  readonly value: string | undefined;
  readonly onChange: (id: string | undefined) => void;
}

function EndpointSelect({ value, onChange }: EndpointSelectProps) {
  const { data = [] } = useQuery(endpointsQuery(useEnvironment()));
  const known = data.map(({ id, url, description }) => ({ value: id, label: description ?? url }));
  const isDeleted = value !== undefined && known.every((each) => each.value !== value);
  return (
    <LazySelect
      size="xs"
      label="Endpoint"
      placeholder="Any"
      // A deleted endpoint can still be selected, because its deliveries remain in the list.
      data={isDeleted ? [...known, { value, label: value }] : known}
      value={value ?? null}
      onChange={(id) => onChange(id ?? undefined)}
      searchable
      clearable
    />
  );
}
