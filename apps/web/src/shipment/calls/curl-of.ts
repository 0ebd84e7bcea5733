export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With its query. */
  readonly path: string;
  readonly body?: object | undefined;
}

/** Stands for a key: none is ever put into a page. */
const KEY = '$API_KEY';

/** Of a path: what whoever runs the command sets before. */
const TO_BE_SET = /\$[A-Z_]+/g;

/** The call as a command of a shell. */
export function curlOf({ method, path, body }: HttpCall, base: string): string {
  const lines = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quoted(base + path).replaceAll(TO_BE_SET, `'"$&"'`)}`,
    `-H "Authorization: Bearer ${KEY}"`,
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]),
  ];
  return lines.join(' \\\n  ');
}

/** Nothing in it means anything to the shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
