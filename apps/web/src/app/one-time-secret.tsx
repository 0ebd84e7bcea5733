import { ActionIcon, Alert, Group, Modal, type ModalProps, Stack, Text, TextInput, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useIsMutating } from '@tanstack/react-query';
import { type ReactNode, createContext, useContext, useEffect, useState } from 'react';
import { CopyTextRenderPropWrapper } from './copy.tsx';

interface OneTimeSecretProps {
  /** Label of the secret, such as "Key". */
  readonly label: string;
  readonly secret: string;
  /** Advice to the user below the secret. The default advice fits API keys. */
  readonly about?: ReactNode;
}

/** Callback of the surrounding dialog, which `OneTimeSecret` calls when the secret becomes visible. */
const OnSecretShownContext = createContext<(isShown: boolean) => void>(() => undefined);

const DEFAULT_SECRET_ADVICE = 'Anyone who has the secret can use it. Store the secret in a secret manager.';

/** Shows a secret once, with a button to copy it. The page does not store the secret. */
export function OneTimeSecret({ label, secret, about = DEFAULT_SECRET_ADVICE }: OneTimeSecretProps) {
  const reportShown = useContext(OnSecretShownContext);
  useEffect(() => {
    reportShown(true);
    return () => reportShown(false);
  }, [reportShown]);
  return (
    <Stack>
      <Alert color="yellow" title={`Copy the ${label.toLowerCase()} now`}>
        <Text size="sm">
          {`The ${label.toLowerCase()} is shown only once. `}
          {about}
        </Text>
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
        <CopyTextRenderPropWrapper value={secret}>
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
        </CopyTextRenderPropWrapper>
      </Group>
    </Stack>
  );
}

/**
 * A dialog that shows a secret once. A click outside never closes the dialog, and the Escape key closes it only until
 * the secret is visible. While the request for the secret is pending, the dialog cannot be closed.
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
      <OnSecretShownContext value={setIsShown}>{children}</OnSecretShownContext>
    </Modal>
  );
}
