import eslint from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

// The rules that know types are the reason for ESLint here: a query that nobody awaits is a lost write.
export default defineConfig(
  { ignores: ['dist', 'coverage', '.data', 'src/platform/prisma', 'src/**/*.js', '**/*.cjs'] },
  eslint.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: { allowDefaultProject: ['*.js'] }, tsconfigRootDir: import.meta.dirname },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'max-lines': ['error', { max: 300 }],
      'max-lines-per-function': ['error', { max: 50, skipBlankLines: true, skipComments: true }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-definitions': 'off',
      // Our parts are objects of functions that close over what they need; none of them knows `this`.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
    },
  },
  {
    files: ['test/**'],
    rules: {
      'max-lines': 'off',
      'max-lines-per-function': 'off',
      // What comes from outside gets its type from whoever asks for it.
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
    },
  },
);
