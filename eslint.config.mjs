import nx from '@nx/eslint-plugin';
import { importX } from 'eslint-plugin-import-x';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

/** Constraint of a feature's HTTP module, which imports the edge kit, the feature's own application, and the given layers. */
function httpOf(scope, ...others) {
  return {
    allSourceTags: ['layer:http', `scope:${scope}`],
    onlyDependOnLibsWithTags: [
      `scope:${scope}`,
      ...others,
      'layer:edge',
      'layer:resilience',
      'layer:contracts',
      'layer:ports',
      'layer:testing',
      'layer:adapter',
    ],
  };
}

/** Allowed imports between projects, by Nx tag. ARCHITECTURE.md explains the layers. */
const boundaries = [
  { sourceTag: 'layer:contracts', onlyDependOnLibsWithTags: ['layer:contracts'] },
  { sourceTag: 'layer:ports', onlyDependOnLibsWithTags: ['layer:contracts'] },
  // The published client is installed without the rest of this workspace.
  { sourceTag: 'layer:sdk', onlyDependOnLibsWithTags: [], allowedExternalImports: ['axios', 'fast-check'] },
  { sourceTag: 'layer:resilience', onlyDependOnLibsWithTags: ['layer:contracts', 'layer:ports'] },
  { sourceTag: 'layer:domain', onlyDependOnLibsWithTags: ['layer:contracts'], allowedExternalImports: ['fast-check'] },
  {
    sourceTag: 'layer:subscriptions',
    onlyDependOnLibsWithTags: ['layer:resilience', 'layer:contracts', 'layer:ports', 'layer:testing', 'layer:adapter'],
  },
  {
    sourceTag: 'layer:runtime',
    onlyDependOnLibsWithTags: ['layer:resilience', 'layer:contracts', 'layer:ports', 'layer:testing'],
  },
  { sourceTag: 'layer:testing', onlyDependOnLibsWithTags: ['layer:resilience', 'layer:contracts', 'layer:ports'] },
  {
    sourceTag: 'layer:adapter',
    onlyDependOnLibsWithTags: ['layer:resilience', 'layer:contracts', 'layer:ports', 'layer:testing', 'layer:stand-in'],
  },
  {
    allSourceTags: ['layer:feature', 'scope:shipments'],
    onlyDependOnLibsWithTags: [
      'scope:shipments',
      'layer:subscriptions',
      'layer:resilience',
      'layer:contracts',
      'layer:ports',
      'layer:testing',
      'layer:adapter',
    ],
  },
  {
    allSourceTags: ['layer:feature', 'scope:webhooks'],
    onlyDependOnLibsWithTags: [
      'scope:webhooks',
      'layer:resilience',
      'layer:contracts',
      'layer:ports',
      'layer:testing',
      'layer:adapter',
    ],
  },
  {
    allSourceTags: ['layer:feature', 'scope:read-models'],
    onlyDependOnLibsWithTags: [
      'scope:read-models',
      'layer:domain',
      'layer:subscriptions',
      'layer:resilience',
      'layer:contracts',
      'layer:ports',
      'layer:testing',
      'layer:adapter',
    ],
  },
  {
    allSourceTags: ['layer:feature', 'scope:identity'],
    onlyDependOnLibsWithTags: [
      'scope:identity',
      'layer:resilience',
      'layer:contracts',
      'layer:ports',
      'layer:testing',
      'layer:adapter',
    ],
  },
  {
    allSourceTags: ['layer:feature', 'scope:workspace-settings'],
    onlyDependOnLibsWithTags: [
      'scope:workspace-settings',
      'layer:resilience',
      'layer:contracts',
      'layer:ports',
      'layer:testing',
      'layer:adapter',
    ],
  },
  {
    allSourceTags: ['layer:feature', 'scope:documents'],
    onlyDependOnLibsWithTags: [
      'scope:documents',
      'layer:resilience',
      'layer:contracts',
      'layer:ports',
      'layer:testing',
      'layer:adapter',
    ],
  },
  // A feature's application does not know how it is served.
  { sourceTag: 'layer:feature', notDependOnLibsWithTags: ['layer:edge', 'layer:http'] },
  {
    sourceTag: 'layer:edge',
    onlyDependOnLibsWithTags: ['layer:resilience', 'layer:runtime', 'layer:contracts', 'layer:ports', 'layer:testing'],
  },
  httpOf('shipments', 'scope:read-models'),
  // Documents are parts of shipments: their commands and queries are those of shipments.
  httpOf('documents', 'scope:shipments', 'scope:read-models'),
  httpOf('webhooks'),
  httpOf('identity', 'scope:workspace-settings'),
  // The operators' API is about all features.
  httpOf('administration', 'layer:http', 'layer:feature', 'layer:runtime'),
  {
    sourceTag: 'layer:api-tests',
    onlyDependOnLibsWithTags: [
      'layer:http',
      'layer:edge',
      'layer:feature',
      'layer:resilience',
      'layer:runtime',
      'layer:contracts',
      'layer:ports',
      'layer:testing',
      'layer:adapter',
      'layer:sdk',
    ],
  },
  {
    sourceTag: 'engine:embedded',
    notDependOnLibsWithTags: ['engine:distributed'],
    onlyDependOnLibsWithTags: ['*'],
  },
  {
    sourceTag: 'layer:service',
    onlyDependOnLibsWithTags: [
      'layer:resilience',
      'layer:runtime',
      'layer:ports',
      'layer:contracts',
      'layer:testing',
      'engine:distributed',
    ],
  },
  {
    sourceTag: 'layer:stand-in',
    onlyDependOnLibsWithTags: ['engine:embedded', 'layer:ports', 'layer:contracts', 'layer:testing'],
  },
  { sourceTag: 'layer:system', onlyDependOnLibsWithTags: ['layer:stand-in', 'layer:testing'] },
  { sourceTag: 'engine:system', onlyDependOnLibsWithTags: ['layer:system', 'layer:runtime'] },
  {
    sourceTag: 'engine:journeys',
    onlyDependOnLibsWithTags: [
      'layer:system',
      'layer:testing',
      'layer:contracts',
      'layer:client',
      'layer:sdk',
      'engine:none',
    ],
  },
  {
    sourceTag: 'engine:services',
    onlyDependOnLibsWithTags: [
      'layer:service',
      'layer:resilience',
      'layer:edge',
      'layer:http',
      'layer:feature',
      'layer:runtime',
      'layer:ports',
      'layer:contracts',
      'layer:testing',
      'engine:distributed',
      'engine:any',
    ],
  },
  { sourceTag: 'layer:client', onlyDependOnLibsWithTags: ['layer:contracts'] },
  {
    sourceTag: 'engine:none',
    onlyDependOnLibsWithTags: [
      'layer:contracts',
      'layer:client',
      'layer:sdk',
      'layer:runtime',
      'layer:ports',
      'layer:testing',
    ],
  },
  // The web application uses only the published client, so that client users can do all that it does.
  { sourceTag: 'layer:web', onlyDependOnLibsWithTags: ['layer:sdk'], bannedExternalImports: ['axios'] },
  { sourceTag: 'layer:app', onlyDependOnLibsWithTags: ['*'] },
  { sourceTag: 'layer:bench', onlyDependOnLibsWithTags: ['*'] },
];

/** Rules that let each folder import only from the folders before it. Files beside the folders may import all of them. */
function oneWay(source, folders) {
  const zones = folders.map((folder, index) => ({
    target: `${source}/${folder}/!(*.spec).ts`,
    from: folders.slice(index + 1).map((later) => `${source}/${later}/**`),
    message: `Import order: ${folders.join(' → ')}; each folder may import only from those on its left.`,
  }));
  return [
    {
      files: [`${source}/**/*.ts`],
      rules: { 'import-x/no-restricted-paths': ['error', { zones: zones.slice(0, -1) }] },
    },
  ];
}

/** Rules for tests, which wait for a condition with a deadline and assert the outcome, never the duration. */
const POLL =
  'Do not sleep in tests: poll with `eventually`, or use `simulateDelay` for time that the scenario takes (@tracking/testing).';
const NO_CLOCK = 'Assert the outcome, not the duration; use `expectStaysTrue` for events that must not happen.';
const honestTests = {
  'no-restricted-imports': [
    'error',
    {
      paths: [
        { name: 'node:timers/promises', importNames: ['setTimeout', 'setInterval', 'scheduler'], message: POLL },
        { name: 'node:timers', message: POLL },
      ],
    },
  ],
  'no-restricted-syntax': [
    'error',
    { selector: "CallExpression[callee.name='setTimeout']", message: POLL },
    { selector: "CallExpression[callee.object.name='performance'][callee.property.name='now']", message: NO_CLOCK },
    {
      selector:
        ":not(NewExpression) > BinaryExpression[operator='-'] > CallExpression.left[callee.object.name='Date'][callee.property.name='now']",
      message: NO_CLOCK,
    },
  ],
};

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      'apps/web/dist.*/**',
      '**/node_modules/**',
      '.nx/**',
      'coverage/**',
      'data/**',
      '**/*.mjs',
      '.ci/generated-clients/**',
      '**/generated/**',
      'libs/client/types/**',
      'libs/client/cjs/**',
    ],
  },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { '@nx': nx, 'import-x': importX },
    settings: {
      'import-x/resolver': { typescript: true },
    },
    rules: {
      '@nx/enforce-module-boundaries': [
        'error',
        { allow: [], banTransitiveDependencies: false, depConstraints: boundaries },
      ],
      complexity: ['error', 12],
      'max-depth': ['error', 3],
      'max-lines': ['error', { max: 300, skipBlankLines: true }],
      'max-params': ['error', 4],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      'no-useless-rename': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
      'no-restricted-syntax': [
        'error',
        {
          selector: "MemberExpression[object.name='process'][property.name='env']",
          message: 'Read process.env only in an app’s config.ts.',
        },
      ],
    },
  },
  {
    files: [
      'libs/contracts/src/**/*.ts',
      'libs/{shipments,webhooks}/domain/src/**/*.ts',
      'libs/webhooks/application/src/scheduling/**/*.ts',
    ],
    ignores: ['**/*.spec.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ group: ['node:*', '@nestjs/*'], message: 'Pure code must not import Node or the framework.' }] },
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'Pass the time in with the command.' },
        { object: 'Math', property: 'random', message: 'Pass random values in with the command.' },
      ],
      'no-restricted-globals': ['error', 'process', 'performance', 'crypto', 'setTimeout', 'setInterval'],
    },
  },
  {
    files: ['libs/client/src/**/*.ts'],
    ignores: ['**/*.spec.ts', 'libs/client/src/node.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ group: ['node:*'], message: 'This code runs in browsers, which have no Node modules.' }] },
      ],
      'no-restricted-globals': ['error', 'process', 'Buffer'],
    },
  },
  {
    files: ['apps/web/src/**/*.{ts,tsx}'],
    plugins: { 'react-hooks': reactHooks },
    rules: {
      ...reactHooks.configs.recommended.rules,
      // Pages may depend on the current time.
      'react-hooks/purity': 'off',
      // The rule concerns the React compiler, which is not used.
      'react-hooks/incompatible-library': 'off',
    },
  },
  {
    files: ['apps/web/src/**/*.{ts,tsx}'],
    ignores: ['**/*.spec.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ group: ['node:*'], message: 'This code runs in browsers, which have no Node modules.' }] },
      ],
      'no-restricted-globals': ['error', 'process', 'Buffer'],
    },
  },
  // The folders of webhooks import each other one way only.
  ...oneWay('libs/webhooks/application/src', [
    'store',
    'endpoints',
    'stats',
    'scheduling',
    'replays',
    'ownership',
    'recording',
    'attempts',
    'api',
  ]),
  {
    files: ['**/*.spec.ts', '**/test/**/*.ts'],
    rules: { complexity: 'off', 'max-depth': 'off', 'max-lines': 'off', 'max-params': 'off' },
  },
  {
    files: ['apps/*/src/config.ts', 'apps/web/vite.config.ts', 'bench/src/**/*.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  { files: ['**/*.spec.ts', '**/test/**/*.ts', 'libs/testing/src/**/*.ts'], rules: honestTests },
  {
    files: ['libs/testing/src/{eventually,managed-process}.ts'],
    rules: { 'no-restricted-imports': 'off', 'no-restricted-syntax': 'off' },
  },
);
