import { Stack, Text } from '@mantine/core';
import { useQueries, useQuery } from '@tanstack/react-query';
import type { Milestone, Shipment } from '@tracking/client';
import { useEnvironment } from '../session/session.ts';
import { type Place, placeQuery } from './places.ts';
import { CalendarDateText, UserLocalTimeText } from './time.tsx';
import { USER_TIME_ZONE, getDayAtPlace, haveSameLocalTime, formatInstantInZone } from './zones.ts';

type TimePrecision = Shipment['eta_precision'];

interface PlaceNameProps {
  /** Code of the place (UN/LOCODE or IATA). If null, a dash is shown. */
  readonly code: string | null;
}

/** Shows the name of a port or airport with its code. If the name is unknown, only the code is shown. */
export function PlaceName({ code }: PlaceNameProps) {
  const { data: place } = useQuery({ ...placeQuery(useEnvironment(), code ?? ''), enabled: code !== null });
  if (code === null)
    return (
      <Text span c="dimmed" inherit>
        —
      </Text>
    );
  if (place?.name == null) return <>{code}</>;
  return (
    <>
      {place.name}{' '}
      <Text span c="dimmed" size="xs">
        {code}
      </Text>
    </>
  );
}

/** Pattern of a UN/LOCODE or an IATA airport code. */
const PLACE_CODE_PATTERN = /^[A-Z]{2}[A-Z2-9]{3}$|^[A-Z]{3}$/;

/** Reads places by code, and returns the known ones by code. Texts that are not codes are ignored. */
export function usePlaces(names: readonly (string | null)[]): ReadonlyMap<string, Place> {
  const environment = useEnvironment();
  const codes = [...new Set(names)].filter((name) => name !== null && PLACE_CODE_PATTERN.test(name)) as string[];
  return useQueries({
    queries: codes.map((code) => placeQuery(environment, code)),
    combine: (found) => new Map(found.flatMap(({ data }) => (data ? [[data.code, data] as const] : []))),
  });
}

/** Shows the location of a milestone, which is a port code or any text. */
export function MilestoneLocationText({ name }: { readonly name: string | null }) {
  return name === null || PLACE_CODE_PATTERN.test(name) ? <PlaceName code={name} /> : <>{name}</>;
}

interface PlaceTimeProps {
  /** ISO 8601 time to show. If null, a dash is shown. */
  readonly value: string | null;
  /** IANA time zone of the place. Undefined if it is unknown. */
  readonly zone: string | null | undefined;
  /** Precision of the time. A whole day is shown as its date. */
  readonly precision?: TimePrecision;
}

/** Shows a time in the time zone of the place. If the user's local time differs, a second line shows it. */
export function PlaceTimeText({ value, zone, precision = 'time' }: PlaceTimeProps) {
  if (value === null) return <Text span inherit c="dimmed" children="—" />;
  if (precision === 'day') return <CalendarDateText date={getDayAtPlace(value, zone)} />;
  const isElsewhere = zone !== null && zone !== undefined && !haveSameLocalTime(value, zone, USER_TIME_ZONE);
  return (
    <Stack gap={0} component="span">
      <time dateTime={value}>{formatInstantInZone(value, isElsewhere ? zone : USER_TIME_ZONE)}</time>
      {isElsewhere && (
        <Text span size="xs" c="dimmed">
          {`${formatInstantInZone(value, USER_TIME_ZONE)} in your time zone`}
        </Text>
      )}
    </Stack>
  );
}

interface MilestoneTimeProps {
  readonly milestone: Pick<Milestone, 'occurred_at' | 'occurred_at_precision' | 'timezone'>;
  /** Time zone of the place, which is used for a time if the milestone has no time zone. */
  readonly zone: string | null | undefined;
}

/** Shows the time of a milestone in the time zone of its place, or its date if it is a whole day. */
export function MilestoneTimeText({ milestone, zone }: MilestoneTimeProps) {
  const { occurred_at, occurred_at_precision: precision, timezone } = milestone;
  // The API ended a whole day without a time zone in UTC−12, even if the zone of the place has become known since then.
  const dayOrTimeZone = precision === 'day' ? timezone : (timezone ?? zone);
  return <PlaceTimeText value={occurred_at} zone={dayOrTimeZone} precision={precision} />;
}

interface PortDateProps {
  /** ISO 8601 time whose date is shown. If null, a dash is shown. */
  readonly value: string | null;
  readonly precision: TimePrecision;
  /** Code of the port at which a whole day is meant. */
  readonly port: string | null;
}

/** Shows the date of an expected time: of a whole day, the date at the port, otherwise the date of the user. */
export function PortDateText({ value, precision, port }: PortDateProps) {
  const isDay = value !== null && precision === 'day';
  const { data } = useQuery({ ...placeQuery(useEnvironment(), port ?? ''), enabled: isDay && port !== null });
  return isDay ? (
    <PlaceTimeText value={value} zone={data?.timezone} precision="day" />
  ) : (
    <UserLocalTimeText value={value} day />
  );
}
