import { ApiSchema } from '@nestjs/swagger';
import { Password, Text } from '@tracking/http';

@ApiSchema({ name: 'SignIn' })
export class SignInDto {
  @Text({ description: 'E-mail of the user, in any case.', example: 'jo@example.com', required: true })
  email!: string;

  @Password({ description: 'Their password.', required: true })
  password!: string;

  @Text({
    description: 'Name or id of the workspace, for who is in several. Without it: the oldest whose password it is.',
  })
  workspace?: string | null;
}

@ApiSchema({ name: 'OwnName' })
export class OwnNameDto {
  @Text({ description: 'What one is called.', example: 'Jo Doe', required: true })
  name!: string;
}

@ApiSchema({ name: 'PasswordChange' })
export class PasswordChangeDto {
  @Password({ description: 'The password until now.', required: true })
  current_password!: string;

  @Password({
    description: '10 to 200 characters; neither the e-mail nor one of the most common passwords.',
    required: true,
  })
  new_password!: string;
}
