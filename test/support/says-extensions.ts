/** A process of its own: says where its extensions come from. */
import * as custom from '../../src/custom/index.ts';

process.stdout.write('areDefaults' in custom ? 'the defaults\n' : 'src/custom/index.ts\n');
