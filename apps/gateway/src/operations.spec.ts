import { fileURLToPath } from 'node:url';
import { SHIPMENTS, WEBHOOKS, operationsOf } from '@tracking/distributed';
import ts from 'typescript';

const root = new URL('../../../', import.meta.url);

/** The members of each part of an interface, as the compiler sees them. */
function declared(type: string, file: string): Readonly<Record<string, readonly string[]>> {
  const path = fileURLToPath(new URL(file, root));
  const { config } = ts.readConfigFile(fileURLToPath(new URL('tsconfig.base.json', root)), ts.sys.readFile) as {
    config: { readonly compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, fileURLToPath(root));
  const program = ts.createProgram([path], options);
  const checker = program.getTypeChecker();
  const source = checker.getSymbolAtLocation(program.getSourceFile(path)!)!;
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

it.each([
  ['ShipmentOperations', 'libs/shipments/application/src/operations.ts', SHIPMENTS],
  ['WebhookOperations', 'libs/webhooks/application/src/webhooks-api.ts', WEBHOOKS],
])('each of %s has an rpc, and each rpc is one of them', (type, file, proto) => {
  expect(operationsOf(proto)).toEqual(declared(type, file));
});
