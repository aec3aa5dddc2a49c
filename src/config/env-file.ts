import { config } from 'dotenv';

// The first import of each process: what stands in the working folder's `.env` is then in the environment
// before any other file is read, also those of src/custom.
config({ quiet: true });
