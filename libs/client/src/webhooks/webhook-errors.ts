/** A request to a receiver that is not to be heeded: answer 400. */
export abstract class WebhookVerificationError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** It has no signature, or one that cannot be read; or its body is no event. */
export class WebhookFormError extends WebhookVerificationError {}
/** None of the secrets made the signature: anybody could have sent it. */
export class WebhookSignatureError extends WebhookVerificationError {}
/** It was signed, but at another time than is tolerated: somebody who saw it may be sending it again. */
export class WebhookTimestampError extends WebhookVerificationError {}
