import type { FastifyRequest } from 'fastify';

/** The cookie of a session, as browsers of one deployment get it. */
export class SessionCookie {
  readonly name: string;
  private readonly attributes: string;

  /** @param baseUrl where browsers reach the API: over https they never send the cookie without, nor to another host */
  constructor(baseUrl: string) {
    const isSecure = baseUrl.startsWith('https:');
    this.name = isSecure ? '__Host-session' : 'session';
    this.attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  }

  /** Its token in a request; undefined where there is none. */
  read({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
    for (const pair of headers.cookie?.split(';') ?? []) {
      const at = pair.indexOf('=');
      if (at > 0 && pair.slice(0, at).trim() === this.name) return pair.slice(at + 1).trim();
    }
    return undefined;
  }

  /** A `Set-Cookie` that gives it. @param expires when it ends at the latest */
  give(token: string, expires: Date): string {
    return `${this.name}=${token}; ${this.attributes}; Expires=${expires.toUTCString()}`;
  }

  /** A `Set-Cookie` that takes it away. */
  take(): string {
    return this.give('', new Date(0));
  }
}
