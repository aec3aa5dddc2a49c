// Loaded before a server: on SIGUSR2 it collects its garbage and says how much heap is in use.
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  process.stdout.write(`heap ${process.memoryUsage().heapUsed}\n`);
});
