export const LEAST_PASSWORD = 10;
export const PASSWORD_ABOUT = `${LEAST_PASSWORD} characters or more; a sentence is good`;

/** What is wrong with a password, as far as that is known before it is sent. */
export function passwordFault(password: string): string | null {
  return password.length < LEAST_PASSWORD ? `At least ${LEAST_PASSWORD} characters` : null;
}
