import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEnvironment } from '../session/session.ts';
import { placeQuery } from './place-queries.ts';

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
