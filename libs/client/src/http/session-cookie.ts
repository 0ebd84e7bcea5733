/** The cookie of a session where no browser keeps it. In a browser it is never seen here, and none is sent from here. */
export class SessionCookie {
  constructor(private cookie: string | undefined) {}

  get header(): { readonly Cookie: string } | undefined {
    return this.cookie === undefined ? undefined : { Cookie: this.cookie };
  }

  /** @param lines `Set-Cookie` of an answer; an empty value takes the cookie away */
  heed(lines: readonly string[] | undefined): void {
    for (const line of lines ?? []) {
      const [, pair = '', value = ''] = /^\s*((?:__Host-)?session=([^;]*))/.exec(line) ?? [];
      if (pair !== '') this.cookie = value === '' ? undefined : pair;
    }
  }
}
