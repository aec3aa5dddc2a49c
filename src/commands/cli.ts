import '../config/env-file.ts';
import { configuredServices } from '../config/backing-services.ts';
import { runCommandLine } from './command-line.ts';

// The commands of production; `npm run reconcile` leads here in a bundle, and to local/start.ts in a
// checkout.
await runCommandLine(process.argv.slice(2), configuredServices);
