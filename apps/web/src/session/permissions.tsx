import { Alert, Tooltip } from '@mantine/core';
import { type MouseEvent, type ReactElement, type ReactNode, cloneElement } from 'react';
import { explainMissingPermission } from './roles.ts';
import { type Permission, useSession } from './session.ts';

/** Returns the reason why the user lacks the permission. Undefined if the user has it. */
function useMissingPermission(permission: Permission): string | undefined {
  const { permissions, role, environment } = useSession();
  return permissions.includes(permission) ? undefined : explainMissingPermission(role, permission, environment);
}

/** Props of a button that `PermissionGate` sets. */
interface GatedButtonProps {
  'data-disabled'?: boolean;
  'aria-disabled'?: boolean;
  onClick?: ((event: MouseEvent<HTMLElement>) => void) | undefined;
}

interface PermissionGateProps {
  readonly permission: Permission;
  /** The button to disable. */
  readonly children: ReactElement<GatedButtonProps>;
}

/** Disables a button if the user lacks the permission. The reason is shown on hover and on keyboard focus. */
export function PermissionGate({ permission, children }: PermissionGateProps) {
  const reason = useMissingPermission(permission);
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

/** A page that requires a permission. Other users see the reason why they cannot use it. */
export function RequirePermission({
  permission,
  children,
}: {
  readonly permission: Permission;
  readonly children: ReactNode;
}) {
  const reason = useMissingPermission(permission);
  if (reason === undefined) return children;
  return <Alert title="You do not have permission to view this page">{reason}</Alert>;
}
