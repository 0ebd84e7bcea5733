import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, ReactNode, Ref } from 'react';

type Html = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof AnchorProps | 'children'> & {
  readonly ref?: Ref<HTMLAnchorElement>;
  readonly children?: ReactNode;
};

/** A link to a page, which the routes know. */
export const LinkAnchor = createLink((props: AnchorProps & Html) => <Anchor {...props} />);

/** The same, as a button looks. */
export const LinkButton = createLink(({ type: _none, ...props }: ButtonProps & Html) => (
  <Button component="a" {...props} />
));
