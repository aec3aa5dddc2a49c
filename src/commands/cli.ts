import { configuredServices } from '../config/backing-services.ts';
import { runCommandLine } from './command-line.ts';

// The commands of production; `npm run reconcile` and its like come from local/start.ts.
await runCommandLine(process.argv.slice(2), configuredServices);
