import 'dotenv/config';
import { defineConfig } from 'prisma/config';

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  // Not by the helper env(): it throws where the variable is unset, for `generate` too.
  datasource: { url: process.env.DATABASE_URL ?? '' },
});
