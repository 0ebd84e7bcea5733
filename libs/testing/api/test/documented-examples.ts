import type { ErrorBody, JsonObject } from '@tracking/contracts';

/** Returns the JSON of an example of the page `/docs/errors`, by the id of its article. */
export function readErrorExampleFromDocsPage(page: string, id: string): Record<string, unknown> {
  const article = page.split(`<article id="${id}">`)[1]?.split('</article>')[0] ?? '';
  const [, code = ''] = /<pre><code class="language-json">(.*?)<\/code>/s.exec(article) ?? [];
  return JSON.parse(
    code
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&'),
  ) as Record<string, unknown>;
}

/** Replaces ids of resources, as in the examples. */
export function replaceIdsWithPlaceholders(value: unknown): unknown {
  const text = JSON.stringify(value).replaceAll(/\b(shp|mst|exc|doc|whe|dlv|rpl|key|usr|sva|req)_[a-z0-9…]+/g, '$1_…');
  return JSON.parse(text);
}

/** Numbers and hashes of an example may differ from those of a response. */
function maskNumbersAndHashes(text: string): string {
  return text.replaceAll(/\b[0-9a-f]{64}\b/g, 'SHA').replaceAll(/\d{2,}/g, 'N');
}

/**
 * Expects that the example of an error on the page `/docs/errors` equals the response, with its status. Ids, numbers of
 * two digits or more, and hashes may differ.
 */
export function expectErrorToEqualDocumentedExample(
  page: string,
  code: string,
  response: { readonly status: number; readonly body: JsonObject },
): void {
  const normalize = (error: unknown) => {
    const hidden = replaceIdsWithPlaceholders(error) as ErrorBody['error'];
    return { ...hidden, message: maskNumbersAndHashes(hidden.message), request_id: 'req_…' };
  };
  expect(normalize(response.body['error'])).toEqual(normalize(readErrorExampleFromDocsPage(page, code)['error']));
  expect(page).toContain(`<code>${code}</code></a> <small>${response.status}</small>`);
}
