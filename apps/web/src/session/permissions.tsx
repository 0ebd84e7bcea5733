import { Alert, Tooltip } from '@mantine/core';
import { type MouseEvent, type ReactElement, type ReactNode, cloneElement } from 'react';
import { missingPermissionText } from './roles.ts';
import { type Permission, useSession } from './session.ts';

/** Why the user lacks the permission; undefined if they have it. */
function useMissingPermission(permission: Permission): string | undefined {
  const { permissions, role, environment } = useSession();
  return permissions.includes(permission) ? undefined : missingPermissionText(role, permission, environment);
}

/** The props of a button that `May` sets. */
interface GatedButtonProps {
  'data-disabled'?: boolean;
  'aria-disabled'?: boolean;
  onClick?: ((event: MouseEvent<HTMLElement>) => void) | undefined;
}

interface Props {
  readonly permission: Permission;
  /** A button, which is shown in any case. */
  readonly children: ReactElement<GatedButtonProps>;
}

/** Disables a button without the permission. The reason is shown on hover and on keyboard focus. */
export function PermissionGate({ permission, children }: Props) {
  const why = useMissingPermission(permission);
  if (why === undefined) return children;
  const disabled = {
    'data-disabled': true,
    'aria-disabled': true,
    onClick: (event: MouseEvent<HTMLElement>) => event.preventDefault(),
  };
  return (
    <Tooltip label={why} multiline maw={320} events={{ hover: true, focus: true, touch: true }}>
      {cloneElement(children, disabled)}
    </Tooltip>
  );
}

/** A page that requires a permission; other users see why they cannot use it. */
export function RequirePermission({
  permission,
  children,
}: {
  readonly permission: Permission;
  readonly children: ReactNode;
}) {
  const why = useMissingPermission(permission);
  if (why === undefined) return children;
  return <Alert title="You do not have permission to view this page">{why}</Alert>;
}
