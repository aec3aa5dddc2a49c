// The last step of `npm run build`: copies the files for browsers next to the compiled code.
const { copyFileSync, readdirSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '..');
for (const file of readdirSync(join(root, 'src'), { recursive: true }))
  if (/\.(css|js|svg)$/.test(file)) copyFileSync(join(root, 'src', file), join(root, 'dist', file));
