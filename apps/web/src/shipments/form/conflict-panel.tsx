import { Alert, Button, Group, List, Radio, Stack, Text, Title } from '@mantine/core';
import type { Shipment } from '@tracking/client';
import { useEffect, useRef, useState } from 'react';
import { LOAD_TYPE_LABELS, TRANSPORT_MODE_LABELS } from '../../values/codes.ts';
import { UserLocalTimeText } from '../../values/time.tsx';
import { formatDate, isDateOnly } from '../../values/zones.ts';
import {
  SHIPMENT_FIELD_LABELS,
  type LegValues,
  type ShipmentField,
  type ShipmentFormValues,
  toShipmentFormValues,
} from './form-values.ts';
import {
  type Choice,
  type ShipmentEditConflict,
  type ConcurrentFieldChange,
  getActorName,
  mergeFormWithOtherChanges,
} from './save-shipment.ts';

interface ConflictPanelProps {
  readonly base: Shipment;
  readonly mine: ShipmentFormValues;
  readonly conflict: ShipmentEditConflict;
  readonly onSave: (values: ShipmentFormValues) => void;
  readonly onBack: (values: ShipmentFormValues) => void;
}

/**
 * Shows the fields that other users changed while the form was open. If the user has changed the same field to another
 * value, the user chooses between the two values.
 */
export function ConflictPanel({ base, mine, conflict, onSave, onBack }: ConflictPanelProps) {
  const [choices, setChoices] = useState<Partial<Record<ShipmentField, Choice>>>({});
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [conflict]);
  const { both, others, own } = conflict;
  const choose = (field: ShipmentField, choice: Choice) => setChoices((now) => ({ ...now, [field]: choice }));
  const chooseAll = (choice: Choice) => setChoices(Object.fromEntries(both.map(({ field }) => [field, choice])));
  const isChosen = both.every(({ field }) => choices[field] !== undefined);
  const ownLabels = own.map((field) => SHIPMENT_FIELD_LABELS[field]).join(', ');
  const [before, now] = [toShipmentFormValues(base), toShipmentFormValues(conflict.theirs)];
  return (
    <Alert color="yellow" role="region" aria-labelledby="conflict" maw="48rem">
      <Stack>
        <Title order={2} size="h5" id="conflict" tabIndex={-1} ref={heading}>
          {`${joinNamesOfConflictingEditors(conflict)} changed this shipment while you were editing`}
        </Title>
        {both.length > 0 && (
          <>
            <Group justify="space-between">
              <Text size="sm">Fields with conflicting changes. Choose which value to keep:</Text>
              <Group gap="xs">
                <Button size="xs" variant="default" onClick={() => chooseAll('mine')}>
                  Use all my values
                </Button>
                <Button size="xs" variant="default" onClick={() => chooseAll('theirs')}>
                  Use all their values
                </Button>
              </Group>
            </Group>
            {both.map(({ field, by }) => (
              <Radio.Group
                key={field}
                label={SHIPMENT_FIELD_LABELS[field]}
                description={`Before: ${formatFieldValue(before, field)}`}
                value={choices[field] ?? null}
                onChange={(choice) => choose(field, choice as Choice)}
              >
                <Stack gap={6} mt={6}>
                  <Radio value="mine" label={`Your value: ${formatFieldValue(mine, field)}`} />
                  <Radio
                    value="theirs"
                    label={`Their value: ${formatFieldValue(now, field)}`}
                    description={<ChangeAuthorText by={by} />}
                  />
                </Stack>
              </Radio.Group>
            ))}
          </>
        )}
        {others.length > 0 && (
          <div>
            <Text size="sm">Changes made by other users, which are kept:</Text>
            <List size="sm">
              {others.map(({ field, by }) => (
                <List.Item key={field}>
                  <b>{SHIPMENT_FIELD_LABELS[field]}</b>: {formatFieldValue(before, field)} →{' '}
                  {formatFieldValue(now, field)} <ChangeAuthorText by={by} />
                </List.Item>
              ))}
            </List>
          </div>
        )}
        {own.length > 0 && <Text size="sm">{`Your changes without conflicts: ${ownLabels}`}</Text>}
        <Group justify="end">
          <Button
            variant="default"
            disabled={!isChosen}
            onClick={() => onBack(mergeFormWithOtherChanges(mine, conflict, choices))}
          >
            Back to form
          </Button>
          <Button disabled={!isChosen} onClick={() => onSave(mergeFormWithOtherChanges(mine, conflict, choices))}>
            Save
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}

function ChangeAuthorText({ by }: Pick<ConcurrentFieldChange, 'by'>) {
  if (by === undefined) return null;
  return (
    <Text span size="xs" c="dimmed">
      {getActorName(by.actor)}, <UserLocalTimeText value={by.at} />
    </Text>
  );
}

/** Joins the names of the users who have changed the shipment, such as "Ann Visser and Nightly import". */
function joinNamesOfConflictingEditors({ both, others }: ShipmentEditConflict): string {
  const names = [...both, ...others].flatMap(({ by }) => (by === undefined ? [] : [getActorName(by.actor)]));
  const each = [...new Set(names)];
  return each.length === 0 ? 'Another user' : each.join(' and ');
}

const EMPTY_VALUE_TEXT = '—';

type Shown = { readonly [Field in ShipmentField]?: (value: ShipmentFormValues[Field]) => string };
/** Functions that format the values of fields, by field. A field without a function is shown as it is. */
const FIELD_FORMATTERS: Shown = {
  mode: (mode) => (mode === null ? '' : TRANSPORT_MODE_LABELS[mode]),
  load_type: (type) => (type === null ? '' : LOAD_TYPE_LABELS[type]),
  etd: formatTimeWithSeconds,
  eta: formatTimeWithSeconds,
  shipper: formatParty,
  consignee: formatParty,
  container_numbers: (numbers) => joinNonEmpty(numbers),
  references: (references) => joinNonEmpty(references.map(({ type, value }) => `${type} ${value}`)),
  metadata: (named) => joinNonEmpty(named.map(({ name, value }) => `${name}: ${value}`)),
  legs: (legs) => legs.map(formatLeg).join('; '),
};

/** Formats the value of a field as a single line. */
function formatFieldValue(values: ShipmentFormValues, field: ShipmentField): string {
  const show = FIELD_FORMATTERS[field] as ((value: unknown) => string) | undefined;
  const text = show === undefined ? (values[field] as string | null) : show(values[field]);
  return text === null || text === '' ? EMPTY_VALUE_TEXT : text;
}

function formatParty({ name, external_id }: ShipmentFormValues['shipper']): string {
  return joinNonEmpty([name, external_id]);
}

function formatLeg({ origin_port, destination_port, vessel, voyage, carrier_scac, etd, eta }: LegValues): string {
  const times = joinNonEmpty([formatTimeWithSeconds(etd), formatTimeWithSeconds(eta)], ' – ');
  const by = joinNonEmpty([carrier_scac, vessel, voyage], ' ');
  return joinNonEmpty([`${origin_port ?? '?'} → ${destination_port ?? '?'}`, by, times]);
}

function joinNonEmpty(parts: readonly string[], between = ', '): string {
  return parts.filter((part) => part !== '').join(between);
}

/** Formats a time with seconds, because two conflicting times may differ only in their seconds, or a date. */
function formatTimeWithSeconds(instant: string | null): string {
  if (instant === null) return '';
  if (isDateOnly(instant)) return formatDate(instant);
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(instant));
}
