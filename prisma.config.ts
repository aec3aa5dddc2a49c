import { defineConfig } from 'prisma/config';

// `prisma generate` looks for an engine it does not run and would download it from outside the npm
// registry. Naming any existing program keeps the install offline.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
});
