import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { CHROMIUM, CHROMIUM_FLAGS } from '@tracking/testing';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import type { Person } from '../people.ts';
import type { Subject } from '../subject.ts';

/** Describes tests that need a browser; where this machine has none, reports them as not tested, with the reason. */
export function describeInBrowser(name: string, tests: () => void): void {
  if (CHROMIUM !== undefined) describe(name, tests);
  else test.todo(`${name} [not tested: no Chromium, see CHROMIUM]`);
}

/** Where pictures of pages are kept; nowhere where it is not set. */
const { SCREENSHOTS } = process.env;

export const WIDE = { width: 1400, height: 900 };
export const NARROW = { width: 390, height: 844 };

export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    ...(CHROMIUM !== undefined && { executablePath: CHROMIUM }),
    args: CHROMIUM_FLAGS,
  });
}

/** A person's browser: with pages that say when something is wrong with them. */
export class Window {
  /** What pages complained of: errors of scripts, what their policy refused, answers that they did not expect. */
  readonly complaints: string[] = [];

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    private readonly base: string,
  ) {
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      // An answer of 4xx is one that the page may expect.
      if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) this.complaints.push(message.text());
    });
  }

  /** @param person signed in already; nobody where absent */
  static async open(browser: Browser, subject: Subject, person?: Person, viewport = WIDE): Promise<Window> {
    const [base = ''] = subject.urls;
    const context = await browser.newContext({
      viewport,
      baseURL: base,
      locale: 'en-GB',
      timezoneId: 'Europe/Amsterdam',
    });
    context.setDefaultTimeout(20_000);
    if (person !== undefined) {
      const [name = '', value = ''] = person.cookie.split('=');
      await context.addCookies([{ name, value, url: base, httpOnly: true, sameSite: 'Lax' }]);
    }
    return new Window(context, await context.newPage(), base);
  }

  async goto(path: string): Promise<void> {
    await this.page.goto(this.base + path);
    await this.settled();
  }

  /** Resolves when the page has shown what it read. */
  async settled(): Promise<void> {
    // A page is loaded when it is first gone to: until then nothing says that it is loading.
    // One thing may begin to be read when another one was.
    await this.page
      .locator('main:has(h1, [role=alert]):not(:has([aria-label^="Loading"], [aria-busy=true]))')
      .waitFor();
  }

  /** Resolves when the page has the colours. */
  async inColors(colorScheme: 'light' | 'dark'): Promise<void> {
    await this.page.emulateMedia({ colorScheme });
    await this.page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor({ state: 'attached' });
    await this.page.evaluate(
      'Promise.allSettled(document.getAnimations().map((one) => one instanceof CSSTransition && one.finished))',
    );
  }

  /** Violations that axe finds on the page, as lines with the rule and where. */
  async flaws(): Promise<readonly string[]> {
    const { violations } = await new AxeBuilder({ page: this.page }).analyze();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
  }

  async picture(name: string): Promise<void> {
    if (SCREENSHOTS === undefined) return;
    await mkdir(SCREENSHOTS, { recursive: true });
    await this.page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
  }

  close(): Promise<void> {
    return this.context.close();
  }
}
