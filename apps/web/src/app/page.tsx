import {
  Alert,
  Anchor,
  type AnchorProps,
  Button,
  type ButtonProps,
  Center,
  Code,
  Group,
  Loader,
  Paper,
  Stack,
  Text,
  Title,
} from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { UseQueryResult } from '@tanstack/react-query';
import { createLink, useRouter } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, ReactNode, Ref } from 'react';
import { useEnvironment } from '../session/session.ts';
import { formatUnshownErrors, describeFailure } from './failures.ts';
import classes from './page.module.css';

interface PageHeaderProps {
  readonly title: string;
  /** Description of the page, shown as one line below the title. */
  readonly about?: ReactNode;
  /** Content shown next to the page title. */
  readonly beside?: ReactNode;
  /** Buttons on the right side of the page header. */
  readonly actions?: ReactNode;
}

/** The header of a page with title, description and buttons. It also sets the window title. */
export function PageHeader({ title, about, beside, actions }: PageHeaderProps) {
  const isTest = useEnvironment() === 'test';
  useDocumentTitle(isTest ? `Test · ${title} · Shipment tracking` : `${title} · Shipment tracking`);
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

interface QueryViewProps<T> {
  readonly query: UseQueryResult<T>;
  /** Name of the data within a sentence, such as "the shipment". */
  readonly what: string;
  readonly children: (data: T) => ReactNode;
}

/**
 * Shows the data of a query, a loading indicator, or an error. The previous data stays visible while the query
 * refetches.
 */
export function QueryResultPanel<T>({ query, what, children }: QueryViewProps<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.isError) return <ErrorAlert error={query.error} reset={() => void query.refetch()} />;
  return (
    <Center p="xl">
      <Loader role="status" aria-label={`Loading ${what}`} />
    </Center>
  );
}

/** Shows an error in place of data, with a button to try again. */
export function ErrorAlert({ error, reset }: { readonly error: unknown; readonly reset?: () => void }) {
  const router = useRouter();
  const { title, message, requestId } = describeFailure(error);
  const retry = async () => {
    reset?.();
    await router.invalidate();
  };
  return (
    <Alert color="red" role="alert" title={title} m="md">
      <Stack align="start" gap="xs">
        <Text size="sm">{message}</Text>
        {requestId !== undefined && (
          <Text size="xs" c="dimmed">
            Request ID: <Code>{requestId}</Code>
          </Text>
        )}
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={() => void retry()}>
            Try again
          </Button>
          <Button size="xs" variant="subtle" onClick={() => globalThis.location.reload()}>
            Reload the page
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}

interface FormErrorAlertProps {
  readonly error: unknown;
  /** Names of the form fields that show their own errors. */
  readonly fields: readonly string[];
  /** Title of the error alert, such as "Not saved". */
  readonly title: string;
}

/** Shows the errors of a form that none of its fields shows. Renders nothing if there are no such errors. */
export function FormErrorAlert({ error, fields, title }: FormErrorAlertProps) {
  const message = error === null ? undefined : formatUnshownErrors(error, fields);
  if (message === undefined) return null;
  return (
    <Alert color="red" role="alert" title={title}>
      {message}
    </Alert>
  );
}

/** The layout of pages with a single form, such as the sign-in page. The user is not signed in on these pages. */
export function NarrowPageLayout({ children }: { readonly children: ReactNode }) {
  return (
    <main className={classes['page']}>
      <Paper withBorder p="xl" className={classes['card']}>
        {children}
      </Paper>
    </main>
  );
}

export function PageNotFound() {
  return (
    <NarrowPageLayout>
      <Stack align="start">
        <Title order={1} size="h3">
          Page not found
        </Title>
        <Text>The address may be incomplete, or it may belong to another service.</Text>
        <LinkButton to="/shipments" search={{}} variant="default">
          Go to shipments
        </LinkButton>
      </Stack>
    </NarrowPageLayout>
  );
}

type AnchorAttributes = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof AnchorProps | 'children'> & {
  readonly ref?: Ref<HTMLAnchorElement>;
  readonly children?: ReactNode;
};

/** A link to a route. */
export const LinkAnchor = createLink((props: AnchorProps & AnchorAttributes) => <Anchor {...props} />);

/** A button that links to a route. */
export const LinkButton = createLink(({ type: _none, ...props }: ButtonProps & AnchorAttributes) => (
  <Button component="a" {...props} />
));
