import type { Described, OperationObject } from './described.ts';

/** What the single resource of a collection is called, and an id of one. */
const RESOURCES: Readonly<Record<string, readonly [string, string]>> = {
  shipments: ['shipment', 'shp_4h2k7qv3n5xw6yz2aabbccddee'],
  exceptions: ['exception', 'exc_4h2k7qv3n5xw6yz2aabbccddeeq5wn7txr3k2m'],
  documents: ['document', 'doc_4h2k7qv3n5xw6yz2aabbccddeeh2k7qv3n5xw6'],
  events: ['event', 'evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11'],
  webhook_endpoints: ['webhook endpoint', 'whe_5f3c2k7qv3n5xw6yz2aabbccdd'],
  webhook_deliveries: ['webhook delivery', 'dlv_9c1e7qv3n5xw6yz2aabbccddee'],
  webhook_replays: ['webhook replay', 'rpl_7d2a9c1e7qv3n5xw6yz2aabbcc'],
  service_accounts: ['service account', 'sva_5f3c2k7qv3n5xw6yz2aabbccdd'],
  api_keys: ['API key', 'key_5f3c2k7qv3n5xw6yz2aabbccdd'],
  users: ['user', 'usr_5f3c2k7qv3n5xw6yz2aabbccdd'],
  sessions: ['session', 'ses_5f3c2k7qv3n5xw6yz2aabbccdd'],
};
const OTHERS: Readonly<Record<string, readonly [string, string]>> = {
  milestone_id: ['Id of the milestone, `mst_…`.', 'mst_4h2k7qv3n5xw6yz2aabbccddeeq5wn7txr3k2m'],
  number: ['Number of a container of the shipment, however it is written.', 'CSQU3054383'],
  token: ['What stands behind the `#` of a one-time link.', 'inv_5f3c2k7qv3n5xw6yz2aabbccdd'],
};

/** Tells of every parameter of a path what it is, with a value; what an operation says itself stays. */
export function describePathParameters({ id, path, operation }: Described): void {
  const collection = path.split('/')[2] ?? '';
  for (const parameter of ofPath(operation)) {
    const [noun, example] = RESOURCES[collection] ?? [];
    const known =
      parameter.name === 'id' && noun
        ? [`Id of the ${noun}, \`${example?.slice(0, 4)}…\`.`, example]
        : OTHERS[parameter.name];
    if (!known) throw new Error(`${id}: nothing is known of {${parameter.name}}`);
    parameter.description ??= known[0] ?? '';
    parameter.example ??= known[1];
  }
}

function ofPath({ parameters = [] }: OperationObject) {
  return parameters.flatMap((parameter) => ('in' in parameter && parameter.in === 'path' ? [parameter] : []));
}
