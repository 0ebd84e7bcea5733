import { Group, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useEnvironment } from '../session/session.ts';

interface Props {
  readonly title: string;
  /** One line below it. */
  readonly about?: ReactNode;
  /** Beside the title. */
  readonly beside?: ReactNode;
  /** On the right. */
  readonly actions?: ReactNode;
}

/** The head of a page, which the window is named after. */
export function PageHeader({ title, about, beside, actions }: Props) {
  const isTest = useEnvironment() === 'test';
  useDocumentTitle(`${isTest ? 'Test · ' : ''}${title} · Shipment tracking`);
  return (
    <Group justify="space-between" align="start">
      <Stack gap={2}>
        <Group gap="sm">
          <Title order={1} size="h3">
            {title}
          </Title>
          {beside}
        </Group>
        {about !== undefined && (
          <Text size="sm" c="dimmed" component="div">
            {about}
          </Text>
        )}
      </Stack>
      <Group gap="xs">{actions}</Group>
    </Group>
  );
}
