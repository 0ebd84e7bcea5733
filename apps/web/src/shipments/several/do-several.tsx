import { Alert, Button, Group, List, Progress, Stack, Text } from '@mantine/core';
import type { Shipment } from '@tracking/client';
import { type FormEvent, type ReactNode, useState } from 'react';
import { failureOf } from '../../app/failures.ts';
import { nameOf } from '../shipment-labels.ts';
import { forEachOf, type Tally } from './for-each.ts';

/** Failures that are told one by one. */
const MOST_TOLD = 50;

interface Props {
  readonly shipments: readonly Shipment[];
  /** What it asks for before it begins. */
  readonly children: ReactNode;
  readonly action: { readonly label: string; readonly color?: string };
  readonly write: (shipment: Shipment) => Promise<unknown>;
  /** "cancelled" */
  readonly done: string;
  /** With those that failed or were not begun: they stay selected. */
  readonly onEnd: (left: readonly Shipment[]) => void;
  readonly onClose: () => void;
}

type State =
  | { readonly is: 'asking' }
  | { readonly is: 'running'; readonly outcome: Tally<Shipment>; readonly stop: () => void }
  | { readonly is: 'ended'; readonly outcome: Tally<Shipment> };

/** Does one thing to several shipments, one call for each, and tells what became of each. */
export function DoSeveral({ shipments, children, action, write, done, onEnd, onClose }: Props) {
  const [state, setState] = useState<State>({ is: 'asking' });
  const run = async () => {
    const stopped = new AbortController();
    const stop = () => stopped.abort();
    const onProgress = (outcome: Tally<Shipment>) => setState({ is: 'running', outcome, stop });
    onProgress({ done: 0, failed: [], left: shipments.length });
    const written = new Set<string>();
    const each = async (shipment: Shipment) => {
      await write(shipment);
      written.add(shipment.id);
    };
    const outcome = await forEachOf(shipments, { write: each, onProgress, signal: stopped.signal });
    onEnd(shipments.filter(({ id }) => !written.has(id)));
    if (outcome.failed.length === 0 && outcome.left === 0) onClose();
    else setState({ is: 'ended', outcome });
  };
  if (state.is === 'running') {
    const { outcome, stop } = state;
    const count = shipments.length - outcome.left;
    return (
      <Stack>
        <Progress aria-label="Progress" value={(100 * count) / shipments.length} />
        <Text size="sm">
          {count} of {shipments.length}
        </Text>
        <Group justify="end">
          <Button variant="default" onClick={stop}>
            Stop
          </Button>
        </Group>
      </Stack>
    );
  }
  if (state.is === 'ended') return <Ended outcome={state.outcome} done={done} onClose={onClose} />;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {children}
        <Group justify="end">
          <Button variant="default" onClick={onClose}>
            Leave it
          </Button>
          <Button type="submit" color={action.color}>
            {action.label}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface EndedProps {
  readonly outcome: Tally<Shipment>;
  readonly done: string;
  readonly onClose: () => void;
}

function Ended({ outcome: { done: count, failed, left }, done, onClose }: EndedProps) {
  return (
    <Stack>
      <Text size="sm">
        {count} {done}
        {left > 0 && `, ${left} not begun`}. Those that are not stay selected.
      </Text>
      {failed.length > 0 && (
        <Alert color="red" role="alert" title={`${failed.length} could not be ${done}`}>
          <List size="sm">
            {failed.slice(0, MOST_TOLD).map(({ item, error }) => (
              <List.Item key={item.id}>
                {nameOf(item)}: {failureOf(error).message}
              </List.Item>
            ))}
          </List>
          {failed.length > MOST_TOLD && <Text size="sm">And {failed.length - MOST_TOLD} more.</Text>}
        </Alert>
      )}
      <Group justify="end">
        <Button onClick={onClose}>Close</Button>
      </Group>
    </Stack>
  );
}
