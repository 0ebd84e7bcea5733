import { fileURLToPath } from 'node:url';
import { PROJECTIONS_PROTO, SHIPMENTS_PROTO, WEBHOOKS_PROTO, listProtoOperations } from '@tracking/distributed';
import ts from 'typescript';

const root = new URL('../../../', import.meta.url);

const INTERFACES = [
  ['ShipmentOperations', 'libs/shipments/application/src/operations.ts', SHIPMENTS_PROTO],
  ['ProjectionOperations', 'libs/read-models/src/projected-partitions.ts', PROJECTIONS_PROTO],
  ['WebhookOperations', 'libs/webhooks/application/src/webhooks-api.ts', WEBHOOKS_PROTO],
] as const;

const pathOf = (file: string) => fileURLToPath(new URL(file, root));
let program: ts.Program;
beforeAll(() => {
  const { config } = ts.readConfigFile(pathOf('tsconfig.base.json'), ts.sys.readFile) as {
    config: { readonly compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, fileURLToPath(root));
  const files = INTERFACES.map(([, file]) => pathOf(file));
  // Checks only members of the interfaces themselves, not those inherited from the language or Node.
  program = ts.createProgram(files, { ...options, lib: ['lib.es5.d.ts'], types: [] });
});

/** Lists the members of each part of an interface, as the compiler sees them. */
function declared(type: string, file: string): Readonly<Record<string, readonly string[]>> {
  const checker = program.getTypeChecker();
  const source = checker.getSymbolAtLocation(program.getSourceFile(pathOf(file))!)!;
  const found = checker.getExportsOfModule(source).find(({ name }) => name === type)!;
  const parts = checker.getDeclaredTypeOfSymbol(found).getProperties();
  return Object.fromEntries(
    parts.map((part) => [
      part.name,
      checker
        .getTypeOfSymbol(part)
        .getProperties()
        .map(({ name }) => name)
        .sort(),
    ]),
  );
}

it.each(INTERFACES)('each operation of %s has an rpc, and each rpc is an operation', (type, file, proto) => {
  expect(listProtoOperations(proto)).toEqual(declared(type, file));
});
