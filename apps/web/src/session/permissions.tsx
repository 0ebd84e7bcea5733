import { Alert, Tooltip } from '@mantine/core';
import { type MouseEvent, type ReactElement, type ReactNode, cloneElement } from 'react';
import { lacking } from './roles.ts';
import { type Permission, useSession } from './session.ts';

/** Why whoever is signed in may not; undefined where they may. */
function useLacking(permission: Permission): string | undefined {
  const { permissions, role, environment } = useSession();
  return permissions.includes(permission) ? undefined : lacking(role, permission, environment);
}

/** Of a button or the like. */
interface Pressed {
  'data-disabled'?: boolean;
  'aria-disabled'?: boolean;
  onClick?: ((event: MouseEvent<HTMLElement>) => void) | undefined;
}

interface Props {
  readonly permission: Permission;
  /** A button or the like, which is shown in any case. */
  readonly children: ReactElement<Pressed>;
}

/** What somebody may not do is there, and says why it cannot be used: also to who comes to it by keys. */
export function May({ permission, children }: Props) {
  const why = useLacking(permission);
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

/** A page for who has the permission; others are told why it is not for them. */
export function OnlyWith({ permission, children }: { readonly permission: Permission; readonly children: ReactNode }) {
  const why = useLacking(permission);
  if (why === undefined) return children;
  return <Alert title="This page is not for your role">{why}</Alert>;
}
