// In a container, Docker cannot reach what listens on 127.0.0.1. Server and sandbox listen there on 3000 and 3001, and
// their addresses must be the same in the browser. So this file forwards the ports that compose.yaml publishes.
const { createServer, connect } = require('node:net');
const { isMainThread } = require('node:worker_threads');

const FORWARDED = { 8000: 3000, 8001: 3001 };

function forward(from, to) {
  const server = createServer((client) => {
    const target = connect(to, '127.0.0.1');
    client.on('error', () => target.destroy()).pipe(target);
    target.on('error', () => client.destroy()).pipe(client);
  });
  // It must not keep the program alive.
  server.listen(from).unref();
}

// The loader of TypeScript runs in a thread, which also loads this file.
if (isMainThread) for (const [from, to] of Object.entries(FORWARDED)) forward(Number(from), to);
