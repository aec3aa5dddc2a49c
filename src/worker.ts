import { configuredServices } from './backing-services.ts';
import { work } from './run-worker.ts';

// The worker of production; `npm run worker` comes from local/start.ts.
await work(configuredServices);
