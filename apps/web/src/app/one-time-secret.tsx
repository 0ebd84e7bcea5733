import { ActionIcon, Alert, Group, Modal, type ModalProps, Stack, Text, TextInput, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useIsMutating } from '@tanstack/react-query';
import { type ReactNode, createContext, useContext, useEffect, useState } from 'react';
import { CopyText } from './copy.tsx';

interface OneTimeSecretProps {
  /** Label of the secret, such as "Key". */
  readonly label: string;
  readonly secret: string;
  /** Advice to the user. The default is the advice for keys. */
  readonly about?: ReactNode;
}

/** Reports to the surrounding dialog that the secret is visible. */
const SecretShownContext = createContext<(isShown: boolean) => void>(() => undefined);

const DEFAULT_SECRET_ADVICE = 'Anyone who has it can use it. Store it in a secret manager.';

/** Shows a secret once. The page does not keep the secret. */
export function OneTimeSecret({ label, secret, about = DEFAULT_SECRET_ADVICE }: OneTimeSecretProps) {
  const reportShown = useContext(SecretShownContext);
  useEffect(() => {
    reportShown(true);
    return () => reportShown(false);
  }, [reportShown]);
  return (
    <Stack>
      <Alert color="yellow" title="Copy it now">
        <Text size="sm">It is shown only once. {about}</Text>
      </Alert>
      <Group align="end" wrap="nowrap" gap="xs">
        <TextInput
          label={label}
          value={secret}
          readOnly
          ff="monospace"
          flex={1}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyText value={secret}>
          {({ copied, copy }) => (
            <Tooltip label={copied ? 'Copied' : 'Copy'}>
              <ActionIcon
                size={36}
                variant="default"
                onClick={copy}
                aria-label={copied ? 'Copied' : `Copy the ${label}`}
              >
                {copied ? <IconCheck size={18} /> : <IconCopy size={18} />}
              </ActionIcon>
            </Tooltip>
          )}
        </CopyText>
      </Group>
    </Stack>
  );
}

/**
 * A dialog that shows a secret once. A click outside never closes the dialog. Escape does not close the dialog once the
 * secret is visible. Nothing closes the dialog while the request for the secret is pending.
 */
export function SecretDialog({ onClose, children, ...rest }: ModalProps) {
  const isPending = useIsMutating() > 0;
  const [isShown, setIsShown] = useState(false);
  return (
    <Modal
      {...rest}
      onClose={() => {
        if (!isPending) onClose();
      }}
      closeOnClickOutside={false}
      closeOnEscape={!isShown}
      closeButtonProps={{ disabled: isPending }}
    >
      <SecretShownContext value={setIsShown}>{children}</SecretShownContext>
    </Modal>
  );
}
