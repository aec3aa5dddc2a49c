// Runs `prisma generate` after an install. It looks for an engine that it does not run, and would download it:
// naming any existing program keeps the install offline.
const { spawnSync } = require('node:child_process');
const { join } = require('node:path');

const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, PRISMA_HIDE_UPDATE_MESSAGE: '1' };
env.PRISMA_DISABLE_WARNINGS = '1';
let prisma;
try {
  prisma = require.resolve('prisma/build/index.js');
} catch {
  console.log('prisma is not installed (a production install): generate the client where the dev dependencies are.');
  process.exit(0);
}
const { status } = spawnSync(process.execPath, [prisma, 'generate'], {
  cwd: join(__dirname, '..'),
  env,
  stdio: 'inherit',
});
process.exit(status ?? 1);
