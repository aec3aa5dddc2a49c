import eslint from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

// Type-aware rules are the reason for ESLint here: an un-awaited query is a lost write, and only a
// linter that knows types sees it.
export default defineConfig(
  {
    ignores: [
      'dist',
      'bundle',
      'coverage',
      '.data',
      'src/platform/prisma',
      'prisma/absent',
      'next',
      '**/*.cjs',
    ],
  },
  eslint.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['*.js'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      eqeqeq: 'error',
      'max-lines': ['error', { max: 200, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-definitions': 'off',
      // Our parts are objects of functions that close over what they need; none of them knows `this`.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
    },
  },
  // The texts of a language stay together in one file, however many there are.
  { files: ['src/demo-shop/words/*'], rules: { 'max-lines': 'off' } },
  {
    files: [
      'test/**',
      'bench/**',
      'tools/chaos/**',
      'tools/nodes/**',
      'deploy/**',
      'src/custom/**/*.test.{ts,tsx}',
    ],
    rules: { 'max-lines-per-function': 'off', 'max-lines': 'off' },
  },
);
