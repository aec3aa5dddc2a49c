import './config/env-file.ts';
import { configuredServices } from './config/backing-services.ts';
import { serve } from './bootstrap/start-server.ts';

// The server of production. `npm start` comes from local/start.ts, which starts a database and a sandbox
// where none is named.
await serve(configuredServices, process.argv.slice(2));
