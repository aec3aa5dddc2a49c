import './config/env-file.ts';
import { configuredServices } from './config/backing-services.ts';
import { work } from './bootstrap/start-worker.ts';

// The worker of production; `npm run worker` comes from local/start.ts.
await work(configuredServices, process.argv.slice(2));
