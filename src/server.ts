import { configuredServices } from './backing-services.ts';
import { serve } from './start-server.ts';

// The server of production. `npm start` comes from local/start.ts, which starts a database and a sandbox where none is named.
await serve(configuredServices);
