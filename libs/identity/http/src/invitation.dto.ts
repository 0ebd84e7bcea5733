import { ApiSchema } from '@nestjs/swagger';
import { Password, Text } from '@tracking/http';
import { Email } from './email.ts';

@ApiSchema({ name: 'LinkUse' })
export class LinkUseDto {
  @Text({
    description: 'The name of the user. Required, except for a password reset.',
    example: 'Jo Doe',
    kept: true,
  })
  name?: string;

  @Password({
    description: '10 to 200 characters, neither the e-mail nor one of the most common ones.',
    required: true,
  })
  password!: string;

  @Email({ description: 'By which they sign in; for the first admin, ignored for others.', example: 'jo@example.com' })
  email?: string | null;
}
