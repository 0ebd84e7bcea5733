import { Button, Stack } from '@mantine/core';
import { ShownOnce } from '../../app/shown-once.tsx';
import { Time } from '../../values/time.tsx';

interface Props {
  readonly email: string;
  readonly url: string;
  /** Until when it is good. */
  readonly until: string;
  readonly onClose: () => void;
}

/** A one-time link, to be handed to whom it is for. */
export function LinkShown({ email, url, until, onClose }: Props) {
  return (
    <Stack>
      <ShownOnce
        label="Link"
        secret={url}
        about={
          <>
            Send it to {email}, in a way that you trust: whoever has it sets the password. It is good once, until{' '}
            <Time value={until} />.
          </>
        }
      />
      <Button onClick={onClose}>Done</Button>
    </Stack>
  );
}
