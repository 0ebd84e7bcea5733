import { Center, Loader } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failed } from './failed.tsx';

interface Props<T> {
  readonly query: UseQueryResult<T>;
  /** "the shipment" */
  readonly what: string;
  readonly children: (data: T) => ReactNode;
}

/** What is read, or that it is being read, or why it could not be. What was read before stays in view while it is read anew. */
export function Waiting<T>({ query, what, children }: Props<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.isError) return <Failed error={query.error} reset={() => void query.refetch()} />;
  return (
    <Center p="xl">
      <Loader role="status" aria-label={`Loading ${what}`} />
    </Center>
  );
}
