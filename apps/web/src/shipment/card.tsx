import { Paper, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  readonly title: string;
  readonly children: ReactNode;
}

/** A part of the page under a title of its own. */
export function Card({ title, children }: Props) {
  return (
    <Paper withBorder p="sm" component="section" aria-label={title}>
      <Title order={2} size="xs" c="dimmed" fw={600} mb={6}>
        {title}
      </Title>
      {children}
    </Paper>
  );
}
