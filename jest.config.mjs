export default {
  projects: [
    '<rootDir>/apps/*/jest.config.mjs',
    '<rootDir>/libs/*/jest.config.mjs',
    '<rootDir>/libs/*/*/jest.config.mjs',
    '<rootDir>/tools/jest.config.mjs',
  ],
  passWithNoTests: false,
};
