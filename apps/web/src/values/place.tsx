import { Text, Stack } from '@mantine/core';
import { useQuery, useQueries } from '@tanstack/react-query';
import { useEnvironment } from '../session/session.ts';
import { placeQuery, type Place } from './places.ts';
import { isSameClock, momentIn, OWN_ZONE } from './zones.ts';

interface Props {
  /** UN/LOCODE or IATA code; a dash where null. */
  readonly code: string | null;
}

/** A port or airport: its name where that is known, and its code. */
export function PlaceName({ code }: Props) {
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

/** Codes of places, of all that may be free text. */
const CODE = /^[A-Z]{2}[A-Z2-9]{3}$|^[A-Z]{3}$/;

/** What is known of places, by their codes; of none until it is read. What is no code is let be. */
export function usePlaces(names: readonly (string | null)[]): ReadonlyMap<string, Place> {
  const environment = useEnvironment();
  const codes = [...new Set(names)].filter((name) => name !== null && CODE.test(name)) as string[];
  return useQueries({
    queries: codes.map((code) => placeQuery(environment, code)),
    combine: (found) => new Map(found.flatMap(({ data }) => (data ? [[data.code, data] as const] : []))),
  });
}

/** A place as a milestone tells it: by its code or in words. */
export function PlaceOrText({ name }: { readonly name: string | null }) {
  return name === null || CODE.test(name) ? <PlaceName code={name} /> : <>{name}</>;
}

interface PlaceTimeProps {
  /** ISO 8601; a dash where null. */
  readonly value: string | null;
  /** IANA zone of the place, where that is known. */
  readonly zone: string | null | undefined;
}

/** A time by the clocks of its place, and by the reader's below where those show another. */
export function PlaceTime({ value, zone }: PlaceTimeProps) {
  if (value === null) return <Text span inherit c="dimmed" children="—" />;
  const isElsewhere = zone !== null && zone !== undefined && !isSameClock(value, zone, OWN_ZONE);
  return (
    <Stack gap={0} component="span">
      <time dateTime={value}>{momentIn(value, isElsewhere ? zone : OWN_ZONE)}</time>
      {isElsewhere && (
        <Text span size="xs" c="dimmed">
          {momentIn(value, OWN_ZONE)}, your time
        </Text>
      )}
    </Stack>
  );
}
