import { Alert, Tooltip } from '@mantine/core';
import { type MouseEvent, type ReactElement, type ReactNode, cloneElement } from 'react';
import { explainMissingPermission } from './roles.ts';
import { type Permission, useSession } from './session.ts';

/** Returns the reason why the user lacks a permission. Returns undefined if the user has the permission. */
function useReasonOfMissingPermission(permission: Permission): string | undefined {
  const { permissions, role, environment } = useSession();
  return permissions.includes(permission) ? undefined : explainMissingPermission(role, permission, environment);
}

/** Props that `PermissionGuardedButton` sets on a button. */
interface DisabledButtonProps {
  'data-disabled'?: boolean;
  'aria-disabled'?: boolean;
  onClick?: ((event: MouseEvent<HTMLElement>) => void) | undefined;
}

interface PermissionGuardedButtonProps {
  readonly permission: Permission;
  /** Button that is disabled if the user lacks the permission. */
  readonly children: ReactElement<DisabledButtonProps>;
}

/** Disables its child button if the user lacks a permission. The tooltip of the button states the reason. */
export function PermissionGuardedButton({ permission, children }: PermissionGuardedButtonProps) {
  const reason = useReasonOfMissingPermission(permission);
  if (reason === undefined) return children;
  const disabled = {
    'data-disabled': true,
    'aria-disabled': true,
    onClick: (event: MouseEvent<HTMLElement>) => event.preventDefault(),
  };
  return (
    <Tooltip label={reason} multiline maw={320} events={{ hover: true, focus: true, touch: true }}>
      {cloneElement(children, disabled)}
    </Tooltip>
  );
}

/** Shows its content only to users with a permission. Other users see the reason why they cannot use the page. */
export function PagePermissionGate({
  permission,
  children,
}: {
  readonly permission: Permission;
  readonly children: ReactNode;
}) {
  const reason = useReasonOfMissingPermission(permission);
  if (reason === undefined) return children;
  return <Alert title="You do not have permission to view this page">{reason}</Alert>;
}
