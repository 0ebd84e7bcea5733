import { Modal, type ModalProps } from '@mantine/core';
import { useIsMutating } from '@tanstack/react-query';

/** A dialog in which a secret is shown once: no click beside it closes it, and nothing while the answer with the secret is awaited. */
export function SecretDialog({ onClose, ...rest }: ModalProps) {
  const isAwaited = useIsMutating() > 0;
  return (
    <Modal
      {...rest}
      onClose={() => {
        if (!isAwaited) onClose();
      }}
      closeOnClickOutside={false}
      closeButtonProps={{ disabled: isAwaited }}
    />
  );
}
