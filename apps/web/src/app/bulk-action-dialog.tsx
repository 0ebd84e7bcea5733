import { Alert, Button, Group, List, Modal, Progress, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useBlocker } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { describeFailure } from './failures.ts';
import { type BulkWriteResult, writeItemsConcurrently } from './write.ts';

/** Maximum number of failed items that the dialog lists by name. It shows only a count of further failures. */
const MAX_LISTED_FAILURES = 50;

interface BulkActionDialogProps<Item> {
  readonly title: ReactNode;
  readonly items: readonly Item[];
  readonly nameOf: (item: Item) => string;
  /** Form fields that the user fills in before the bulk action starts. */
  readonly children: ReactNode;
  readonly action: { readonly label: string; readonly color?: string };
  /** Label of the button that closes the dialog before the bulk action starts. */
  readonly cancel: string;
  readonly write: (item: Item) => Promise<unknown>;
  /** Past participle of the action, such as "cancelled". */
  readonly done: string;
  /** Callback that receives the succeeded items at the end of each run of the bulk action. */
  readonly onDone: (done: readonly Item[]) => void;
  readonly onClose: () => void;
}

/** State of the bulk action dialog. `of` is the number of items in the current run. */
type State<Item> =
  | { readonly is: 'asking' }
  | { readonly is: 'running' | 'ended'; readonly of: number; readonly tally: BulkWriteResult<Item> };

/**
 * A dialog that applies one action to several items, with one request each. Closing the dialog during a run asks for
 * confirmation and stops the run. The dialog shows the outcome.
 */
export function BulkActionDialog<Item extends { readonly id: string }>(props: BulkActionDialogProps<Item>) {
  const { title, items, nameOf, children, action, cancel, write, done, onDone, onClose } = props;
  const [state, setState] = useState<State<Item>>({ is: 'asking' });
  const [isConfirmingStop, setIsConfirmingStop] = useState(false);
  const run = useRef<AbortController>(undefined);
  const isShown = useRef(false);
  const isRunning = state.is === 'running';
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
      run.current?.abort();
    };
  }, []);
  useBlocker({
    shouldBlockFn: () => !globalThis.confirm('The operation is still running. Leave the page and stop it?'),
    enableBeforeUnload: true,
    disabled: !isRunning,
  });

  const begin = async (batch: readonly Item[]) => {
    const stop = (run.current = new AbortController());
    const onProgress = (tally: BulkWriteResult<Item>) => setState({ is: 'running', of: batch.length, tally });
    onProgress({ done: [], failed: [], left: batch.length });
    setIsConfirmingStop(false);
    const tally = await writeItemsConcurrently(batch, { write, onProgress, signal: stop.signal });
    onDone(tally.done);
    const isComplete = tally.done.length === batch.length;
    if (isShown.current && !isComplete) return setState({ is: 'ended', of: batch.length, tally });
    const message = [
      formatBulkActionOutcome(tally, batch.length, done),
      ...tally.failed.slice(0, 1).map(failureText),
    ].join('. ');
    notifications.show({ message, color: isComplete ? 'green' : 'red', ...(!isComplete && { autoClose: 10_000 }) });
    if (isShown.current) onClose();
  };
  const unlistedCount = state.is === 'asking' ? 0 : state.tally.failed.length - MAX_LISTED_FAILURES;
  const failureText = ({ item, error }: BulkWriteResult<Item>['failed'][number]) =>
    `${nameOf(item)}: ${describeFailure(error).message}`;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void begin(items);
  };
  return (
    <Modal
      opened
      onClose={isRunning ? () => setIsConfirmingStop(true) : onClose}
      title={title}
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {state.is === 'asking' && (
        <form onSubmit={submit}>
          <Stack>
            {children}
            <Group justify="end">
              <Button variant="default" onClick={onClose}>
                {cancel}
              </Button>
              <Button type="submit" color={action.color}>
                {action.label}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
      {state.is !== 'asking' && (
        <Stack>
          <Progress
            value={(100 * (state.of - state.tally.left)) / state.of}
            aria-label="Progress of the operation"
            animated={isRunning}
          />
          <Text size="sm" role="status">
            {isRunning
              ? `${state.of - state.tally.left} of ${state.of}`
              : `${formatBulkActionOutcome(state.tally, state.of, done)}.`}
          </Text>
          {state.tally.failed.length > 0 && (
            <Alert color="red" role="alert" title="Some items failed">
              <List size="sm">
                {state.tally.failed.slice(0, MAX_LISTED_FAILURES).map((failure) => (
                  <List.Item key={failure.item.id}>{failureText(failure)}</List.Item>
                ))}
              </List>
              {unlistedCount > 0 && (
                <Text size="sm">{`And ${unlistedCount} more ${unlistedCount === 1 ? 'failure' : 'failures'}.`}</Text>
              )}
            </Alert>
          )}
          {isRunning ? (
            <StopBulkActionButtons
              isConfirmingStop={isConfirmingStop}
              onContinue={() => setIsConfirmingStop(false)}
              onStop={() => run.current?.abort()}
            />
          ) : (
            <Group justify="end">
              {state.tally.failed.length > 0 && (
                <Button variant="default" onClick={() => void begin(state.tally.failed.map(({ item }) => item))}>
                  Retry failed items
                </Button>
              )}
              <Button onClick={onClose} autoFocus>
                Done
              </Button>
            </Group>
          )}
        </Stack>
      )}
    </Modal>
  );
}

interface BulkProgressProps {
  readonly isConfirmingStop: boolean;
  readonly onContinue: () => void;
  readonly onStop: () => void;
}

function StopBulkActionButtons({ isConfirmingStop, onContinue, onStop }: BulkProgressProps) {
  const [isStopping, setIsStopping] = useState(false);
  const stop = () => {
    setIsStopping(true);
    onStop();
  };
  return (
    <>
      {isConfirmingStop && !isStopping && (
        <Text size="sm" role="alert">
          Stop the operation? Completed items stay completed. The remaining items are not changed.
        </Text>
      )}
      <Group justify="end">
        {isConfirmingStop && !isStopping && (
          <Button variant="default" onClick={onContinue} autoFocus>
            Continue
          </Button>
        )}
        <Button variant={isConfirmingStop ? 'filled' : 'default'} loading={isStopping} onClick={stop} autoFocus>
          Stop
        </Button>
      </Group>
    </>
  );
}

/** Describes the outcome of a bulk action, such as "3 of 6 cancelled, 1 failed, 2 not started". */
function formatBulkActionOutcome(
  { done: { length: count }, failed, left }: BulkWriteResult<unknown>,
  of: number,
  done: string,
): string {
  const parts = [
    `${count} of ${of} ${done}`,
    ...(failed.length > 0 ? [`${failed.length} failed`] : []),
    ...(left > 0 ? [`${left} not started`] : []),
  ];
  return parts.join(', ');
}
