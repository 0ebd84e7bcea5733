export const DOCS_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Shipment Tracking API</title>
    <link rel="icon" href="docs/assets/favicon-32x32.png">
    <link rel="stylesheet" href="docs/assets/swagger-ui.css">
    <link rel="stylesheet" href="docs/nav.css">
  </head>
  <body>
    <nav><strong>Shipment Tracking API</strong> <a href="docs">Operations</a> <a href="docs/errors">Errors</a> <a href="docs/webhooks">Webhooks</a></nav>
    <div id="api"></div>
    <script src="docs/assets/swagger-ui-bundle.js"></script>
    <script src="docs/init.js"></script>
  </body>
</html>
`;

/** The server of the page is the one to try things on, whatever name the description gives it. */
export const DOCS_SCRIPT = `const show = async () => {
  const here = new URL('.', location.href).href;
  const response = await fetch(here + 'openapi.json');
  const spec = await response.json();
  spec.servers = [{ url: here.replace(/\\/$/, '') }];
  SwaggerUIBundle({ spec, dom_id: '#api', deepLinking: true, validatorUrl: null });
};
show();
`;
