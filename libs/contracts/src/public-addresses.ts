/** Where clients reach the product: links in answers and events begin with these, which have no slash at the end. */
export interface PublicAddresses {
  /** The web application. */
  readonly appUrl: string;
  /** The API, without `/v1`. */
  readonly baseUrl: string;
}
