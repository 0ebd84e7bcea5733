import { formatCurl } from './example-calls.ts';

const BASE = 'https://track.example.com';

describe('a call as a curl command', () => {
  it('contains a placeholder for the API key', () => {
    const call = { method: 'GET', path: '/v1/shipments/shp_1/milestones?classifier=all&limit=200' } as const;
    expect(formatCurl(call, BASE)).toBe(
      [
        "curl 'https://track.example.com/v1/shipments/shp_1/milestones?classifier=all&limit=200' \\",
        '  -H "Authorization: Bearer $API_KEY"',
      ].join('\n'),
    );
  });

  it('leaves placeholders of the path unquoted, so that the shell replaces them', () => {
    const call = { method: 'DELETE', path: '/v1/shipments/shp_1/milestones/$MILESTONE_ID' } as const;
    expect(formatCurl(call, BASE)).toContain(
      `'https://track.example.com/v1/shipments/shp_1/milestones/'"$MILESTONE_ID"''`,
    );
  });

  it('quotes the request body for the shell', () => {
    const call = { method: 'POST', path: '/v1/shipments', body: { note: "it's $HOME `x`" } } as const;
    expect(formatCurl(call, BASE)).toBe(
      [
        "curl -X POST 'https://track.example.com/v1/shipments' \\",
        '  -H "Authorization: Bearer $API_KEY" \\',
        "  -H 'Content-Type: application/json' \\",
        String.raw`  -d '{"note":"it'\''s $HOME ${'`x`'}"}'`,
      ].join('\n'),
    );
  });
});
